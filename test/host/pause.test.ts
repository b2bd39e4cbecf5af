import { existsSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { askNode, openCode, person, Project, watch } from "./kit.ts";

/** Two steps: the first ends when the file `go` is there. */
const gated = (project: Project, more = ""): string =>
  project.workflow(
    `.node("first", compute(async () => { mark("first"); while (!existsSync(${JSON.stringify(project.file("go"))})) await new Promise((resolve) => setTimeout(resolve, 5)); ${more} return 1; }), ${more === "" ? `"second"` : `{ done: "second", failed: "second" }`})
     .node("second", compute(() => { mark("second"); return 2; }))`,
  );

test("RUN-20 a pause lets the step that runs end, saves it, and begins no other until the run is resumed", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, gated(project));
  const driving = host.drive(id);
  await vi.waitFor(() => expect(project.side).toEqual(["first"]));
  expect(await host.pause(id)).toMatchObject({ state: "pausing", pausedAt: expect.any(Number) });
  const again = await host.pause(id);
  project.write("go", "");
  const paused = await driving;
  expect(paused).toMatchObject({ state: "paused", current: "second", pausedAt: again.pausedAt });
  expect(paused.visits.map(({ node, status }) => [node, status])).toEqual([["first", "accepted"]]);
  expect(project.side).toEqual(["first"]);
  expect(await host.drive(id)).toMatchObject({ state: "paused" });
  expect(await host.resume(id)).toMatchObject({ pausedAt: null });
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: 2 });
  expect(project.side).toEqual(["first", "second"]);
});

test("RUN-20 a pause survives the end of its owner, and a resume before the step ends takes it back", async () => {
  const project = new Project();
  const first = await project.open();
  const { id } = await project.start(first, gated(project));
  await first.pause(id);
  expect(await first.drive(id)).toMatchObject({ state: "paused" });
  expect(project.side).toEqual([]);
  await first.close();
  const second = await project.open();
  expect(await second.drive(id)).toMatchObject({ state: "paused" });
  await second.resume(id);
  const driving = second.drive(id);
  await vi.waitFor(() => expect(project.side).toEqual(["first"]));
  await second.pause(id);
  expect(await second.resume(id)).toMatchObject({ state: "running", pausedAt: null });
  project.write("go", "");
  expect(await driving).toMatchObject({ state: "completed" });
});

test("RUN-20 a step that fails while the run is being paused takes its route, and the run is paused before the next one", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, gated(project, `throw new Error("no");`));
  const driving = host.drive(id);
  await vi.waitFor(() => expect(project.side).toEqual(["first"]));
  await host.pause(id);
  project.write("go", "");
  expect(await driving).toMatchObject({ state: "paused", current: "second" });
  await host.resume(id);
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: 2 });
});

test("RUN-20 a decision of a paused run still settles, and the run moves when it is resumed", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(
    `${askNode(`{ go: "after", stop: "after", replan: "ask" }`)}.node("after", compute(({ outputs }) => { mark("after"); return outputs.ask.choice; }))`,
  );
  const waiting = await project.run(host, file);
  expect(waiting).toMatchObject({ state: "waiting", since: expect.any(Number) });
  expect(await host.pause(waiting.id)).toMatchObject({ state: "waiting", pausedAt: expect.any(Number) });
  expect(await host.answer({ decision: openCode(waiting), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  expect(await host.drive(waiting.id)).toMatchObject({ state: "paused", current: "after" });
  expect(project.side).toEqual(["asked"]);
  await host.resume(waiting.id);
  expect(await host.drive(waiting.id)).toMatchObject({ state: "completed", result: "go" });
});

test("RUN-4 RUN-21 pausing, resuming and holding what is finished, or has no use for it, says so and changes nothing", async () => {
  const project = new Project();
  const host = await project.open();
  const done = await project.run(host, project.workflow(`.node("only", compute(() => 1))`));
  expect(await host.pause(done.id)).toEqual(done);
  expect(await host.resume(done.id)).toEqual(done);
  const { id } = await project.start(host, gated(project));
  await expect(host.hold(id)).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("is queued") });
  expect(await host.resume(id)).toMatchObject({ state: "queued" });
});

test("RUN-3 case 84 cancel ends a paused run for good", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, gated(project));
  await host.pause(id);
  await host.drive(id);
  expect(await host.cancel(id, "user")).toMatchObject({ state: "cancelled" });
  expect(await host.resume(id)).toMatchObject({ state: "cancelled" });
  expect(existsSync(project.file("side.txt"))).toBe(false);
});

test("RUN-22 one run of a session at a time: a second one is refused, and a parked one goes on when the session is free, saying for whom it waits", async () => {
  const project = new Project();
  const host = await project.open();
  const asks = project.workflow(`${askNode(`{ go: "after", stop: "after", replan: "ask" }`)}.node("after", compute(() => { mark("after"); return 1; }))`, {
    name: "asks",
  });
  const inSession = (workflow: string) => host.start({ workflow, input: {}, cwd: project.directory, session: "s1" });
  const first = await inSession(asks);
  await expect(inSession(asks)).rejects.toMatchObject({ code: "refused", subject: "s1", message: expect.stringContaining(first.id) });
  const waiting = await host.drive(first.id);
  expect(waiting.state).toBe("waiting");
  const second = await inSession(gated(project));
  const driving = host.drive(second.id);
  await vi.waitFor(() => expect(project.side).toContain("first"));
  await host.answer({ decision: openCode(waiting), choice: "go", source: person });
  expect(await host.drive(first.id)).toMatchObject({ state: "waiting", reason: { code: "sessionBusy", message: expect.stringContaining(second.id) } });
  expect(project.side).not.toContain("after");
  await expect(host.adoptRun(first.id, "s1")).resolves.toMatchObject({ state: "waiting" });
  const events = watch(host);
  project.write("go", "");
  expect(await driving).toMatchObject({ state: "completed" });
  await vi.waitFor(() => expect(events).toContainEqual(expect.objectContaining({ kind: "run", run: first.id, state: "running" })));
  expect(await host.drive(first.id)).toMatchObject({ state: "completed", result: 1 });
});

test("RUN-22 a run moves to another session, but not to one that has a run", async () => {
  const project = new Project();
  const host = await project.open();
  const file = gated(project);
  const inSession = (session: string) => host.start({ workflow: file, input: {}, cwd: project.directory, session });
  const [one, two] = [await inSession("s1"), await inSession("s2")];
  await expect(host.adoptRun(one.id, "s2")).rejects.toMatchObject({ code: "refused", message: expect.stringContaining(two.id) });
  await host.adoptRun(one.id, "s3");
  await host.adoptRun(two.id, "s1");
  project.write("go", "");
  expect(await host.drive(one.id)).toMatchObject({ state: "completed" });
  expect(await host.drive(two.id)).toMatchObject({ state: "completed" });
});

test("RUN-21 a command that comes again under its key is done once, whatever happened since", async () => {
  const project = new Project();
  const first = await project.open();
  const { id } = await project.start(first, gated(project));
  await first.pause(id, "k1");
  await first.resume(id, "k2");
  await first.close();
  const second = await project.open();
  expect(await second.pause(id, "k1")).toMatchObject({ state: "queued", pausedAt: null });
  expect(await second.pause(id, "k3")).toMatchObject({ pausedAt: expect.any(Number) });
  for (const _ of [1, 2]) await expect(second.hold(id, "k4")).rejects.toMatchObject({ code: "refused" });
});

test("RUN-22 a run that was moved while it is resumed is refused with the name of the one that has its new session", async () => {
  const project = new Project();
  const host = await project.open();
  const other = await host.start({ workflow: gated(project), input: {}, cwd: project.directory, session: "s1" });
  const { id } = await host.start({ workflow: project.workflow(`.node("only", compute(() => 1))`, { name: "free" }), input: {}, cwd: project.directory });
  await host.pause(id);
  expect(await host.drive(id)).toMatchObject({ state: "paused" });
  const [moved, resumed] = await Promise.allSettled([host.adoptRun(id, "s1"), host.resume(id)]);
  expect(moved).toMatchObject({ status: "fulfilled" });
  expect(resumed).toMatchObject({ status: "rejected", reason: { code: "refused", subject: "s1", message: expect.stringContaining(other.id) } });
});

test("RUN-22 resuming a run that would take a session which has another one names that one", async () => {
  const project = new Project();
  const host = await project.open();
  const file = gated(project);
  const inSession = (session: string) => host.start({ workflow: file, input: {}, cwd: project.directory, session });
  const paused = await inSession("s1");
  await host.pause(paused.id);
  expect(await host.drive(paused.id)).toMatchObject({ state: "paused" });
  const other = await inSession("s1");
  await expect(host.resume(paused.id)).rejects.toMatchObject({ code: "refused", subject: "s1", message: expect.stringContaining(other.id) });
  await host.cancel(other.id, "user");
  await host.resume(paused.id);
  project.write("go", "");
  expect(await host.drive(paused.id)).toMatchObject({ state: "completed" });
});
