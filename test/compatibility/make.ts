/** Makes the golden set of this version, once, when it is released: `node test/compatibility/make.ts`. It is never made again for a released
 *  version: what stands in test/golden is what people have on their disks. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import BetterSqlite from "better-sqlite3";
import { openEmbedded } from "../../src/host/embedded.ts";
import { exportState } from "../../src/host/maintenance/export.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { scriptedAgent } from "../../src/testing.ts";
import { collectSnapshots, writeSnapshots, type Collected } from "./collect.ts";
import { chartsNow, goldenDirectory } from "./golden.ts";

const person = { kind: "human", channel: "terminal", actor: "golden" } as const;
/** A place of no machine in particular: it stands in what is stored. */
const place = "/tmp/pawl-golden";
const home = join(place, "home");
const project = join(place, "project");

const workflow = `import { z } from "zod";
import { action, choices, compute, humanDecision, shell, text, workflow } from "pawl";

const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Again", input: text("What should change?", { max: 200 }) } });

export default workflow({ name: "golden", input: z.object({ task: z.string(), mode: z.string().default("plain"), seconds: z.number().nullable().default(null) }) })
  .later("approve", approval)
  .node("plan", compute(({ input, results }) => {
    if (input.mode === "fail") throw new Error("there is no plan");
    return { plan: [input.task, results.approve?.status === "accepted" ? results.approve.output : null], notes: "n".repeat(6_000) };
  }), "approve")
  .node("approve", humanDecision({
    audience: "operator",
    choices: approval,
    request: ({ outputs }) => ({ title: "Approve the plan", subject: outputs.plan }),
    onTimeout: ({ input }) => (input.seconds === null ? undefined : { afterMs: input.seconds * 1_000, response: { choice: "stop" } }),
  }), { go: "build", stop: "stopped", replan: "plan" })
  .node("build", action({
    once: true,
    run: ({ input }) => {
      if (input.mode === "unsure") throw new Error("the line went dead");
      return { built: true };
    },
  }), "report")
  .node("report", shell({ command: "/bin/echo", args: ["reported"] }))
  .node("stopped", compute(() => ({ status: "stopped" as const })))
  .build();
`;

const asking = `import { z } from "zod";
import { choices, compute, humanDecision, workflow } from "pawl";

export default workflow({ name: "asking", input: z.object({ title: z.string() }) })
  .node("ask", humanDecision({
    audience: "operator",
    choices: choices({ go: { label: "Go" }, stop: { label: "Stop" } }),
    request: ({ input }) => ({ title: input.title, subject: input }),
  }), { go: "yes", stop: "no" })
  .node("yes", compute(() => ({ asked: "yes" })))
  .node("no", compute(() => ({ asked: "no" })))
  .build();
`;

const composed = `import { z } from "zod";
import { batch, checkpoint, compute, include, wait, workflow } from "pawl";
import asking from "./asking.workflow.ts";

export default workflow({ name: "composed", input: z.object({ task: z.string() }) })
  .node("rest", wait({ forMs: () => 60_000 }), "look")
  .node("look", checkpoint({ title: "Look at it", prompt: "Right?", output: z.object({ ok: z.boolean() }) }), "sub")
  .node("sub", include(asking, { input: ({ input }) => ({ title: input.task }) }), { yes: "many", no: "many" })
  .node("many", batch({ commands: [{ command: "/bin/echo", args: ["one"] }, { command: "/bin/sh", args: ["-c", "exit 3"] }], allowNonZeroExit: true }), "end")
  .node("end", compute(({ outputs }) => ({ sub: outputs.sub, codes: outputs.many.map(({ exitCode }) => exitCode) })))
  .build();
`;

const agents = `import { z } from "zod";
import { action, agent, assistantMessage, choose, notify, workflow } from "pawl";

export default workflow({ name: "agents", input: z.object({ task: z.string() }) })
  .node("plan", agent({ prompt: ({ input }) => "Plan " + input.task, output: z.number(), timeoutMs: () => 3_600_000 }), "pick")
  .node("pick", choose({ prompt: "Which?", choices: { go: { label: "Go" }, stop: { label: "Stop" } } }), { go: "tell", stop: "tell" })
  .node("tell", notify({ kind: "progress", text: ({ outputs }) => "It is " + outputs.plan }), "work")
  .node("work", action({ run: async ({ progress, update }) => { await progress({ label: "Working", completed: 1, total: 2, unit: "parts" }); await update({ type: "work.note", key: "a", data: { n: 1 } }); } }), "say")
  .node("say", assistantMessage({ prompt: "Say that it is done." }))
  .build();
`;

/** A provider that fails once, a turn without a submit, a refusal, and what is accepted. */
const agent = scriptedAgent([
  { node: "plan", prompt: /hanging/, hangs: true },
  { node: "plan", error: "overloaded", retryAfterMs: 0 },
  { node: "plan", text: "Hm." },
  { node: "plan", submits: ["four", 4] },
  { node: "pick", submit: { choice: "go", reason: "it is small" } },
  { node: "say", error: "overloaded", retryAfterMs: 0 },
  { node: "say", text: "It is done." },
]);

rmSync(place, { recursive: true, force: true });
rmSync(join(goldenDirectory, "snapshots"), { recursive: true, force: true });
mkdirSync(project, { recursive: true });
const file = join(project, "golden.workflow.ts");
writeFileSync(file, workflow);
writeFileSync(join(project, "asking.workflow.ts"), asking);
const composedFile = join(project, "composed.workflow.ts");
writeFileSync(composedFile, composed);
const agentsFile = join(project, "agents.workflow.ts");
writeFileSync(agentsFile, agents);

const clock = fakeClock(Date.UTC(2026, 0, 1));
const collected: Collected = new Map();
const host = await openEmbedded({ home, clock, agent, hooks: { afterCommit: () => collectSnapshots(join(home, "pawl.db"), collected) } });

const start = async (key: string, input: object, workflow = file): Promise<string> => {
  clock.advance(1_000);
  return (await host.start({ workflow, input: { task: key, ...input }, cwd: project, idempotencyKey: key })).id;
};
const answer = async (run: string, choice: string, text?: string): Promise<void> => {
  clock.advance(1_000);
  const [decision] = (await host.decisions({ run, state: ["open"] })).items;
  if (!decision) throw new Error(`run ${run} asks nothing`);
  const result = await host.answer({
    decision: decision.code,
    choice,
    source: person,
    idempotencyKey: `${run}:${choice}`,
    ...(text === undefined ? {} : { text }),
  });
  if (result.status !== "accepted") throw new Error(result.message);
};

const completed = await start("completed", {});
await host.drive(completed);
await answer(completed, "replan", "More of it, please: ähm.");
await host.drive(completed);
await answer(completed, "go");
await host.drive(completed);

await host.drive(await start("waiting", {}));
await host.drive(await start("timed", { seconds: 3_600 }));
const unsure = await start("ambiguous", { mode: "unsure" });
await host.drive(unsure);
await answer(unsure, "go");
await host.drive(unsure);
await host.drive(await start("failed", { mode: "fail" }));
const cancelled = await start("cancelled", {});
await host.drive(cancelled);
await host.cancel(cancelled, "user");
const defaulted = await start("defaulted", { seconds: 60 });
await host.drive(defaulted);
clock.advance(60_000);
while ((await host.run(defaulted)).state === "waiting") await new Promise((resolve) => setImmediate(resolve));
await host.drive(defaulted);
const moving = await start("moving", {});
await host.drive(moving);
await answer(moving, "stop");
await start("queued", {});

const worked = host.drive(await start("agents", {}, agentsFile));
let isWorked = false;
void worked.finally(() => (isWorked = true));
while (!isWorked) {
  clock.advance(0);
  await new Promise((resolve) => setImmediate(resolve));
}
const held = new AbortController();
const hanging = host.drive(await start("hanging", {}, agentsFile), { signal: held.signal });
while (agent.steps.at(-1)?.prompt !== "Plan hanging") await new Promise((resolve) => setImmediate(resolve));
while (agent.resting === 0) await new Promise((resolve) => setImmediate(resolve));
held.abort();
await hanging;

const rested = async (run: string): Promise<void> => {
  await host.drive(run);
  clock.advance(60_000);
  while ((await host.run(run)).state === "waiting") await new Promise((resolve) => setImmediate(resolve));
  await host.drive(run);
};
const looked = async (run: string): Promise<void> => {
  await rested(run);
  clock.advance(1_000);
  await host.answerCheckpoint({ run, output: { ok: true }, idempotencyKey: `${run}:look`, source: person });
  await host.drive(run);
};
const included = await start("included", {}, composedFile);
await looked(included);
await answer(included, "go");
await host.drive(included);
await looked(await start("asking", {}, composedFile));
await rested(await start("looking", {}, composedFile));
await host.drive(await start("resting", {}, composedFile));
await host.close();

const { version }: { version: string } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
mkdirSync(join(goldenDirectory, "databases"), { recursive: true });
const copy = join(place, "copy.db");
await exportState({ home, to: copy });
writeFileSync(join(goldenDirectory, "databases", `${version}.db.gz`), gzipSync(readFileSync(copy), { level: 9 }));

const db = new BetterSqlite(copy, { readonly: true });
const graphs = db
  .prepare<[], { digest: string; bytes: Buffer }>(
    "select distinct machine_version as digest, bytes from actors join blobs on lower(hex(hash)) = machine_version where machine_id = 'pawl.graph'",
  )
  .all();
db.close();
writeFileSync(join(goldenDirectory, "charts.json"), `${JSON.stringify(await chartsNow(), null, 1)}\n`);
await writeSnapshots(copy, collected, new Map(graphs.map(({ digest, bytes }) => [digest, bytes])));
rmSync(place, { recursive: true, force: true });
