/** Many clients of one real host. */
import { expect, test } from "vitest";
import { anotherClient, realHost } from "./daemonKit.ts";
import { Project } from "./kit.ts";

const timeout = 120_000;

test("CLIENT-7 fifty clients at once are served by one host", { timeout }, async () => {
  const project = new Project();
  const first = realHost(project.home);
  const workflow = project.workflow(`.node("a", compute(({ input }) => input.task))`);
  await first.status();
  const clients = Array.from({ length: 49 }, () => anotherClient(project.home));
  const views = await Promise.all(
    [first, ...clients].map(async (client, n) => client.drive((await client.start({ workflow, input: { task: `t${n}` }, cwd: project.directory })).id)),
  );
  expect(views.map(({ state, result }) => `${state} ${String(result)}`)).toEqual(views.map((_, n) => `completed t${n}`));
  expect((await first.runs({}, { limit: 500 })).items).toHaveLength(50);
  expect((await first.status()).clients).toBe(50);
});
