/** Author code in worker processes: real ones, lost in every way that a process can be lost. */
import { rmSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { EmbeddedHost } from "../../src/host/api.ts";
import { nonHumanVariable } from "../../src/cli/environment.ts";
import { source } from "../house/source.ts";
import { askNode, openCode, person, Project, watch } from "./kit.ts";
import { killed, losesThreeTimes, marked, openWithWorkers as open, tries, waysToGo } from "./workerKit.ts";

// Each of these starts several processes.
vi.setConfig({ testTimeout: 60_000 });

const lines = (host: EmbeddedHost): string[] => {
  const told: string[] = [];
  host.subscribe((event) => {
    if (event.kind === "line") told.push(`${event.run.slice(-4)} ${event.node}: ${event.text}`);
  });
  return told;
};

test.each(waysToGo.filter(({ isLong }) => !isLong))(
  "WORKER-2 an action that loses its worker by $how runs again, the third time it fails as workerCrashed",
  (way) => losesThreeTimes(way),
);

test("WORKER-2 one that loses its worker three times costs those that were open beside it no run: the last attempt is made in a worker of its own", async () => {
  const project = new Project();
  const host = await open(project);
  const go = JSON.stringify(project.file("go"));
  const until = (file: string): string => `while (!existsSync(${file})) await new Promise((r) => setTimeout(r, 5));`;
  const end = JSON.stringify(project.file("end"));
  const file = project.workflow(
    `.node("work", action({ run: async ({ input, attempt }) => { ${marked} if (input.task === "bad") { ${until(go)} process.exit(1); } ${until(end)} return input.task; } }))`,
  );
  const ids = await Promise.all(["a", "b", "bad"].map(async (task) => (await project.start(host, file, { task })).id));
  const driven = ids.map((id) => host.drive(id));
  await vi.waitFor(() => expect(tries(project)).toHaveLength(3), { timeout: 15_000 });
  project.write("go", "");
  expect(await driven[2]).toMatchObject({ state: "failed", reason: { code: "workerCrashed" }, visits: [{ attempt: 3 }] });
  project.write("end", "");
  expect((await Promise.all(driven)).slice(0, 2).map(({ state, result, visits }) => [state, result, visits[0]?.attempt])).toEqual([
    ["completed", "a", 3],
    ["completed", "b", 3],
  ]);
});

test("WORKER-2 a shell step whose parse ends the worker runs again; the command was the host's", async () => {
  const project = new Project();
  const host = await open(project);
  const command = `command: "sh", args: ["-c", "echo ran >> ${project.file("side.txt")}; echo $PPID"]`;
  const view = await project.run(
    host,
    project.workflow(`.node("work", shell({ ${command}, parse: async ({ stdout }, { attempt }) => { if (attempt === 1) ${killed} return Number(stdout); } }))`),
  );
  expect(view).toMatchObject({ state: "completed", result: process.pid, visits: [{ attempt: 2 }] });
  expect(project.side).toEqual(["ran", "ran"]);
});

test("WORKER-2 a decision whose request ends the worker is made again, and asks once", async () => {
  const project = new Project();
  const host = await open(project);
  const view = await project.run(
    host,
    project.workflow(
      `.node("ask", humanDecision({ audience: "operator", choices: approval, request: async ({ attempt, idempotencyKey }) => { mark(idempotencyKey.split("/").at(-1)); if (attempt === 1) ${killed} return { title: "Go on?", subject: {} }; } }), { go: "after", stop: "after", replan: "ask" }).node("after", compute(({ outputs }) => outputs.ask.choice))`,
    ),
  );
  expect(view).toMatchObject({ state: "waiting", decisions: [{ state: "open" }] });
  await host.answer({ decision: openCode(view), choice: "go", source: person });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: "go" });
  expect(project.side).toEqual(["ask.1", "ask.1"]);
});

test("WORKER-3 an effect at most once whose worker is lost is ambiguous, and is not repeated", async () => {
  const project = new Project();
  const host = await open(project);
  const view = await project.run(
    host,
    project.workflow(
      `.node("send", action({ once: true, output: z.object({ id: z.number() }), run: async ({ attempt }) => { ${marked} ${killed} } }), "use").node("use", compute(({ outputs }) => outputs.send.id))`,
    ),
  );
  expect(view).toMatchObject({
    state: "ambiguous",
    ambiguous: [{ once: true, error: { reason: "workerCrashed", message: expect.stringContaining("SIGKILL") } }],
  });
  expect(tries(project)).toHaveLength(1);
  const key = view.ambiguous[0]?.key ?? "";
  await expect(host.confirmEffect(key, { id: "no number" })).rejects.toMatchObject({ code: "invalidInput", message: expect.stringContaining("id:") });
  await host.confirmEffect(key, { id: 4 });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: 4 });
});

test("WORKER-6 what code prints is told as lines of the visit that printed it, also when several are open in one worker", async () => {
  const project = new Project();
  const host = await open(project);
  const told = lines(host);
  const until = (file: string): string => `while (!existsSync(${JSON.stringify(project.file(file))})) await new Promise((r) => setTimeout(r, 5));`;
  const file = project.workflow(
    `.node("work", action({ run: async ({ input, attempt }) => { ${marked} if (attempt > 1) return; console.log("begin %s", input.task); ${until("go")} console.error("err " + input.task); process.stdout.write("two\\nlines " + input.task); if (input.task === "b") { ${until("end")} console.log("\\nbye"); process.exit(1); } } }))`,
  );
  const ids = await Promise.all(["a", "b"].map(async (task) => (await project.start(host, file, { task })).id));
  const driven = ids.map((id) => host.drive(id));
  await vi.waitFor(() => expect(tries(project)).toHaveLength(2), { timeout: 15_000 });
  expect(new Set(tries(project).map(({ pid }) => pid)).size).toBe(1);
  project.write("go", "");
  expect(await driven[0]).toMatchObject({ state: "completed", visits: [{ attempt: 1 }] });
  project.write("end", "");
  expect(await driven[1]).toMatchObject({ state: "completed", visits: [{ attempt: 2 }] });
  const of = (index: number): string[] => told.filter((line) => line.startsWith((ids[index] ?? "").slice(-4))).map((line) => line.slice(5));
  expect(of(0)).toEqual(["work: begin a", "work: err a", "work: two", "work: lines a"]);
  expect(of(1)).toEqual(["work: begin b", "work: err b", "work: two", "work: lines b", "work: bye"]);
});

test("WORKER-7 a cancel reaches the signal in the worker in less than a second", async () => {
  const project = new Project();
  const host = await open(project);
  const file = project.workflow(
    `.node("work", action({ run: ({ attempt, signal }) => { ${marked} return new Promise((_, reject) => signal.addEventListener("abort", () => { mark("aborted " + signal.reason + " " + Date.now()); reject(signal.reason); })); } }))`,
  );
  const took: number[] = [];
  for (let run = 1; run <= 3; run += 1) {
    const { id } = await project.start(host, file);
    const driven = host.drive(id);
    await vi.waitFor(() => expect(tries(project)).toHaveLength(run), { timeout: 15_000 });
    const since = Date.now();
    expect(await host.cancel(id, "user")).toMatchObject({ state: "cancelled", visits: [{ status: "cancelled" }] });
    await driven;
    const aborted = project.side.at(-1) ?? "";
    expect(aborted).toMatch(/^aborted cancelled /);
    took.push(Number(aborted.split(" ")[2]) - since);
  }
  // The best of three: what else the machine does is no matter of the worker's.
  expect(Math.min(...took)).toBeLessThan(1_000);
});

test("WORKER-10 errors arrive as what they were, and an input that JSON cannot carry is made again in the worker", async () => {
  const project = new Project();
  const host = await open(project);
  const told = watch(host);
  const retry = `retry: { maxAttempts: 3, initialMs: 1 }`;
  const next = (id: string): string => `{ done: "${id}", failed: "${id}" }`;
  const file = project.workflow(
    `.node("terminal", action({ ${retry}, run: () => { throw new TerminalError("no such account", "noAccount"); } }), ${next("notApplied")})
.node("notApplied", action({ once: true, run: () => { throw new NotApplied("refused at the door"); } }), ${next("retryable")})
.node("retryable", action({ ${retry}, run: ({ attempt }) => { if (attempt === 1) throw new RetryableError("busy", { retryAfterMs: 700 }); return attempt; } }), ${next("wrong")})
.node("wrong", compute(() => ({ at: new Date(0) })), ${next("look")})
.node("look", compute(({ input, results }) => [input.day instanceof Date, input.day.getUTCFullYear(), results.retryable?.output]))`,
    { head: `import { RetryableError, TerminalError } from "pawl";`, input: `z.object({ day: z.string().transform((day) => new Date(day)) })` },
  );
  const view = await project.run(host, file, { day: "2031-05-06" });
  expect(view).toMatchObject({
    state: "completed",
    result: [true, 2031, 2],
    visits: [
      { node: "terminal", attempt: 1, error: { reason: "noAccount", message: "no such account" } },
      { node: "notApplied", status: "failed", error: { reason: "effectFailed", message: "refused at the door" } },
      { node: "retryable", attempt: 2 },
      { node: "wrong", error: { reason: "invalidOutput", message: expect.stringContaining('a Date at "at"') } },
      {},
    ],
  });
  const [begun = 0, , ended = 0] = told.filter((event) => event.kind === "visit" && event.node === "retryable").map(({ at }) => at);
  expect(ended - begun).toBeGreaterThanOrEqual(700);
  await expect(project.start(host, file, { day: 7 })).rejects.toMatchObject({ code: "invalidInput", path: "day" });
  await expect(project.start(host, project.write("broken.workflow.ts", "export default {"))).rejects.toMatchObject({ code: "loadFailed" });
  await expect(project.start(host, project.file("none.workflow.ts"))).rejects.toMatchObject({ code: "unknownWorkflow" });
});

test("WORKER-11 author code has no channel to the host and is marked as a program's, as are the commands of its steps", async () => {
  const project = new Project();
  vi.stubEnv("PAWL_SECRET", "x");
  vi.stubEnv("PAWL_HOME", project.home);
  const host = await open(project);
  const view = await project.run(
    host,
    project.workflow(
      `.node("look", compute(() => ({ env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("PAWL_"))), channel: [typeof process.send, typeof process.disconnect, process.connected ?? null], argv: process.argv.length, cwd: process.cwd(), inherited: execFileSync(process.execPath, ["-p", "[3, 4].filter((fd) => { try { return require('node:fs').fstatSync(fd).isSocket(); } catch { return false; } })"]).toString().trim() })), "run").node("run", shell({ command: "sh", args: ["-c", "echo $PAWL_WORKER"], parse: ({ stdout }) => stdout.trim() }), "both").node("both", compute(({ outputs }) => [outputs.look, outputs.run]))`,
      { head: `import { execFileSync } from "node:child_process";` },
    ),
  );
  vi.unstubAllEnvs();
  const env = { PAWL_HOME: project.home, PAWL_WORKER: "1" };
  expect(view.result).toEqual([{ env, channel: ["undefined", "undefined", null], argv: 2, cwd: project.directory, inherited: "[]" }, "1"]);
  expect(nonHumanVariable(env)).toBe("PAWL_WORKER");
});

test("WORKER-11 a worker draws in nothing that could open a store", () => {
  const seen = new Set<string>();
  const look = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const one of source(path).imports) if (one.relative && !one.typeOnly) look(one.target);
  };
  for (const file of ["workerMain.ts", "worker.ts", "lifeline.ts"]) look(`src/host/workers/${file}`);
  expect(seen.size).toBeGreaterThan(20);
  expect([...seen].filter((path) => path.startsWith("persistence/") && path !== "persistence/store.ts")).toEqual([]);
});

test("WORKER-13 a worker that cannot start blocks the run with what to do; it goes on when that is done", async () => {
  const project = new Project();
  const first = await open(project);
  const file = project.workflow(`.node("work", compute(() => process.cwd()))`);
  const place = project.file("place");
  project.write("place/file", "");
  const { id } = await first.start({ workflow: file, input: {}, cwd: place });
  await first.close();
  const host = await open(project);
  rmSync(place, { recursive: true });
  await expect(host.start({ workflow: file, input: {}, cwd: place })).rejects.toMatchObject({ code: "workerUnavailable", kind: "environment", subject: place });
  expect(await host.drive(id)).toMatchObject({ state: "blocked", reason: { message: expect.stringMatching(/does not exist. Create it, then resume/) } });
  project.write("place/file", "");
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: place });
});

test("WORKER-16 the worker that loaded a launch goes on as the one of its run; the next launch loads in a new one, and runs in the one that is there", async () => {
  const project = new Project();
  const host = await open(project);
  const file = project.workflow(`.node("work", compute(() => [process.pid, Number(process.env.LOADED)]))`, {
    head: `process.env.LOADED = String(Number(process.env.LOADED ?? 0) + 1);`,
  });
  const first = await project.run(host, file);
  expect(first).toMatchObject({ state: "completed", result: [expect.any(Number), 2] });
  expect((await project.run(host, file)).result).toEqual(first.result);
});

test("WORKER-1 two source digests have a worker each, one digest has one; edited and deleted files change nothing for a run that lives", async () => {
  const project = new Project();
  const host = await open(project);
  const version = (name: string): string =>
    project.workflow(`${askNode(`{ go: "after", stop: "after", replan: "ask" }`)}.node("after", compute(() => [helper, process.pid]))`, {
      name,
      head: `import { helper } from "./helper.ts";`,
    });
  project.write("helper.ts", `export const helper = "first";`);
  const file = version("job");
  const [one, two] = [await project.run(host, file), await project.run(host, file)];
  project.write("helper.ts", `export const helper = "second";`);
  const three = await project.run(host, file);
  rmSync(file);
  rmSync(project.file("helper.ts"));
  const results = await Promise.all(
    [one, two, three].map(async (view) => {
      await host.answer({ decision: openCode(view), choice: "go", source: person });
      return (await host.drive(view.id)).result as [string, number]; // what the last node gives
    }),
  );
  expect(results.map(([helper]) => helper)).toEqual(["first", "first", "second"]);
  const [a, b, c] = results.map(([, pid]) => pid);
  expect([a === b, a === c, a === process.pid]).toEqual([true, false, false]);
});
