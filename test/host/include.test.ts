import { mkdirSync } from "node:fs";
import { expect, test, vi } from "vitest";
import type { RunView } from "../../src/host/api.ts";
import { examine } from "../../src/host/maintenance/doctor.ts";
import { exportState } from "../../src/host/maintenance/export.ts";
import { pruneRuns } from "../../src/host/maintenance/prune.ts";
import { openReader } from "../../src/host/openReader.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { openCode, person, Project } from "./kit.ts";

const head = 'import { include, wait, checkpoint } from "pawl";\nimport child from "./child.workflow.ts";';

/** A child of the project and the workflow that includes it, at a node `sub`. */
function files(
  project: Project,
  child: string,
  routes: string,
  after: string,
  { input = "z.object({ n: z.number() })", given = "{ n: 1 }", childHead = 'import { include, wait, checkpoint } from "pawl";' } = {},
): string {
  project.workflow(child, { name: "child", input, head: childHead });
  return project.workflow(
    `.node("before", compute(() => 10)).node("sub", include(child, { input: ${given} }), ${routes})${after}`.replace(
      "compute(() => 10))",
      'compute(() => 10), "sub")',
    ),
    { head },
  );
}

const nodes = (view: RunView): readonly string[] => view.visits.map(({ node, status }) => `${node} ${status}`);

test("INC-1 INC-2 an included workflow begins with what its schema made of the input, and its end node is the case and the output", async () => {
  const project = new Project();
  const host = await project.open();
  const file = files(
    project,
    `.node("first", compute(({ input, outputs, results }) => { mark(JSON.stringify([input, Object.keys(outputs), Object.keys(results)])); return input.n + input.more; }), "small")
     .node("small", compute(({ outputs }) => outputs.first * 2))`,
    '{ small: "after" }',
    '.node("after", compute(({ outputs }) => outputs.sub + outputs.before))',
    { input: "z.object({ n: z.number(), more: z.number().default(5) })", given: "({ outputs }) => ({ n: outputs.before })" },
  );
  const view = await project.run(host, file);
  expect(view).toMatchObject({ state: "completed", result: 40 });
  expect(nodes(view)).toEqual(["before accepted", "sub accepted", "sub/first accepted", "sub/small accepted", "after accepted"]);
  expect(view.visits.map(({ id }) => id.slice(view.id.length))).toEqual([
    "/graph/before.1",
    "/graph/sub.2",
    "/graph/sub.2/graph/first.1",
    "/graph/sub.2/graph/small.2",
    "/graph/after.3",
  ]);
  expect(view.visits[1]).toMatchObject({ kind: "include", case: "small", output: 30 });
  expect(project.side).toEqual([JSON.stringify([{ n: 10, more: 5 }, [], []])]);
});

test("INC-2 each end node is a case; a failure and a timeout take the include's own routes", async () => {
  for (const [n, result] of [
    [1, "one"],
    [2, "two"],
    [3, "failed"],
  ] as const) {
    const project = new Project();
    const host = await project.open();
    const file = files(
      project,
      `.node("pick", compute(({ input }) => { if (input.n === 3) throw new Error("no such thing"); return input.n; }, { route: (n) => (n === 1 ? "low" : "high") }), { low: "one", high: "two" })
       .node("one", compute(() => "one")).node("two", compute(() => "two"))`,
      '{ one: "end", two: "end", failed: "lost" }',
      '.node("end", compute(({ outputs }) => outputs.sub)).node("lost", compute(({ results }) => results.sub.status + results.sub.error.message))',
      { given: `{ n: ${n} }` },
    );
    expect(await project.run(host, file)).toMatchObject({
      state: "completed",
      result: result === "failed" ? expect.stringMatching(/^failed.*no such thing/) : result,
    });
  }
});

test("INC-4 an input that does not fit fails the visit with the path, and nothing of the workflow runs", async () => {
  const project = new Project();
  const host = await project.open();
  const file = files(project, '.node("only", compute(() => { mark("ran"); return 1; }))', '{ only: "after" }', '.node("after", compute(() => 1))', {
    given: '() => ({ n: "x" })',
  });
  expect(await project.run(host, file)).toMatchObject({
    state: "failed",
    reason: { code: "invalidInput", message: expect.stringMatching(/Node "sub" gave an input that does not fit workflow "child": n: /) },
  });
  expect(project.side).toEqual([]);
});

const asking =
  '.node("one", compute(() => { mark("one"); return 1; }), "ask").node("ask", humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "Go on?", subject: 1 }) }), { go: "yes", stop: "no", replan: "ask" }).node("yes", compute(() => "yes")).node("no", compute(() => "no"))';

/** `outer` includes `middle` includes `child`, which asks. */
function nested(project: Project): string {
  project.workflow(asking, { name: "child", input: "z.object({})", head: "" });
  project.workflow('.node("low", include(child, { input: {} }), { yes: "up", no: "up" }).node("up", compute(({ outputs }) => "up " + outputs.low))', {
    name: "middle",
    input: "z.object({})",
    head,
  });
  return project.workflow('.node("top", include(middle, { input: {} }), { up: "end" }).node("end", compute(({ outputs }) => outputs.top))', {
    name: "outer",
    head: 'import { include } from "pawl";\nimport middle from "./middle.workflow.ts";',
  });
}

test("INC-3 INC-5 case 13 case 16 a decision two workflows deep parks the run and resumes at the inner node, in another process", async () => {
  const project = new Project();
  const host = await project.open();
  const view = await project.run(host, nested(project));
  expect(view).toMatchObject({ state: "waiting", current: "top/low/ask", decisions: [{ state: "open", node: "ask" }] });
  await host.close();
  const next = await project.open();
  expect(await next.answer({ decision: openCode(view), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  const done = await next.drive(view.id);
  expect(done).toMatchObject({ state: "completed", result: "up yes" });
  expect(nodes(done)).toEqual([
    "top accepted",
    "top/low accepted",
    "top/low/one accepted",
    "top/low/ask accepted",
    "top/low/yes accepted",
    "top/up accepted",
    "end accepted",
  ]);
  expect(project.side).toEqual(["one"]);
});

test("INC-6 a pause reaches inwards: the inner step ends, no other begins before the resume, and an inner decision settles meanwhile", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.run(host, nested(project));
  await host.pause(id);
  await host.answer({ decision: openCode(await host.run(id)), choice: "stop", source: person });
  expect(await host.drive(id)).toMatchObject({ state: "paused", current: "top/low/no" });
  await host.resume(id);
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: "up no" });
});

test("INC-6 a run paused while the input is asked for begins nothing of the workflow before the resume", async () => {
  const project = new Project();
  const host = await project.open();
  const file = files(project, '.node("only", compute(() => { mark("ran"); return 1; }))', '{ only: "after" }', '.node("after", compute(() => 1))', {
    given: 'async () => { mark("asked"); while (!existsSync("' + project.file("go") + '")) await new Promise((r) => setTimeout(r, 5)); return { n: 1 }; }',
  });
  const { id } = await project.start(host, file);
  const driven = host.drive(id);
  await vi.waitFor(() => expect(project.side).toEqual(["asked"]), { timeout: 10_000, interval: 5 });
  await host.pause(id);
  project.write("go", "1");
  expect(await driven).toMatchObject({ state: "paused", current: "sub" });
  expect(project.side).toEqual(["asked"]);
  await host.resume(id);
  expect(await host.drive(id)).toMatchObject({ state: "completed" });
  expect(project.side).toEqual(["asked", "ran"]);
});

test("INC-6 the deadline of an inner step stands still while the run is paused, also one that was entered then", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const file = files(
    project,
    '.node("rest", wait({ forMs: 100_000, timeoutMs: 1000 }), { done: "end", timedOut: "late" }).node("end", compute(() => "end")).node("late", compute(() => "late"))',
    '{ end: "after", late: "after" }',
    '.node("after", compute(({ outputs }) => outputs.sub))',
  );
  const { id } = await project.run(host, file);
  await host.pause(id);
  clock.advance(5000);
  await host.resume(id);
  expect(await host.drive(id)).toMatchObject({ state: "waiting", current: "sub/rest" });
  clock.advance(1000);
  await vi.waitFor(async () => expect((await host.run(id)).state).toBe("running"), { timeout: 10_000, interval: 5 });
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: "late" });
});

test("INC-7 an unknown outcome inside is the run's, and a person's word about it goes to the inner step", async () => {
  const project = new Project();
  const child =
    '.node("send", action({ once: true, run: () => { mark("sent"); throw new Error("cut off"); } , output: z.object({ sent: z.boolean() }) }), "end").node("end", compute(({ outputs }) => outputs.send.sent))';
  const host = await project.open();
  const file = files(project, child, '{ end: "after" }', '.node("after", compute(({ outputs }) => outputs.sub))');
  const view = await project.run(host, file);
  expect(view).toMatchObject({ state: "ambiguous", current: "sub/send", ambiguous: [{ visit: `${view.id}/graph/sub.2/graph/send.1` }] });
  const key = view.ambiguous[0]?.key ?? "";
  await expect(host.confirmEffect(key, { sent: 1 })).rejects.toMatchObject({ code: "invalidInput", message: expect.stringContaining("sub/send") });
  await host.confirmEffect(key, { sent: true });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: true });
  expect(project.side).toEqual(["sent"]);
});

test("INC-8 a loop enters the workflow anew each time, with a new visit and new inner visits", async () => {
  const project = new Project();
  const host = await project.open();
  const file = files(
    project,
    '.node("only", compute(({ input, results }) => { mark(input.n + " " + (results.only?.status ?? "none")); return input.n; }))',
    '{ only: "again" }',
    '.node("again", compute(({ outputs }) => outputs.sub, { route: (n) => (n < 3 ? "more" : "enough") }), { more: "sub", enough: "end" }).node("end", compute(({ outputs }) => outputs.sub))',
    { given: '({ results }) => ({ n: (results.sub?.status === "accepted" ? results.sub.output : 0) + 1 })' },
  );
  const view = await project.run(host, file);
  expect(view).toMatchObject({ state: "completed", result: 3 });
  expect(project.side).toEqual(["1 none", "2 none", "3 none"]);
  expect(new Set(view.visits.map(({ id }) => id)).size).toBe(view.visits.length);
  expect(view.visits.filter(({ node }) => node === "sub/only").map(({ id }) => id.slice(view.id.length))).toEqual([
    "/graph/sub.2/graph/only.1",
    "/graph/sub.4/graph/only.1",
    "/graph/sub.6/graph/only.1",
  ]);
});

test("INC-9 maxSteps counts the nodes of included workflows, and bounds them too", async () => {
  const loop =
    '.node("round", compute(() => { mark("round"); return 1; }), "turn").node("turn", compute(() => 1, { route: () => "on" , cases: ["on", "off"] }), { on: "round", off: "end" }).node("end", compute(() => 1))';
  const project = new Project();
  const host = await project.open();
  project.workflow(loop, { name: "child", input: "z.object({})", head: "" });
  project.write(
    "job.workflow.ts",
    `import { compute, include, workflow } from "pawl";\nimport { z } from "zod";\nimport child from "./child.workflow.ts";
     export default workflow({ name: "job", input: z.object({}), maxSteps: 9 }).node("sub", include(child, { input: {} }), { end: "after", failed: "after" }).node("after", compute(() => 1)).build();`,
  );
  const view = await project.run(host, project.file("job.workflow.ts"));
  expect(view).toMatchObject({ state: "failed", reason: { code: "maxSteps", message: expect.stringContaining("entered 9 nodes") } });
  expect(view.visits[0]?.error?.message).toContain("The included workflow has entered 8 nodes, all that maxSteps left it");
  // One entry is the include's own.
  expect(view.visits).toHaveLength(9);
  expect(nodes(view).at(0)).toBe("sub failed");
});

test("INC-9 what timed out inside has counted", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  project.workflow(
    '.node("one", compute(() => 1), "two").node("two", compute(() => 1), "rest").node("rest", wait({ forMs: 60_000 }), "end").node("end", compute(() => 1))',
    { name: "child", input: "z.object({})", head: 'import { wait } from "pawl";' },
  );
  project.write(
    "job.workflow.ts",
    `import { compute, include, workflow } from "pawl";\nimport { z } from "zod";\nimport child from "./child.workflow.ts";
     export default workflow({ name: "job", input: z.object({}), maxSteps: 7 }).node("sub", include(child, { input: {}, timeoutMs: 1000 }), { end: "after", timedOut: "again" })
       .node("again", compute(() => 1), "sub").node("after", compute(() => 1)).build();`,
  );
  const { id } = await project.run(host, project.file("job.workflow.ts"));
  clock.advance(1000);
  await vi.waitFor(async () => expect((await host.run(id)).state).toBe("running"), { timeout: 10_000, interval: 5 });
  // Four entries of the first time, one of "again", one of the second include: one inner node is left.
  const view = await host.drive(id);
  expect(view).toMatchObject({ state: "failed", reason: { code: "maxSteps" } });
  expect(nodes(view)).toEqual([
    "sub timedOut",
    "sub/one accepted",
    "sub/two accepted",
    "sub/rest cancelled",
    "again accepted",
    "sub failed",
    "sub/one accepted",
  ]);
});

test("INC-10 a cancelled run ends what is inside, and a finished one is exported, pruned and checked with the graphs that it includes", async () => {
  const project = new Project();
  const host = await project.open();
  const file = nested(project);
  const { id } = await project.run(host, file);
  expect(await host.cancel(id, "user")).toMatchObject({ state: "cancelled", decisions: [{ state: "cancelled" }] });
  await host.close();
  expect(await examine({ home: project.home })).toMatchObject({ verdict: "ok" });
  expect(await examine({ home: project.home, replay: "" })).toMatchObject({ verdict: "ok" });
  const copy = project.file("copy");
  mkdirSync(copy, { mode: 0o700 });
  await exportState({ home: project.home, run: id, to: `${copy}/pawl.db` });
  const reader = await openReader({ home: copy });
  expect(nodes(await reader.run(id))).toEqual(["top cancelled", "top/low cancelled", "top/low/one accepted", "top/low/ask cancelled"]);
  await reader.close();
  expect(await examine({ home: copy })).toMatchObject({ checks: expect.arrayContaining([expect.objectContaining({ name: "blobs", findings: [] })]) });
  expect(await pruneRuns({ home: project.home, keep: 0 })).toMatchObject({ runs: [{ id }] });
  expect(await examine({ home: project.home })).toMatchObject({ checks: expect.arrayContaining([expect.objectContaining({ name: "blobs", findings: [] })]) });
});

test("INC-6 RUN-22 a run of a session that waits inside lets another run have the session, and goes on inside when it has it again", async () => {
  const project = new Project();
  const host = await project.open();
  const file = nested(project);
  const start = (key: string) => host.start({ workflow: file, input: {}, cwd: project.directory, session: "s", idempotencyKey: key });
  const first = (await start("one")).id;
  expect(await host.drive(first)).toMatchObject({ state: "waiting", current: "top/low/ask" });
  const second = (await start("two")).id;
  expect(await host.drive(second)).toMatchObject({ state: "waiting", current: "top/low/ask" });
  for (const [id, choice, result] of [
    [second, "go", "up yes"],
    [first, "stop", "up no"],
  ] as const) {
    await host.answer({ decision: openCode(await host.run(id)), choice, source: person });
    expect(await host.drive(id)).toMatchObject({ state: "completed", result });
  }
  expect(project.side).toEqual(["one", "one"]);
});
