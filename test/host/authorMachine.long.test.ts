/** Machines of authors inside workflows, in a host's process and in workers. */
import { DatabaseSync } from "node:sqlite";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { examine } from "../../src/host/maintenance/doctor.ts";
import { openReader } from "../../src/host/openReader.ts";
import { Project } from "./kit.ts";
import { machineFile, order, orderNode, orderResult } from "./machineKit.ts";

const places = ["inProcess", "workers"] as const;
const patience = { timeout: 30_000, interval: 10 };

test.each(places)("MACH-10 a machine of an author's begins with what its callback gave, lives with its children, and ends as its node (%s)", async (author) => {
  const project = new Project();
  const host = await project.open({ author });
  const view = await project.run(host, machineFile(project, order, orderNode));
  expect(view).toMatchObject({ state: "completed", result: orderResult });
  expect(view.visits[0]).toMatchObject({ node: "order", kind: "machine order", status: "accepted", case: "done", output: orderResult });
  const charges = project.side.map((line) => line.split(" "));
  expect(charges.map(([, attempt]) => attempt)).toEqual(["1", "2"]);
  expect(new Set(charges.map(([, , key]) => key)).size).toBe(1);
});

test("MACH-10 a machine in an included workflow is found where it stands", async () => {
  const project = new Project();
  const host = await project.open();
  machineFile(project, order, orderNode, "child");
  project.write(
    "job.workflow.ts",
    `import { z } from "zod"; import { compute, include, workflow } from "pawl"; import child from "./child.workflow.ts";
export default workflow({ name: "job", input: z.object({}) })
  .node("sub", include(child, { input: () => ({ task: "inner" }) }), { after: "end" })
  .node("end", compute(({ outputs }) => outputs.sub))
  .build();`,
  );
  const view = await project.run(host, project.file("job.workflow.ts"));
  expect(view).toMatchObject({ state: "completed", result: { ...orderResult, receipt: "receipt for inner" } });
  expect(view.visits.map(({ node, kind }) => `${node} ${kind}`)).toContain("sub/order machine order");
});

test("MACH-12 it goes on from the file, however often the host is opened again", async () => {
  const project = new Project();
  const file = machineFile(project, order, orderNode);
  const first = await project.open();
  const { id } = await project.start(first, file, { items: 12 });
  await first.close();
  const rows = async (): Promise<number> => {
    const reader = await openReader({ home: project.home });
    try {
      return (await reader.run(id)).visits.length + (await journalLength(project));
    } finally {
      await reader.close();
    }
  };
  let openings = 0;
  for (let state = "queued"; state !== "completed"; openings += 1) {
    expect(openings).toBeLessThan(200);
    const before = await rows();
    const host = await project.open();
    const driven = host.drive(id).catch(() => undefined);
    await vi.waitUntil(async () => (await host.run(id)).state === "completed" || (await rows()) > before, patience);
    await host.close();
    await driven;
    const reader = await openReader({ home: project.home });
    ({ state } = await reader.run(id));
    await reader.close();
  }
  const reader = await openReader({ home: project.home });
  expect(await reader.run(id)).toMatchObject({
    state: "completed",
    result: { ...orderResult, counts: Array.from({ length: 12 }, (_, n) => n + 1), boxes: 12 },
  });
  await reader.close();
  expect(openings).toBeGreaterThan(5);
});

test("MACH-13 what is open below it ends with its run, without its code", async () => {
  const project = new Project();
  const host = await project.open();
  const file = machineFile(
    project,
    `const child = setup({}).createMachine({ id: "child", initial: "resting", states: { resting: { after: { 3600000: {} } } } });
const waiting = setup({ actors: { child, never: fromPromise(async ({ signal }) => { mark("begun"); await new Promise((_, reject) => signal.addEventListener("abort", () => { mark("aborted"); reject(new Error("aborted")); })); }) } })
  .createMachine({ id: "waiting", initial: "open", states: { open: { invoke: [{ src: "child", id: "child" }, { src: "never", id: "never" }], after: { 7200000: {} } } } });`,
    `.node("wait", machineNode(waiting, {}))`,
  );
  const { id } = await project.start(host, file);
  const driven = host.drive(id);
  driven.catch(() => undefined);
  await project.appears("side.txt");
  await host.cancel(id, "user");
  expect(await driven).toMatchObject({ state: "cancelled" });
  await vi.waitUntil(() => project.side.includes("aborted"), patience);
  await host.close();
  const database = new DatabaseSync(path.join(project.home, "pawl.db"), { readOnly: true });
  expect(database.prepare("select status, count(*) as count from actors where machine_id = 'pawl.author' group by status").all()).toEqual([
    { status: "stopped", count: 2 },
  ]);
  expect(database.prepare("select count(*) as count from timers").get()).toEqual({ count: 0 });
  expect(database.prepare("select distinct state from effects where type = 'promise:never'").all()).toEqual([{ state: "dropped" }]);
  database.close();
});

test("MACH-14 a live run keeps the machine that it was started with, whatever becomes of the file", async () => {
  const project = new Project();
  const machine = (says: string): string =>
    `const slow = setup({}).createMachine({ id: "slow", initial: "resting", states: { resting: { after: { 300: "over" } }, over: { type: "final" } }, output: () => ${JSON.stringify(says)} });`;
  const nodes = `.node("slow", machineNode(slow, {}))`;
  const host = await project.open();
  const { id } = await project.start(host, machineFile(project, machine("old"), nodes));
  machineFile(project, machine("new"), nodes);
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: "old" });
  expect(await project.run(host, project.file("job.workflow.ts"))).toMatchObject({ result: "new" });
});

test("MACH-11 a machine that ends with what JSON cannot carry fails its visit, at once and in every later state too", async () => {
  const project = new Project();
  const host = await project.open();
  const outputs = { date: "new Date(0)", big: "1n", map: "new Map()", nan: "[NaN]", code: "() => 1", circle: "(() => { const a = {}; a.a = a; return a; })()" };
  for (const [name, output] of Object.entries(outputs)) {
    const head = `const ends = setup({}).createMachine({ id: "ends", initial: "on", states: { on: { after: { 1: "over" } }, over: { type: "final" } }, output: () => (${output}) });
const starts = setup({}).createMachine({ id: "starts", initial: "over", states: { over: { type: "final" } }, output: () => (${output}) });`;
    const nodes = `.node("ends", machineNode(ends, {}), { done: "wrong", failed: "starts" })
.node("starts", machineNode(starts, {}), { done: "wrong", failed: "told" })
.node("told", compute(({ results }) => [results.ends.error, results.starts.error]))
.node("wrong", compute(() => "taken"))`;
    const error = { reason: "invalidOutput", message: expect.stringContaining("which JSON cannot carry") as string };
    expect(await project.run(host, machineFile(project, head, nodes, name)), name).toMatchObject({ state: "completed", result: [error, error] });
  }
});

test("MACH-11 a machine that ends in an error fails its visit, and so does an output that does not fit", async () => {
  const project = new Project();
  const host = await project.open();
  const head = `const broken = setup({ actors: { no: fromPromise(async () => { throw new Error("no luck"); }) } }).createMachine({ id: "broken", initial: "trying", states: { trying: { invoke: { src: "no", id: "no" } } } });
const ends = setup({}).createMachine({ id: "ends", initial: "over", states: { over: { type: "final" } }, output: () => ({ n: "text" }) });`;
  const failed = await project.run(
    host,
    machineFile(
      project,
      head,
      `.node("broken", machineNode(broken, {}), { done: "after", failed: "after" }).node("after", compute(({ results }) => results.broken?.error))`,
    ),
  );
  expect(failed).toMatchObject({ state: "completed", result: { reason: "effectFailed", message: "no luck" } });
  const wrong = await project.run(host, machineFile(project, head, `.node("ends", machineNode(ends, { output: z.object({ n: z.number() }) }))`, "wrong"));
  expect(wrong).toMatchObject({ state: "failed", reason: { code: "invalidOutput" } });
  const thrown = await project.run(
    host,
    machineFile(project, head, `.node("ends", machineNode(ends, { input: () => { throw new Error("no input"); } }))`, "thrown"),
  );
  expect(thrown).toMatchObject({ state: "failed", reason: { code: "nodeFailed", message: expect.stringContaining("no input") as string } });
  const routed = await project.run(
    host,
    machineFile(
      project,
      head,
      `.node("ends", machineNode(ends, { route: ({ n }) => n === "text" ? "yes" : "no", cases: ["yes", "no"] }), { yes: "after", no: "ends" }).node("after", compute(() => "routed"))`,
      "routed",
    ),
  );
  expect(routed).toMatchObject({ state: "completed", result: "routed" });
});

test("MACH-15 what a machine logs or does volatile is done once, after the commit", async () => {
  const project = new Project();
  const host = await project.open();
  const head = `const loud = setup({ actions: { say: volatileAction(() => mark("said")) } }).createMachine({ id: "loud", initial: "resting", states: { resting: { after: { 20: "over" } }, over: { type: "final", entry: "say" } } });`;
  expect(await project.run(host, machineFile(project, head, `.node("loud", machineNode(loud, {}))`))).toMatchObject({ state: "completed" });
  await vi.waitUntil(() => project.side.length > 0, patience);
  expect(project.side).toEqual(["said"]);
});

test("MACH-16 doctor derives its steps again, and says so when its sources are gone", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.run(host, machineFile(project, order, orderNode));
  await host.close();
  const again = await examine({ home: project.home, replay: id });
  expect(again.checks[0]?.findings).toEqual([]);
  expect(again.checks[0]?.looked).toMatch(/^5 actors/);
  const database = new DatabaseSync(path.join(project.home, "pawl.db"));
  database.exec("delete from blobs where hash in (select source_digest from runs)");
  database.close();
  const without = await examine({ home: project.home, replay: id });
  expect(without.verdict).toBe("ok");
  expect(without.checks[0]?.findings.filter(({ what }) => /not replayable/.test(what)).map(({ subject }) => subject?.replace(/^.*order\.1\//, ""))).toEqual([
    "machine",
    "machine/packer",
  ]);
});

async function journalLength({ home }: Project): Promise<number> {
  const database = new DatabaseSync(path.join(home, "pawl.db"), { readOnly: true });
  try {
    return Number(database.prepare("select count(*) as count from journal").get()?.["count"]);
  } finally {
    database.close();
  }
}
