/** What takes workers long: their limits, stubborn code, lost hosts, large values. */
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import type { RunView } from "../../src/host/api.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { openCode, person, Project } from "./kit.ts";
import { isAlive, losesThreeTimes, marked, never, openWithWorkers as open, tries, waysToGo } from "./workerKit.ts";

test.each(waysToGo.filter(({ isLong }) => isLong))(
  "WORKER-2 an action that loses its worker by $how runs again, the third time it fails as workerCrashed",
  (way) => losesThreeTimes(way),
);

test("WORKER-4 a compute may lose its worker twice in one life of its host, the third time it fails; a host that stops counts for nothing", async () => {
  const project = new Project();
  const file = project.workflow(
    `.node("work", compute(async ({ attempt, signal }) => { ${marked} if (attempt === 2) await new Promise((r) => signal.addEventListener("abort", r)); if (attempt === 2) throw signal.reason; process.exit(attempt); }))`,
  );
  const first = await open(project);
  const { id } = await project.start(first, file);
  const driven = first.drive(id).catch(() => null);
  await vi.waitFor(() => expect(tries(project)).toHaveLength(2), { timeout: 15_000 });
  await first.close();
  await driven;
  const second = await open(project);
  expect(await second.drive(id)).toMatchObject({ state: "failed", reason: { code: "workerCrashed", message: expect.stringContaining("exit code 5") } });
  expect(tries(project).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
});

test("WORKER-5 sources that end the worker while they load: the launch is refused, and a run that is saved fails as startupCrashed", async () => {
  const project = new Project();
  const host = await open(project);
  const file = project.workflow(`.node("work", compute(() => 1))`, {
    head: `if (existsSync(${JSON.stringify(project.file("bad"))})) { appendFileSync(${JSON.stringify(project.file("side.txt"))}, "down\\n"); process.exit(9); }`,
  });
  const { id } = await project.start(host, file);
  project.write("bad", "");
  await expect(project.start(host, file)).rejects.toMatchObject({ code: "loadFailed", message: expect.stringContaining("exit code 9") });
  expect(project.side).toEqual(["down", "down", "down"]);
  expect(await host.drive(id)).toMatchObject({ state: "failed", reason: { code: "startupCrashed", message: expect.stringContaining("exit code 9") } });
  expect(project.side.length).toBe(5);
});

test("WORKER-7 a step that ran out of time routes on; what it says later counts for nothing, and with `once` it settles what was unknown", async () => {
  const project = new Project();
  const host = await open(project);
  const go = JSON.stringify(project.file("go"));
  const slow = `async ({ attempt }) => { ${marked} while (!existsSync(${go})) await new Promise((r) => setTimeout(r, 5)); return "late"; }`;
  const routed = project.workflow(
    `.node("work", action({ timeoutMs: 300, run: ${slow} }), { done: "end", timedOut: "end" }).node("end", compute(({ results }) => results.work?.status))`,
    { name: "routed" },
  );
  const once = project.workflow(`.node("work", action({ timeoutMs: 300, once: true, run: ${slow} }))`, { name: "once" });
  const view = await project.run(host, routed);
  expect(view).toMatchObject({ state: "completed", result: "timedOut" });
  const unsure = await project.run(host, once);
  expect(unsure).toMatchObject({ state: "ambiguous" });
  const driven = new Promise<RunView>((resolve) =>
    host.subscribe((event) => {
      if (event.kind === "run" && event.run === unsure.id && event.state === "completed") resolve(host.run(unsure.id));
    }),
  );
  project.write("go", "");
  expect(await driven).toMatchObject({ result: "late" });
  expect(await host.run(view.id)).toEqual(view);
});

test("WORKER-13 a step for which no worker can start says so, counts nothing, and begins when one can", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ author: "workers", workerLimits: { idleMs: 1 }, adopt: "all", clock });
  const file = project.workflow(
    `.node("ask", humanDecision({ audience: "operator", choices: approval, request: ({ attempt }) => { ${marked} return { title: "Go on?", subject: {} }; } }), { go: "work", stop: "work", replan: "work" }).node("work", action({ run: () => process.cwd() }))`,
  );
  const place = project.file("place");
  project.write("place/file", "");
  const { id } = await host.start({ workflow: file, input: {}, cwd: place });
  const becomes = (shape: object): Promise<void> => vi.waitFor(async () => expect(await host.run(id)).toMatchObject(shape), { timeout: 20_000, interval: 20 });
  await becomes({ state: "waiting" });
  await vi.waitFor(() => expect(isAlive(tries(project)[0]?.pid ?? 0)).toBe(false), { timeout: 10_000 });
  rmSync(place, { recursive: true });
  await host.answer({ decision: openCode(await host.run(id)), choice: "go", source: person });
  await becomes({
    state: "running",
    visits: [{}, { node: "work", status: "running", attempt: 2, error: { message: expect.stringContaining("Create it, then") } }],
  });
  clock.advance(30_000);
  await becomes({ visits: [{}, { attempt: 3 }] });
  project.write("place/file", "");
  clock.advance(30_000);
  await becomes({ state: "completed", result: place, visits: [{}, { attempt: 3 }] });
});

test("WORKER-5 a file that never finishes to load is given up", async () => {
  const project = new Project();
  const host = await open(project, { loadMs: 1_500 });
  const file = project.workflow(`.node("work", compute(() => 1))`, {
    head: `appendFileSync(${JSON.stringify(project.file("side.txt"))}, "try 1 " + process.pid + "\\n"); await new Promise((r) => setTimeout(r, 60_000));`,
  });
  await expect(project.start(host, file)).rejects.toMatchObject({ code: "loadFailed", message: expect.stringContaining("longer than 1500 ms") });
  const [loader] = tries(project);
  await vi.waitFor(() => expect(isAlive(loader?.pid ?? 0)).toBe(false), { timeout: 5_000 });
  expect((await host.runs()).items).toEqual([]);
});

test("WORKER-7 who does not heed it is left after 2 s and costs nobody else anything; who blocks the loop is ended", async () => {
  const project = new Project();
  const host = await open(project);
  const go = JSON.stringify(project.file("go"));
  const file = project.workflow(
    `.node("work", action({ run: async ({ input, attempt }) => { ${marked} if (input.task === "block") for (;;); while (!existsSync(${go})) await new Promise((r) => setTimeout(r, 5)); return [input.task, attempt]; } }))`,
  );
  const begin = async (task: string, count: number) => {
    const { id } = await project.start(host, file, { task });
    const driven = host.drive(id);
    await vi.waitFor(() => expect(tries(project)).toHaveLength(count), { timeout: 15_000 });
    return { id, driven };
  };
  const stubborn = await begin("stubborn", 1);
  const other = await begin("other", 2);
  const pid = tries(project)[0]?.pid ?? 0;
  expect(await host.cancel(stubborn.id, "user")).toMatchObject({ state: "cancelled" });
  expect(isAlive(pid)).toBe(true);
  const blocked = await begin("block", 3);
  expect(tries(project)[2]?.pid).toBe(pid);
  expect(await host.cancel(blocked.id, "user")).toMatchObject({ state: "cancelled" });
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
  project.write("go", "");
  // It lost its worker with the one that blocked, and went on in another.
  expect(await other.driven).toMatchObject({ state: "completed", result: ["other", 2] });
  expect((await host.run(stubborn.id)).state).toBe("cancelled");
});

/** Starts a process that lives on, and one that ignores TERM besides; says their numbers. */
const leavesBehind = `const { spawn } = await import("node:child_process"); for (const args of [["-c", "exec sleep 1000"], ["-c", "trap '' TERM; while :; do sleep 0.1; done"]]) mark("child " + spawn("sh", args, { stdio: "ignore" }).pid);`;

const children = (project: Project): readonly number[] => project.side.filter((line) => line.startsWith("child ")).map((line) => Number(line.slice(6)));

test("WORKER-8 what author code started ends with its worker: when the host is closed, and when the worker is lost", async () => {
  const project = new Project();
  const host = await open(project);
  const file = project.workflow(
    `.node("work", action({ run: async ({ input, attempt, signal }) => { ${leavesBehind} ${marked} if (input.task === "lost" && attempt === 1) process.exit(1); await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))); } }))`,
  );
  const driven = Promise.all(["lost", "closed"].map(async (task) => host.drive((await project.start(host, file, { task })).id).catch(() => null)));
  await vi.waitFor(() => expect(tries(project).length).toBeGreaterThanOrEqual(3), { timeout: 30_000 });
  const begun = children(project);
  expect(begun.length).toBeGreaterThanOrEqual(6);
  await host.close();
  await driven;
  expect([...children(project), ...tries(project).map(({ pid }) => pid)].filter(isAlive)).toEqual([]);
});

test.each(["waits", "blocks"])("WORKER-9 when the host is killed, a worker that %s is gone with its group within 2 s", async (task) => {
  const project = new Project();
  const file = project.workflow(
    `.node("work", action({ run: async ({ input, attempt }) => { ${leavesBehind} ${marked} if (input.task === "blocks") for (;;); ${never} } }))`,
  );
  const host = spawn(process.execPath, [fileURLToPath(new URL("children/workerHost.ts", import.meta.url)), project.home, file, project.directory, task], {
    stdio: "inherit",
  });
  onTestFinished(() => void host.kill("SIGKILL"));
  await vi.waitFor(() => expect(tries(project)).toHaveLength(1), { timeout: 30_000 });
  const all = [...tries(project).map(({ pid }) => pid), ...children(project)];
  expect(all.filter(isAlive)).toHaveLength(3);
  host.kill("SIGKILL");
  await vi.waitFor(() => expect(all.filter(isAlive)).toEqual([]), { timeout: 2_000, interval: 20 });
});

test("WORKER-12 no more workers than allowed: the idle one that was used longest ago makes room, else work waits; an idle one ends by itself", async () => {
  const project = new Project();
  const host = await open(project, { atOnce: 2, idleMs: 3_000 });
  const file = (name: string): string =>
    project.workflow(
      `.node("work", action({ run: async ({ input, attempt }) => { ${marked} mark(${JSON.stringify(name)}); while (input.task === "wait" && !existsSync(${JSON.stringify(project.file("go"))})) await new Promise((r) => setTimeout(r, 5)); return process.pid; } }))`,
      { name },
    );
  // Saved before anything is driven: a launch takes a worker's place for itself.
  const save = async (name: string, ...tasks: readonly string[]) => {
    const workflow = file(name);
    return Promise.all(tasks.map(async (task) => (await project.start(host, workflow, { task })).id));
  };
  const [a1 = "", a2 = "", aWaits = ""] = await save("a", "t", "t", "wait");
  const [b1 = "", bWaits = ""] = await save("b", "t", "wait");
  const [c1 = "", c2 = ""] = await save("c", "t", "t");
  const pidOf = async (id: string): Promise<number> => Number((await host.drive(id)).result);
  const [a, b] = [await pidOf(a1), await pidOf(b1)];
  expect(await pidOf(a2)).toBe(a);
  const c = await pidOf(c1);
  expect([a, b, c].map(isAlive)).toEqual([true, false, true]);
  // Two that work: the third waits for one of them.
  const waiting = [pidOf(aWaits), pidOf(bWaits)];
  await vi.waitFor(() => expect(project.side.filter((line) => line === "a" || line === "b")).toHaveLength(5), { timeout: 30_000 });
  const late = pidOf(c2);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(project.side.filter((line) => line === "c")).toHaveLength(1);
  project.write("go", "");
  const last = [...(await Promise.all(waiting)), await late];
  expect(project.side.at(-1)).toBe("c");
  await vi.waitFor(() => expect(last.filter(isAlive)).toEqual([]), { timeout: 20_000 });
});

test("WORKER-14 a value of 64 MiB passes from step to step, whatever its characters; a larger one is refused", async () => {
  const project = new Project();
  const host = await open(project);
  const limit = 64 * 1024 * 1024;
  const file = (name: string, text: string): string =>
    project.workflow(`.node("big", compute(() => ${text}), "read").node("read", compute(({ outputs }) => [outputs.big.length, outputs.big.slice(0, 2)]))`, {
      name,
    });
  expect(await project.run(host, file("wide", `"ü" + "x".repeat(${limit - 4})`))).toMatchObject({ state: "completed", result: [limit - 3, "üx"] });
  expect(await project.run(host, file("more", `"x".repeat(${limit - 1})`))).toMatchObject({ state: "failed", reason: { code: "outputTooLarge" } });
});
