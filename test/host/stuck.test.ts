import { rmSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { askNode, hostProcess, openCode, person, Project } from "./kit.ts";

const steps = (project: Project, name = "job"): string =>
  project.workflow(
    `.node("first", compute(async ({ signal }) => { mark(${JSON.stringify(name)}); while (!signal.aborted && !existsSync(${JSON.stringify(project.file("go"))})) await new Promise((resolve) => setTimeout(resolve, 5)); return 1; }), "second")
     .node("second", compute(() => 2))`,
    { name },
  );

test("case 96 cancelling one run leaves the others that run and wait beside it alone", async () => {
  const project = new Project();
  const host = await project.open();
  const waiting = await project.run(
    host,
    project.workflow(`${askNode(`{ go: "end", stop: "end", replan: "ask" }`)}.node("end", compute(() => 1))`, { name: "asks" }),
  );
  const file = steps(project);
  const [one, two] = [await project.start(host, file), await project.start(host, file)];
  const driving = [host.drive(one.id), host.drive(two.id)];
  await vi.waitFor(() => expect(project.side).toEqual(["asked", "job", "job"]));
  expect(await host.cancel(two.id, "user")).toMatchObject({ state: "cancelled" });
  expect(await host.run(waiting.id)).toMatchObject({ state: "waiting" });
  expect(await host.run(one.id)).toMatchObject({ state: "running" });
  project.write("go", "");
  expect((await Promise.all(driving)).map(({ state }) => state)).toEqual(["completed", "cancelled"]);
});

test("case 88 a cancelled queued run never starts", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, steps(project));
  await host.cancel(id, "user");
  expect(await host.drive(id)).toMatchObject({ state: "cancelled", reason: { code: "userCancelled" }, visits: [] });
  expect(project.side).toEqual([]);
});

test("case 92 case 97 a run whose stored workflow cannot be loaded says so and is not left pending, others go on, and it starts when it can", async () => {
  const project = new Project();
  const host = await project.open();
  project.write("dep.ts", `import "./deeper.ts"; export const one = 1;`);
  project.write("deeper.ts", `if (process.env["PAWL_TEST_BROKEN"] === "1") throw new Error("it broke while it was loaded");`);
  const broken = project.workflow(`.node("only", compute(() => one))`, { name: "broken", head: `import { one } from "./dep.ts";` });
  const { id } = await project.start(host, broken);
  await host.close();
  process.env["PAWL_TEST_BROKEN"] = "1";
  try {
    const second = await project.open();
    expect(await second.drive(id)).toMatchObject({
      state: "blocked",
      since: expect.any(Number),
      reason: { code: "sourceUnloadable", message: expect.stringContaining("it broke while it was loaded") },
    });
    project.write("go", "");
    expect(await project.run(second, steps(project))).toMatchObject({ state: "completed" });
    delete process.env["PAWL_TEST_BROKEN"];
    await second.resume(id);
    expect(await second.drive(id)).toMatchObject({ state: "completed", result: 1 });
  } finally {
    delete process.env["PAWL_TEST_BROKEN"];
  }
});

test("case 108 editing, emptying and deleting the workflow's files under a live run changes nothing for it", async () => {
  const project = new Project();
  const host = await project.open();
  project.write("dep.ts", `export const answer = 42;`);
  const file = project.workflow(`${askNode(`{ go: "after", stop: "after", replan: "ask" }`)}.node("after", compute(() => { mark("after"); return answer; }))`, {
    head: `import { answer } from "./dep.ts";`,
  });
  const waiting = await project.run(host, file);
  project.write("dep.ts", `export const answer = 0;`);
  project.write("job.workflow.ts", `throw new Error("edited");`);
  await host.close();
  rmSync(project.file("dep.ts"));
  const second = await project.open();
  await second.answer({ decision: openCode(waiting), choice: "go", source: person });
  expect(await second.drive(waiting.id)).toMatchObject({ state: "completed", result: 42 });
});

test("case 60 a run whose owner is killed while it starts is taken up by the next owner, once", { timeout: 60_000 }, async () => {
  const project = new Project();
  // Loading it takes until the file is there: the owner is killed meanwhile.
  const file = project.workflow(`.node("only", compute(() => { mark("only"); return 1; }))`, {
    input: `z.object({}).refine(async () => { mark("parsing"); for (let n = 0; !existsSync(${JSON.stringify(project.file("go"))}) && n < 1000; n += 1) await new Promise((resolve) => setTimeout(resolve, 10)); return true; })`,
  });
  const first = await project.open();
  project.write("go", "");
  const { id } = await project.start(first, file);
  await first.close();
  rmSync(project.file("go"));
  const asked = project.side.length;
  const owner = hostProcess(project, file, id);
  await vi.waitFor(() => expect(project.side.length).toBeGreaterThan(asked), { timeout: 20_000 });
  process.kill(owner.pid, "SIGKILL");
  await owner.ended;
  project.write("go", "");
  const next = await project.open();
  expect(await next.run(id)).toMatchObject({ state: "starting" });
  expect(await next.drive(id)).toMatchObject({ state: "completed", result: 1 });
  expect(project.side.filter((line) => line === "only")).toEqual(["only"]);
});
