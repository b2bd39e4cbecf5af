/** Composed nodes on real hosts that are killed in the middle: what goes on by itself, and what still waits. */
import { expect, test, vi } from "vitest";
import { endHost, realHost } from "./daemonKit.ts";
import { openCode, person, Project } from "./kit.ts";

const timeout = 120_000;
const patience = { timeout: 30_000, interval: 50 };

/** A host of the same directory after the one before it was killed. */
async function afterKill(project: Project) {
  await endHost(project.home);
  return realHost(project.home);
}

test("WAIT-1 case 41 case 49 a host is killed in the middle of a wait: the next one ends it at its time, without a command", { timeout }, async () => {
  const project = new Project();
  const first = realHost(project.home);
  const file = project.workflow('.node("rest", wait({ forMs: 3_000 }), "after").node("after", compute(({ outputs, now }) => [outputs.rest.dueAt, now]))', {
    head: 'import { wait } from "pawl";',
  });
  const { id } = await first.start({ workflow: file, input: {}, cwd: project.directory });
  await vi.waitFor(async () => expect(await first.run(id)).toMatchObject({ state: "waiting" }), patience);
  const { awaits } = await first.run(id);
  const next = await afterKill(project);
  await vi.waitFor(async () => expect((await next.run(id)).state).toBe("completed"), patience);
  const { result } = await next.run(id);
  const [dueAt, ended] = result as [number, number]; // what the last step gave
  expect(awaits).toMatchObject({ kind: "time", dueAt });
  expect(ended).toBeGreaterThanOrEqual(dueAt);
});

test(
  "INC-5 CHK-4 a host is killed while a decision and a checkpoint wait in an included workflow: both are answered on the next one",
  { timeout },
  async () => {
    const project = new Project();
    project.workflow(
      `.node("first", action({ run: () => mark("first") }), "ask")
     .node("ask", humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "Go on?", subject: 1 }) }), { go: "look", stop: "no", replan: "ask" })
     .node("look", checkpoint({ output: z.object({ n: z.number() }) }), "yes").node("yes", compute(({ outputs }) => outputs.look.n)).node("no", compute(() => 0))`,
      { name: "child", input: "z.object({})", head: 'import { checkpoint } from "pawl";' },
    );
    const file = project.workflow('.node("sub", include(child, { input: {} }), { yes: "end", no: "end" }).node("end", compute(({ outputs }) => outputs.sub))', {
      head: 'import { include } from "pawl";\nimport child from "./child.workflow.ts";',
    });
    const first = realHost(project.home);
    const { id } = await first.start({ workflow: file, input: {}, cwd: project.directory });
    await vi.waitFor(async () => expect(await first.run(id)).toMatchObject({ state: "waiting", current: "sub/ask" }), patience);
    const second = await afterKill(project);
    expect(await second.answer({ decision: openCode(await second.run(id)), choice: "go", source: person })).toMatchObject({ status: "accepted" });
    await vi.waitFor(async () => expect(await second.run(id)).toMatchObject({ awaits: { kind: "checkpoint", node: "sub/look" } }), patience);
    const third = await afterKill(project);
    await expect(third.answerCheckpoint({ run: id, output: { n: "1" }, source: person })).rejects.toMatchObject({ code: "invalidInput", path: "n" });
    const answer = { run: id, output: { n: 7 }, source: person, idempotencyKey: "k1" };
    expect(await third.answerCheckpoint(answer)).toMatchObject({ status: "accepted" });
    await vi.waitFor(async () => expect(await third.run(id)).toMatchObject({ state: "completed", result: 7 }), patience);
    // Repeated to a host that never heard of it, it is the same answer still.
    expect(await (await afterKill(project)).answerCheckpoint(answer)).toMatchObject({ status: "duplicate" });
    expect(project.side).toEqual(["first"]);
  },
);

test("BATCH-2 a host is killed in the middle of a batch: what had ended is not run again, and the next host goes on by itself", { timeout }, async () => {
  const project = new Project();
  const line = (i: number): string => `echo begun${i} >> side.txt; while [ ! -e go${i} ]; do sleep 0.02; done; echo ended${i} >> side.txt`;
  const commands = [0, 1, 2].map((i) => `{ command: ${JSON.stringify(line(i))}, shell: true }`).join(", ");
  const file = project.workflow(`.node("many", batch({ commands: [${commands}], concurrency: 2 }))`, { head: 'import { batch } from "pawl";' });
  project.write("go0", "");
  const first = realHost(project.home);
  const { id } = await first.start({ workflow: file, input: {}, cwd: project.directory });
  await vi.waitFor(() => expect(project.side).toEqual(expect.arrayContaining(["ended0", "begun1", "begun2"])), patience);
  const next = await afterKill(project);
  const count = (line: string): number => project.side.filter((text) => text === line).length;
  await next.status();
  // What was left of them is ended before they begin again: only the new ones can end.
  await vi.waitFor(() => expect([count("begun1"), count("begun2")]).toEqual([2, 2]), patience);
  for (const i of [1, 2]) project.write(`go${i}`, "");
  await vi.waitFor(
    async () => expect(await next.run(id)).toMatchObject({ state: "completed", result: [{ status: "ok" }, { status: "ok" }, { status: "ok" }] }),
    patience,
  );
  expect([0, 1, 2].map((i) => [count(`begun${i}`), count(`ended${i}`)])).toEqual([
    [1, 1],
    [2, 1],
    [2, 1],
  ]);
});
