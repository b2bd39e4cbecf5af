/** Workers that are lost, or held up, while they step an author's machine or run its promises. */
import { DatabaseSync } from "node:sqlite";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { hostProcess, Project } from "./kit.ts";
import { machineFile, order, orderNode, orderResult } from "./machineKit.ts";
import { killed, openWithWorkers } from "./workerKit.ts";

const patience = { timeout: 60_000, interval: 20 };
/** A machine that goes on after a moment, by a guard. */
const guarded = (guard: string): string =>
  `const guarded = setup({ guards: { mayGo: () => { mark("step " + process.pid); ${guard} return true; } } })
  .createMachine({ id: "guarded", initial: "resting", states: { resting: { after: { 30: { guard: "mayGo", target: "over" } } }, over: { type: "final" } } });`;
const node = `.node("guarded", machineNode(guarded, {}))`;

test("MACH-17 a worker that is lost in a step is lost for that step alone, which is taken again in another", async () => {
  const project = new Project();
  const host = await openWithWorkers(project);
  const file = machineFile(
    project,
    guarded(`if (!there("killed")) { appendFileSync(${JSON.stringify(project.file("killed"))}, "x"); process.kill(process.pid, "SIGKILL"); for (;;); }`),
    node,
  );
  expect(await project.run(host, file)).toMatchObject({ state: "completed" });
  expect(new Set(project.side).size).toBe(2);
});

test("MACH-18 a step that does not end blocks its run with the reason, holds up no other run, and is taken again when the run is resumed", async () => {
  const project = new Project();
  const host = await openWithWorkers(project, { stepMs: 1_000 });
  const file = machineFile(project, guarded(`while (!there("mended"));`), node);
  const other = machineFile(
    project,
    `const quick = setup({}).createMachine({ id: "quick", initial: "resting", states: { resting: { after: { 20: "over" } }, over: { type: "final" } } });`,
    `.node("quick", machineNode(quick, {}))`,
    "other",
  );
  const { id } = await project.start(host, file);
  const driven = host.drive(id);
  await project.appears("side.txt");
  // It is held up now, and would be for three seconds.
  expect(await project.run(host, other)).toMatchObject({ state: "completed" });
  const view = await driven;
  expect(view).toMatchObject({ state: "blocked", reason: { code: "faulted" } });
  expect(view.reason?.message).toMatch(/a step of actor ".*guarded\.1\/machine" took longer than 1000 ms/);
  expect(new Set(project.side).size).toBe(3);
  project.write("mended", "x");
  await host.resume(id);
  expect(await host.drive(id)).toMatchObject({ state: "completed" });
}, 120_000);

test("MACH-19 a worker that is lost in a promise interrupts that promise: it runs again with the same key, and with once waits for a person's word", async () => {
  const project = new Project();
  const host = await openWithWorkers(project);
  const head = (
    options: string,
  ): string => `const works = setup({ actors: { work: durable(async ({ attempt, idempotencyKey }) => { mark("work " + attempt + " " + idempotencyKey); if (attempt === 1) ${killed} return attempt; }, { ${options} }) } })
  .createMachine({ id: "works", context: { got: null }, initial: "working", states: { working: { invoke: { src: "work", id: "work", onDone: { target: "over", actions: assign({ got: ({ event }) => event.output }) } } }, over: { type: "final" } }, output: ({ context }) => context.got });`;
  const nodes = `.node("works", machineNode(works, {}))`;
  expect(await project.run(host, machineFile(project, head(""), nodes))).toMatchObject({ state: "completed", result: 2 });
  expect(project.side.map((line) => line.split(" ")[1])).toEqual(["1", "2"]);
  expect(new Set(project.side.map((line) => line.split(" ")[2])).size).toBe(1);
  const once = await project.run(host, machineFile(project, head("once: true"), nodes, "once"));
  expect(once).toMatchObject({ state: "ambiguous", ambiguous: [{ type: "promise:work", once: true }] });
  expect(once.visits[0]).toMatchObject({ status: "ambiguous" });
  await host.confirmEffect(once.ambiguous[0]?.key ?? "", "it happened");
  expect(await host.drive(once.id)).toMatchObject({ state: "completed", result: "it happened" });
}, 120_000);

test("MACH-27 a run whose machine has two unknown outcomes goes on when both are settled, and names the one that is left", async () => {
  const project = new Project();
  const host = await openWithWorkers(project);
  const head = `const unsure = (name) => durable(async () => { throw new Error(name + " went dead"); }, { once: true });
const two = setup({ actors: { left: unsure("left"), right: unsure("right") } }).createMachine({
  id: "two", type: "parallel",
  states: {
    left: { initial: "working", states: { working: { invoke: { src: "left", id: "left", onDone: "over" } }, over: { type: "final" } } },
    right: { initial: "working", states: { working: { invoke: { src: "right", id: "right", onDone: "over" } }, over: { type: "final" } } },
  },
});`;
  const view = await project.run(host, machineFile(project, head, `.node("two", machineNode(two, {}))`));
  await vi.waitUntil(async () => (await host.run(view.id)).ambiguous.length === 2, patience);
  const [first, second] = (await host.run(view.id)).ambiguous.map(({ key }) => key);
  await host.confirmEffect(first ?? "", null);
  expect(await host.run(view.id)).toMatchObject({ state: "ambiguous", ambiguous: [{ key: second }] });
  await host.confirmEffect(second ?? "", null);
  expect(await host.drive(view.id)).toMatchObject({ state: "completed" });
}, 120_000);

test("MACH-20 a promise that takes its worker down each time fails at the third loss", async () => {
  const project = new Project();
  const host = await openWithWorkers(project);
  const head = `const dies = setup({ actors: { work: fromPromise(async () => { mark("work " + process.pid); ${killed} }) } })
  .createMachine({ id: "dies", initial: "working", states: { working: { invoke: { src: "work", id: "work", onDone: "over" } }, over: { type: "final" } } });`;
  const view = await project.run(host, machineFile(project, head, `.node("dies", machineNode(dies, {}))`));
  expect(view).toMatchObject({ state: "failed", reason: { code: "workerCrashed" } });
  expect(new Set(project.side).size).toBe(3);
}, 120_000);

test("MACH-12 a host that is killed while its machine rests and works leaves what the next one goes on with", async () => {
  const project = new Project();
  const file = machineFile(project, order, orderNode);
  const killedHost = hostProcess(project, file);
  const run = await killedHost.run;
  await project.appears("side.txt");
  process.kill(killedHost.pid, "SIGKILL");
  await killedHost.ended;
  const host = await openWithWorkers(project);
  expect(await host.drive(run)).toMatchObject({ state: "completed", result: orderResult });
}, 120_000);

test("MACH-21 a host that closes while a step does not end leaves the run as it was stored", async () => {
  const project = new Project();
  const host = await openWithWorkers(project);
  const { id } = await project.start(host, machineFile(project, guarded(`while (!there("mended"));`), node));
  const driven = host.drive(id).catch((error: unknown) => error);
  await project.appears("side.txt");
  await host.close();
  expect(await driven).toMatchObject({ code: "closed" });
  const database = new DatabaseSync(path.join(project.home, "pawl.db"), { readOnly: true });
  expect(database.prepare("select count(*) as count from timers").get()).toEqual({ count: 1 });
  database.close();
  project.write("mended", "x");
  const again = await openWithWorkers(project);
  expect(await again.drive(id)).toMatchObject({ state: "completed" });
  await vi.waitUntil(() => project.side.length >= 2, patience);
}, 120_000);
