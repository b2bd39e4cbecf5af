import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openEmbedded, openReader } from "../../src/host/embedded.ts";
import { askNode, openCode, person, Project, watch } from "./kit.ts";

const twoSteps = `.node("first", compute(({ input }) => { mark("first"); return { said: input.task }; }), "second")
.node("second", action({ run: ({ outputs, idempotencyKey }) => { mark("second"); return [outputs.first.said, idempotencyKey]; } }))`;

test("HOST-1 a started run is stored as queued, with its input, before its id is known, and nothing of it has run", async () => {
  const project = new Project();
  const host = await project.open();
  const { id, duplicate } = await project.start(host, project.workflow(twoSteps), { task: "x" });
  const reader = await openReader({ home: project.home });
  expect(await reader.run(id)).toMatchObject({ id, workflow: "job", state: "queued", input: { task: "x" }, visits: [], current: null });
  expect(duplicate).toBe(false);
  expect(project.side).toEqual([]);
  await reader.close();
});

test("HOST-2 a driven run goes on until it ends, and its views and events say what happened", async () => {
  const project = new Project();
  const host = await project.open();
  const events = watch(host);
  const view = await project.run(host, project.workflow(twoSteps), { task: "x" });
  const graph = `${view.id}/graph`;
  expect(view).toMatchObject({ state: "completed", result: ["x", `${graph}/second.2`], reason: null, current: null });
  expect(view.visits.map(({ id, status, case: taken, attempt }) => [id, status, taken, attempt])).toEqual([
    [`${graph}/first.1`, "accepted", "done", 1],
    [`${graph}/second.2`, "accepted", "done", 1],
  ]);
  expect(events.map((event) => (event.kind === "run" ? event.state : event.kind === "visit" ? `${event.node} ${event.status}` : event.kind))).toEqual([
    "queued",
    "starting",
    "first running",
    "running",
    "first accepted",
    "second running",
    "second accepted",
    "completed",
  ]);
  expect(await host.drive(view.id)).toEqual(view);
  expect(project.side).toEqual(["first", "second"]);
});

test("HOST-2 several runs are driven side by side and told apart", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(twoSteps);
  const views = await Promise.all(["a", "b", "c", "d"].map((task) => project.run(host, file, { task })));
  expect(views.map(({ result }) => (Array.isArray(result) ? result[0] : null))).toEqual(["a", "b", "c", "d"]);
  const page = await host.runs({ state: ["completed"] }, { limit: 3 });
  const rest = await host.runs({}, { cursor: page.cursor ?? "" });
  expect([...page.items, ...rest.items].map(({ id }) => id).toSorted()).toEqual(views.map(({ id }) => id).toSorted());
});

test("HOST-3 input that does not fit is refused with the path of the wrong field, and nothing is stored", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(twoSteps, { input: "z.object({ plan: z.object({ steps: z.array(z.number()) }) })" });
  await expect(project.start(host, file, { plan: { steps: [1, "secret"] } })).rejects.toMatchObject({
    code: "invalidInput",
    path: "plan.steps.1",
    message: expect.not.stringContaining("secret"),
  });
  await expect(project.start(host, project.file("absent.workflow.ts"))).rejects.toMatchObject({ code: "unknownWorkflow" });
  await expect(project.start(host, project.write("broken.workflow.ts", "export default {\n  a: ;\n};\n"))).rejects.toMatchObject({
    code: "loadFailed",
    message: expect.stringContaining("broken.workflow.ts:2"),
  });
  expect((await host.runs()).items).toEqual([]);
});

test("HOST-3 callbacks see the input as the schema gave it, the same in every step", async () => {
  const project = new Project();
  const host = await project.open();
  const input = "z.object({ at: z.coerce.date(), id: z.string().default(() => crypto.randomUUID()) })";
  const dated = await project.run(host, project.workflow(`.node("a", compute(({ input }) => input.at.getTime()))`, { input }), { at: "2030-01-02T00:00:00Z" });
  expect(dated.result).toBe(Date.UTC(2030, 0, 2));
  const random = await project.run(
    host,
    project.workflow(
      `.node("a", compute(({ input }) => input.id), "b").node("b", compute(({ input, outputs }) => [input.id === outputs.a, input.id.length]))`,
      { name: "random", input: "z.object({ id: z.string().default(() => crypto.randomUUID()) })" },
    ),
  );
  expect(random).toMatchObject({ state: "completed", input: {}, result: [true, 36] });
});

test("HOST-4 case 42 the same key and request give the same run, another request is refused, after a restart too", async () => {
  const project = new Project();
  const file = project.workflow(twoSteps);
  const first = await project.open();
  const started = await project.start(first, file, { task: "x" }, "key-1");
  expect(started.duplicate).toBe(false);
  expect(await project.start(first, file, { task: "x" }, "key-1")).toEqual({ id: started.id, duplicate: true });
  expect((await first.drive(started.id)).state).toBe("completed");
  await first.close();
  const second = await project.open();
  project.append("job.workflow.ts", "// changed since\n");
  expect(await project.start(second, file, { task: "x" }, "key-1")).toEqual({ id: started.id, duplicate: true });
  await expect(project.start(second, file, { task: "y" }, "key-1")).rejects.toMatchObject({ code: "keyReused", subject: started.id });
  expect((await second.runs()).items).toHaveLength(1);
  expect(project.side).toEqual(["first", "second"]);
});

test("HOST-4 starts with one key at the same time make one run", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(twoSteps);
  const started = await Promise.all([1, 2, 3].map(() => project.start(host, file, { task: "x" }, "k")));
  expect(new Set(started.map(({ id }) => id)).size).toBe(1);
  expect(started.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
});

test("HOST-5 a run is found by an end of its id, and an unknown one names the closest", async () => {
  const project = new Project();
  const host = await project.open();
  await expect(host.run("ABCDEF")).rejects.toMatchObject({ code: "unknownRun", message: expect.stringContaining("has no runs") });
  const { id } = await project.start(host, project.workflow(twoSteps));
  expect((await host.run(id.slice(-6).toLowerCase())).id).toBe(id);
  const wrong = `${id.slice(-8, -5)}@${id.slice(-4)}`;
  await expect(host.run(wrong)).rejects.toMatchObject({ code: "unknownRun", message: expect.stringContaining(id) });
  await expect(host.run(id.slice(-2))).rejects.toMatchObject({ code: "unknownRun" });
});

test("HOST-6 two hosts on one directory: the second is told who owns it, a reader is not in the way", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, project.workflow(twoSteps));
  await expect(openEmbedded({ home: project.home })).rejects.toMatchObject({ code: "ownedElsewhere", message: expect.stringContaining(String(process.pid)) });
  const reader = await openReader({ home: project.home });
  expect((await host.drive(id)).state).toBe("completed");
  expect(await reader.run(id)).toMatchObject({ state: "completed" });
  await reader.close();
  await host.close();
  expect((await (await project.open()).run(id)).state).toBe("completed");
});

test("HOST-6 a directory that does not exist reads as empty and is not made", async () => {
  const project = new Project();
  const reader = await openReader({ home: project.home });
  expect(await reader.runs()).toEqual({ items: [], cursor: null });
  expect(await reader.decisions()).toEqual({ items: [], cursor: null });
  expect(await reader.effects()).toEqual({ items: [], cursor: null });
  await expect(reader.run("r_x")).rejects.toMatchObject({ code: "unknownRun" });
  await reader.close();
  expect(existsSync(project.home)).toBe(false);
});

test("HOST-7 editing and deleting a workflow's files changes nothing for a run that has begun", async () => {
  const project = new Project();
  project.write("lib/words.ts", `export const word = "old";\n`);
  const file = project.workflow(`${askNode()}.node("after", compute(() => word)).node("end", compute(() => "end"))`, {
    head: `import { word } from "./lib/words.ts";`,
  });
  const first = await project.open();
  const parked = await project.run(first, file);
  await first.close();
  project.write("lib/words.ts", `export const word = "new";\n`);
  rmSync(file);
  rmSync(project.file("home/sources"), { recursive: true });
  const second = await project.open();
  await second.answer({ decision: openCode(parked), choice: "go", source: person });
  expect(await second.drive(parked.id)).toMatchObject({ state: "completed", result: "old" });
});

test("HOST-7 a new run is blocked, not failed, while a file stands where stored sources go", async () => {
  const project = new Project();
  const host = await project.open();
  const sources = path.join(project.home, "sources");
  writeFileSync(sources, "");
  const { id } = await project.start(host, project.workflow(`.node("end", compute(() => "end"))`));
  expect(await host.drive(id)).toMatchObject({
    state: "blocked",
    reason: { code: "sourceUnloadable", message: expect.stringMatching(/cannot be written to .*(?:ENOTDIR|EEXIST)/) },
  });
  expect(readFileSync(sources, "utf8")).toBe("");
  rmSync(sources);
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: "end" });
});

test("HOST-7 a run whose sources cannot be loaded waits for the cause to go, and loses nothing", async () => {
  const project = new Project();
  const dependency = `export const value = 7;\n`;
  project.write("node_modules/dep/package.json", `{"name":"dep","type":"module","exports":"./index.js"}`);
  project.write("node_modules/dep/index.js", dependency);
  const file = project.workflow(`${askNode()}.node("after", compute(() => value)).node("end", compute(() => "end"))`, { head: `import { value } from "dep";` });
  const first = await project.open();
  const [parked, waiting] = [await project.run(first, file), await project.run(first, file)];
  const { id: queued } = await project.start(first, file);
  await first.close();
  rmSync(project.file("node_modules"), { recursive: true });
  const second = await project.open();
  expect(await second.answer({ decision: openCode(parked), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  await expect(second.drive(parked.id)).rejects.toMatchObject({ code: "sourceUnloadable" });
  expect((await second.run(parked.id)).state).toBe("running");
  // One that waits for a person goes on waiting, and can be looked at and answered.
  expect((await second.drive(waiting.id)).state).toBe("waiting");
  expect(await second.drive(queued)).toMatchObject({ state: "blocked", reason: { code: "sourceUnloadable", message: expect.stringContaining("dep") } });
  project.write("node_modules/dep/package.json", `{"name":"dep","type":"module","exports":"./index.js"}`);
  project.write("node_modules/dep/index.js", dependency);
  expect(await second.drive(parked.id)).toMatchObject({ state: "completed", result: 7 });
  expect((await second.drive(queued)).state).toBe("waiting");
});

test("HOST-8 a large input and output come back whole", async () => {
  const project = new Project();
  const host = await project.open();
  const big = "ä".repeat(100_000);
  const view = await project.run(
    host,
    project.workflow(`.node("a", compute(({ input }) => input.task + "!"), "b").node("b", compute(({ outputs }) => outputs.a))`),
    { task: big },
  );
  expect(view.input).toEqual({ task: big });
  expect(view.result).toBe(`${big}!`);
});

test("HOST-9 a loop reads the last results and its visits keep the case each took", async () => {
  const project = new Project();
  const host = await project.open();
  const file =
    project.workflow(`.node("count", compute(({ results }) => { const last = results.count; return last?.status === "accepted" ? (last.output as number) + 1 : 1; }, { route: (n) => (n < 4 ? "again" : "enough") }), { again: "count", enough: "end" })
.node("end", compute(({ outputs }) => outputs.count))`);
  const view = await project.run(host, file);
  expect(view).toMatchObject({ state: "completed", result: 4 });
  expect(view.visits.map(({ node, case: taken, output }) => [node, taken, output])).toEqual([
    ["count", "again", 1],
    ["count", "again", 2],
    ["count", "again", 3],
    ["count", "enough", 4],
    ["end", "done", 4],
  ]);
});

test("HOST-9 what one callback does to an output is not seen by another", async () => {
  const project = new Project();
  const host = await project.open();
  const view = await project.run(
    host,
    project.workflow(
      `.node("a", compute(() => ({ list: [3, 1, 2] })), "b").node("b", compute(({ outputs }) => outputs.a.list.sort()), "c").node("c", compute(({ outputs }) => outputs.a.list))`,
    ),
  );
  expect(view.result).toEqual([3, 1, 2]);
});

test("HOST-9 a compute step costs one commit", async () => {
  const project = new Project();
  let commits = 0;
  const host = await project.open({ hooks: { afterCommit: (number) => (commits = number) } });
  const chain = Array.from({ length: 20 }, (_, i) => `.node("n${i}", compute(() => ${i})${i < 19 ? `, "n${i + 1}"` : ""})`).join("\n");
  const { id } = await project.start(host, project.workflow(chain));
  expect(commits).toBe(1);
  expect((await host.drive(id)).state).toBe("completed");
  // Activated, prepared, and one for each step.
  expect(commits).toBe(1 + 2 + 20);
});
