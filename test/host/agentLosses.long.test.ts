/** What an agent step survives: the loss of its code's process, and an output beyond every limit. */
import { expect, test } from "vitest";
import { scriptedAgent } from "../../src/testing.ts";
import { Project } from "./kit.ts";

const head = `import { agent } from "pawl";
const dieOnce = (name: string): void => {
  mark(name);
  if (existsSync(${"FLAG"} + name)) return;
  appendFileSync(${"FLAG"} + name, "");
  process.kill(process.pid, "SIGKILL");
};`;

test("AGENT-18 a worker that is killed in a prompt or in validate costs an attempt: the agent is asked once, and its output is looked at again", async () => {
  const project = new Project();
  const agent = scriptedAgent([{ submit: 4 }]);
  const host = await project.open({ author: "workers", agent });
  const file = project.workflow(
    `.node("plan", agent({ prompt: () => { dieOnce("prompt"); return "Plan"; }, output: z.number(), validate: () => { dieOnce("validate"); } }), "end")
.node("end", compute(({ outputs }) => outputs.plan + 1))`,
    { head: head.replaceAll("FLAG", JSON.stringify(project.file("flag-"))) },
  );
  expect(await project.run(host, file)).toMatchObject({ state: "completed", result: 5 });
  expect(agent.steps).toHaveLength(1);
  expect(agent.answers).toMatchObject([{ status: "accepted" }]);
  expect(project.side).toEqual(["prompt", "prompt", "validate", "validate"]);
});

test("AGENT-18 a validate that takes its worker down each time fails the visit as workerCrashed", async () => {
  const project = new Project();
  const host = await project.open({ author: "workers", agent: scriptedAgent([{ submit: 4 }]) });
  const file = project.workflow(`.node("plan", agent({ prompt: "Plan", validate: () => { mark("validate"); process.kill(process.pid, "SIGKILL"); } }))`, {
    head: `import { agent } from "pawl";`,
  });
  expect(await project.run(host, file)).toMatchObject({ state: "failed", reason: { code: "workerCrashed" } });
  expect(project.side).toEqual(["validate", "validate", "validate"]);
});

test("AGENT-2 case 122 an output over the limit is refused with size and limit, and the step goes on", { timeout: 120_000 }, async () => {
  const project = new Project();
  const agent = scriptedAgent([{ submits: ["x".repeat(64 * 1024 * 1024), "small"] }]);
  const host = await project.open({ agent });
  const file = project.workflow(`.node("plan", agent({ prompt: "Plan" }))`, { head: `import { agent } from "pawl";` });
  expect(await project.run(host, file)).toMatchObject({ state: "completed", result: "small" });
  expect(agent.answers).toMatchObject([
    { status: "refused", text: expect.stringMatching(/67108866 bytes of JSON; the limit is 67108864/) },
    { status: "accepted" },
  ]);
});
