import { readFileSync, rmSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { EmbeddedHost, RunView } from "../../src/host/api.ts";
import { livingMembers } from "../../src/host/processes.ts";
import { hostProcess, Project, watch } from "./kit.ts";

const head = 'import { batch, include } from "pawl";';
const after = '.node("after", compute(({ outputs }) => outputs.many))';

async function ran(options: string, project = new Project()): Promise<{ project: Project; host: EmbeddedHost; view: RunView }> {
  const host = await project.open();
  return { project, host, view: await project.run(host, project.workflow(`.node("many", batch({ ${options} }), "after")${after}`, { head })) };
}

const say = (word: string, more = ""): string => `{ command: "sh", args: ["-c", ${JSON.stringify(`echo ${word}; echo ${word} >> side.txt; ${more}`)}] }`;

test("BATCH-1 BATCH-5 at most so many run at a time, and the results stand in the order of the commands", async () => {
  const line =
    "n=$(ls running 2>/dev/null | wc -l); echo $n >> seen.txt; mkdir -p running; touch running/$1; sleep 0.$((RANDOM % 2 + 1)); rm running/$1; echo $1";
  const { view, project } = await ran(
    `commands: Array.from({ length: 9 }, (_, i) => ({ command: ${JSON.stringify(line)}, args: [String(i)], shell: true })), concurrency: 3`,
  );
  expect(view).toMatchObject({ state: "completed", visits: [{ node: "many", kind: "batch", status: "accepted", case: "done" }, {}] });
  const results = view.result as { stdout: string; status: string }[]; // what the batch gave
  expect(results.map(({ stdout, status }) => [stdout.trim(), status])).toEqual(Array.from({ length: 9 }, (_, i) => [String(i), "ok"]));
  const others = readFileSync(project.file("seen.txt"), "utf8").trim().split("\n").map(Number);
  expect(others).toHaveLength(9);
  expect(Math.max(...others)).toBeLessThan(3);
  expect(Math.max(...others)).toBeGreaterThan(0);
});

test("BATCH-5 each command has its arguments, directory, environment and input; no shell reads it unless asked", async () => {
  const { view } = await ran(`commands: ({ input }) => [
    { command: "printf", args: ["%s", "$HOME " + input.task] },
    { command: "pwd", cwd: "/" },
    { command: "echo $A:$B:$1", shell: true, args: ["x y"], env: { A: "a" } },
    { command: "cat", stdin: "in" },
  ]`);
  expect(view.result).toMatchObject([
    { stdout: "$HOME t" },
    { stdout: "/\n" },
    { stdout: "a::x y\n" },
    { stdout: "in", stderr: "", exitCode: 0, signal: null, error: null },
  ]);
});

test("BATCH-5 no commands are done at once", async () => {
  expect((await ran("commands: []")).view).toMatchObject({ state: "completed", result: [] });
});

test("BATCH-6 a failed command fails the node after all were tried, and the reason names the first ones", async () => {
  const { view, project } = await ran(
    `commands: [${say("a")}, ${say("b", "echo oh no >&2; exit 3")}, { command: "no-such-program" }, ${say("d")}], concurrency: 1`,
  );
  expect(view).toMatchObject({
    state: "failed",
    reason: {
      code: "effectFailed",
      message: expect.stringMatching(/2 of 4 commands failed: \[1\] sh: exit code 3: oh no; \[2\] no-such-program: Command not found/),
    },
    visits: [{ status: "failed" }],
  });
  expect(project.side).toEqual(["a", "b", "d"]);
});

test("BATCH-6 with stopOnFailure no further command begins, with allowNonZeroExit the results say what failed", async () => {
  const { view, project } = await ran(
    `commands: [${say("a")}, ${say("b", "exit 3")}, ${say("c")}], concurrency: 1, stopOnFailure: true, allowNonZeroExit: true`,
  );
  expect(view).toMatchObject({
    state: "completed",
    result: [
      { status: "ok", exitCode: 0 },
      { status: "failed", exitCode: 3, stdout: "b\n" },
      { status: "skipped", exitCode: null },
    ],
  });
  expect(project.side).toEqual(["a", "b"]);
});

test("BATCH-7 results may be routed on", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(
    `.node("many", batch({ commands: [{ command: "false" }], allowNonZeroExit: true, route: (results) => (results.every(({ status }) => status === "ok") ? "good" : "bad") }), { good: "after", bad: "sorry" })${after}.node("sorry", compute(({ outputs }) => outputs.many.length))`,
    { head },
  );
  expect(await project.run(host, file)).toMatchObject({ state: "completed", result: 1, visits: [{ case: "bad" }, {}] });
});

test("BATCH-8 what cannot be run is refused at load, or fails the visit by the command's place", async () => {
  const project = new Project();
  const host = await project.open();
  for (const [options, message] of [
    ["commands: [{ command: '' }]", "commands[0].command"],
    ["commands: [{ command: 'a' }, { command: 'b', args: [1] }]", "commands[1].args[0]"],
    ["commands: Array.from({ length: 257 }, () => ({ command: 'true' }))", "at most 256 commands"],
    ["commands: [], concurrency: 0", "concurrency 0; give a whole number from 1 to 32"],
    ["commands: [], concurrency: 33", "concurrency 33"],
    ["commands: [{ command: 'a', shel: true }]", "commands[0]"],
  ] as const) {
    const file = project.workflow(`.node("many", batch({ ${options} } as any))`, { head, name: `job${message.length}` });
    await expect(project.start(host, file)).rejects.toMatchObject({ code: "invalidWorkflow", message: expect.stringContaining(message) });
  }
  const { view } = await ran("commands: () => [{ command: 'a' }, { command: 'b', env: { 'a=b': '1' } }]");
  expect(view).toMatchObject({ state: "failed", reason: { code: "nodeFailed", message: expect.stringContaining("commands[1].env") } });
});

test("BATCH-9 case 85 cancel ends every process group within two seconds, and a deadline does the same", { timeout: 30_000 }, async () => {
  const project = new Project();
  const host = await project.open();
  const many = 'commands: Array.from({ length: 4 }, (_, i) => ({ command: "echo $$ > pid$1; sleep 100 & sleep 100", args: [String(i)], shell: true }))';
  const start = async (more: string, name: string): Promise<{ id: string; pids: number[] }> => {
    const file = project.workflow(`.node("many", batch({ ${many}${more} }), { done: "after", timedOut: "late" })${after}.node("late", compute(() => "late"))`, {
      head,
      name,
    });
    const { id } = await project.start(host, file);
    return { id, pids: [] };
  };
  const pids = (): Promise<number[]> => Promise.all([0, 1, 2, 3].map(async (i) => Number(await project.appears(`pid${i}`))));
  const { id } = await start("", "cancelled");
  const driven = host.drive(id);
  const groups = await pids();
  const asked = Date.now();
  await host.cancel(id, "user");
  expect(groups.flatMap((pgid) => livingMembers(pgid))).toEqual([]);
  expect(Date.now() - asked).toBeLessThan(10_000);
  expect(await driven).toMatchObject({ state: "cancelled" });
  for (const i of [0, 1, 2, 3]) rmSync(project.file(`pid${i}`));
  const timed = await start(", timeoutMs: 700", "timed");
  expect(await host.drive(timed.id)).toMatchObject({ state: "completed", result: "late", visits: [{ status: "timedOut" }, {}] });
  const left = await pids();
  await vi.waitFor(() => expect(left.flatMap((pgid) => livingMembers(pgid))).toEqual([]), { timeout: 10_000, interval: 50 });
});

const held = (i: number): string => `echo begun${i} >> side.txt; while [ ! -e go${i} ]; do sleep 0.02; done; echo ended${i} >> side.txt; echo ${i}`;

test("BATCH-2 case 56 killed in the middle, finished commands are not run again and unfinished ones are", { timeout: 60_000 }, async () => {
  const project = new Project();
  const commands = [0, 1, 2, 3].map((i) => `{ command: ${JSON.stringify(held(i))}, shell: true }`).join(", ");
  const file = project.workflow(`.node("many", batch({ commands: [${commands}], concurrency: 2 }), "after")${after}`, { head });
  project.write("go0", "");
  const other = hostProcess(project, file);
  const id = await other.run;
  await vi.waitFor(() => expect(project.side).toEqual(expect.arrayContaining(["ended0", "begun1", "begun2"])), { timeout: 20_000, interval: 20 });
  // The first one's end is committed when the third has begun.
  process.kill(other.pid, "SIGKILL");
  await other.ended;
  for (const i of [1, 2, 3]) project.write(`go${i}`, "");
  const host = await project.open();
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: [0, 1, 2, 3].map((i) => ({ status: "ok", stdout: `${i}\n` })) });
  const count = (line: string): number => project.side.filter((other) => other === line).length;
  expect([count("begun0"), count("ended0"), count("begun3")]).toEqual([1, 1, 1]);
  expect(count("begun1")).toBe(2);
});

test(
  "BATCH-3 BATCH-4 a once command whose outcome is unknown is confirmed or done again by itself, when nothing else is left to do",
  { timeout: 60_000 },
  async () => {
    const project = new Project();
    const commands = [0, 1, 2].map((i) => `{ command: ${JSON.stringify(held(i))}, shell: true }`).join(", ");
    const file = project.workflow(`.node("many", batch({ commands: [${commands}], concurrency: 2, once: true }), "after")${after}`, { head });
    const other = hostProcess(project, file);
    const id = await other.run;
    await vi.waitFor(() => expect(project.side).toEqual(expect.arrayContaining(["begun0", "begun1"])), { timeout: 20_000, interval: 20 });
    process.kill(other.pid, "SIGKILL");
    await other.ended;
    for (const i of [0, 1, 2]) project.write(`go${i}`, "");
    const host = await project.open();
    const events = watch(host);
    const view = await host.drive(id);
    expect(view).toMatchObject({
      state: "ambiguous",
      visits: [{ node: "many", status: "ambiguous" }],
      ambiguous: [{ visit: `${id}/graph/many.1/item.0` }, { visit: `${id}/graph/many.1/item.1` }],
    });
    expect(project.side.filter((line) => line === "ended2")).toEqual(["ended2"]);
    expect(events.filter((event) => event.kind === "run").map((event) => event.kind === "run" && event.state)).toEqual(["ambiguous"]);
    const [first, second] = view.ambiguous.map(({ key }) => key);
    await expect(host.confirmEffect(first ?? "", { exitCode: "0" })).rejects.toMatchObject({ code: "invalidInput", path: "output.exitCode" });
    await host.confirmEffect(first ?? "", { exitCode: 0, stdout: "by hand" });
    expect(await host.drive(id)).toMatchObject({ state: "ambiguous", ambiguous: [{ key: second }] });
    await host.retryEffect(second ?? "");
    expect(await host.drive(id)).toMatchObject({ state: "completed", result: [{ stdout: "by hand", status: "ok" }, { stdout: "1\n" }, { stdout: "2\n" }] });
    expect(project.side.filter((line) => line === "begun0")).toHaveLength(1);
    expect(project.side.filter((line) => line === "begun1")).toHaveLength(2);
  },
);

test("BATCH-10 what commands print is told with their place", async () => {
  const project = new Project();
  const host = await project.open();
  const events = watch(host);
  const view = await project.run(host, project.workflow(`.node("many", batch({ commands: [${say("one")}, ${say("two")}] }), "after")${after}`, { head }));
  const lines = events.flatMap((event) => (event.kind === "line" ? [[event.node, event.text, event.visit]] : []));
  expect(lines.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1))).toEqual([
    ["many[0]", "one", `${view.id}/graph/many.1`],
    ["many[1]", "two", `${view.id}/graph/many.1`],
  ]);
});

test("BATCH-11 large outputs are bounded for each command, and together by the limit of one output", { timeout: 60_000 }, async () => {
  const { view } = await ran("commands: [{ command: \"head -c 1500000 /dev/zero | tr '\\\\0' x\", shell: true }]");
  expect(view.result).toMatchObject([{ truncated: { stdout: true, stderr: false } }]);
  const large = await ran(
    "commands: Array.from({ length: 70 }, () => ({ command: \"head -c 1000000 /dev/zero | tr '\\\\0' x\", shell: true })), concurrency: 8",
  );
  expect(large.view).toMatchObject({ state: "failed", reason: { code: "outputTooLarge" } });
});
