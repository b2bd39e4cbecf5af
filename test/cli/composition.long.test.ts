/** Waits, checkpoints, included workflows and batches through the real command. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fixture } from "./fixture.ts";
import { hosted, hostFixture, jsonLines } from "./hostFixture.ts";

const timeout = 120_000;

function write({ folder }: Fixture, name: string, nodes: string, imports = ""): string {
  writeFileSync(
    join(folder, `${name}.workflow.ts`),
    `import { z } from "zod";
import { action, batch, checkpoint, choices, compute, humanDecision, include, wait, workflow } from "pawl";
${imports}
export default workflow({ name: "${name}", input: z.object({}) })${nodes}.build();
`,
  );
  return `${name}.workflow.ts`;
}

const review = (made: Fixture): string => {
  write(
    made,
    "review",
    `.node("look", checkpoint({ title: "Is it right?", prompt: "Read build/report.txt first.", output: z.object({ ok: z.boolean() }) }), "end").node("end", compute(({ outputs }) => outputs.look.ok))`,
  );
  return write(
    made,
    "outer",
    `.node("sub", include(review, { input: {} }), { end: "end" }).node("end", compute(({ outputs }) => ({ right: outputs.sub })))`,
    'import review from "./review.workflow.ts";',
  );
};

test.each([
  ["embedded", {}],
  ["through a host", hosted],
])("CHK-8 a checkpoint in an included workflow is answered by its run, %s, without a terminal", { timeout }, (_how, env) => {
  const made = hostFixture();
  const run = made.piped(["run", review(made)], env);
  expect(run.code).toBe(3);
  const [view] = JSON.parse(made.piped(["runs", "--json"]).out).items;
  expect(view).toMatchObject({ state: "waiting", current: "sub/look", awaits: { kind: "checkpoint", node: "sub/look" } });
  expect(run.out).toContain("Checkpoint sub/look: Is it right?\n  Read build/report.txt first.\nAnybody may answer:\n");
  expect(run.out).toMatch(new RegExp(`\n {2}node \\S+ answer ${view.id} --input-json JSON --home `));
  const shown = made.piped(["show", view.id]).out;
  expect(shown).toMatch(/sub\.1\/look\.1 +checkpoint +\? waiting/);
  expect(shown).toContain("Checkpoint sub/look: Is it right?");

  const wrong = made.piped(["answer", view.id, "--input-json", '{"ok":"yes"}', "--json"], env);
  expect(wrong.code).toBe(2);
  expect(JSON.parse(wrong.err)).toMatchObject({ error: { code: "invalidInput", path: "ok" } });
  for (const [words, message] of [
    [["answer", view.id], "--input-json for the checkpoint"],
    [["answer", view.id, "go", "--input-json", "1"], "a choice answers a decision"],
    [["answer", view.id, "go"], "Only a person can answer a decision"],
    [["answer", view.id, "--input-json", "{"], "--input-json is no valid JSON"],
  ] as const) {
    const refused = made.piped(words, env);
    expect(refused.err).toContain(message);
    expect(refused.code).toBe(2);
  }

  const answered = made.piped(["answer", view.id, "--input-json", '{"ok":true}', "--id-key", "k1", "--json"], env);
  expect(answered.code).toBe(0);
  expect(jsonLines(answered.out)[0]).toMatchObject({ kind: "answer", status: "accepted", visit: `${view.id}/graph/sub.1/graph/look.1` });
  expect(jsonLines(answered.out).at(-1)).toMatchObject({ kind: "result", run: { state: "completed", result: { right: true } } });
  expect(jsonLines(made.piped(["answer", view.id, "--input-json", '{"ok":true}', "--id-key", "k1", "--json"], env).out)[0]).toMatchObject({
    status: "duplicate",
  });
  const late = made.piped(["answer", view.id, "--input-json", '{"ok":false}'], env);
  expect(late.code).toBe(2);
  expect(late.err).toContain("is completed and waits at no checkpoint");
});

test("INC-5 a decision in an included workflow is answered by the run's whole id too, at a terminal", { timeout }, async () => {
  const made = hostFixture();
  write(
    made,
    "ask",
    `.node("ask", humanDecision({ audience: "operator", choices: choices({ go: { label: "Go" }, stop: { label: "Stop" } }), request: () => ({ title: "Go on?", subject: 1 }) }), { go: "yes", stop: "no" }).node("yes", compute(() => "yes")).node("no", compute(() => "no"))`,
  );
  const file = write(
    made,
    "outer",
    `.node("sub", include(ask, { input: {} }), { yes: "end", no: "end" }).node("end", compute(({ outputs }) => outputs.sub))`,
    'import ask from "./ask.workflow.ts";',
  );
  expect(made.piped(["run", file]).out).toContain("node sub/ask");
  const [view] = JSON.parse(made.piped(["runs", "--json"]).out).items;
  const pty = made.terminal(["answer", view.id, "go"]);
  expect(await pty.exit).toBe(0);
  expect(JSON.parse(made.piped(["show", view.id, "--json"]).out)).toMatchObject({ state: "completed", result: "yes" });
});

test("WAIT-7 a run that waits exits 3 and says until when, and the host takes it further by itself", { timeout }, async () => {
  const made = hostFixture();
  const file = write(made, "rests", `.node("rest", wait({ forMs: 9_000 }), "end").node("end", compute(() => "rested"))`);
  const run = made.piped(["run", file], hosted);
  expect(run.code).toBe(3);
  expect(run.out).toMatch(/rests \(r_\w+\) waits, until .* \(in \d/);
  const [view] = JSON.parse(made.piped(["runs", "--json"]).out).items;
  expect(made.piped(["runs"]).out).toMatch(/waiting .* rest, until /);
  // Nobody drives it.
  for (let tries = 0; ; tries += 1) {
    const { state, result } = JSON.parse(made.piped(["show", view.id, "--json"]).out);
    if (state === "completed") {
      expect(result).toBe("rested");
      break;
    }
    expect(tries).toBeLessThan(200);
  }
});

test("BATCH-4 BATCH-10 a once command of a batch with an unknown outcome is listed by its place, and settled at a terminal", { timeout }, async () => {
  const made = hostFixture();
  const file = write(
    made,
    "many",
    `.node("many", batch({ commands: [{ command: "true" }, { command: "sleep", args: ["100"] }], once: true, timeoutMs: 1_000 }), { done: "end", timedOut: "late" }).node("end", compute(({ outputs }) => outputs.many.length)).node("late", compute(() => "late"))`,
  );
  const run = made.piped(["run", file]);
  expect(run.out).toContain("\nlate\n");
  const listed = made.piped(["effect", "list"]).out;
  expect(listed).toContain("many[1]");
  const [effect] = JSON.parse(made.piped(["effect", "list", "--json"]).out).items;
  const pty = made.terminal(["effect", "confirm", effect.key, "--output", '{"exitCode":1}']);
  expect(await pty.exit).toBe(0);
  expect(JSON.parse(made.piped(["effect", "list", "--json"]).out).items).toEqual([]);
});
