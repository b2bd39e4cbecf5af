/** A host that is killed at any commit of an agent step goes on to the end that the run would have had. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { RunView } from "../../src/host/api.ts";
import { scriptedAgent } from "../../src/testing.ts";
import { Project } from "../host/kit.ts";
import { agentTurn } from "./agentTurn.ts";

const nodes = `.node("first", compute(() => { mark("first"); return 1; }), "plan")
.node("plan", agent({ prompt: "Plan", output: z.number() }), "tell")
.node("tell", notify({ kind: "final", text: ({ outputs }) => "It is " + outputs.plan }), "end")
.node("end", compute(({ outputs }) => { mark("end"); return outputs.plan; }))`;

/** True when it was killed; its view when it came to its end. */
async function lived(project: Project, workflow: string, when: string, commit: number): Promise<"killed" | RunView> {
  const file = join(import.meta.dirname, "agentHost.ts");
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--disable-warning=ExperimentalWarning",
      file,
      project.home,
      workflow,
      project.directory,
      when,
      String(commit),
    ]);
    return JSON.parse(stdout) as RunView; // what agentHost.ts prints
  } catch (error) {
    if (error instanceof Error && "signal" in error && error.signal === "SIGKILL") return "killed";
    throw error;
  }
}

test.each(["before", "after"])(
  "AGENT-19 killed %s any commit of an agent step, a run goes on to the same end: one visit, one output, and finished work is not repeated",
  { timeout: 300_000 },
  async (when) => {
    let kills = 0;
    for (let commit = 1; commit < 60; commit += 1) {
      const project = new Project();
      const workflow = project.workflow(nodes, { head: `import { agent, notify } from "pawl";` });
      const end = await lived(project, workflow, when, commit);
      if (end !== "killed") {
        expect(end).toMatchObject({ state: "completed", result: 4 });
        expect(kills).toBeGreaterThan(10);
        return;
      }
      kills += 1;
      const agent = scriptedAgent([agentTurn]);
      const host = await project.open({ agent });
      const { id } = await project.start(host, workflow, {}, "the-run");
      const view = await host.drive(id);
      const at = `${when} ${commit}`;
      expect([at, view.state, view.result, view.visits.map(({ node, status }) => `${node} ${status}`)]).toEqual([
        at,
        "completed",
        4,
        ["first accepted", "plan accepted", "tell accepted", "end accepted"],
      ]);
      expect(agent.steps.length, at).toBeLessThanOrEqual(1);
      for (const { delivery } of agent.steps) expect(delivery, at).toBe(`${id}/graph/plan.2/deliver.1`);
      // What was interrupted may have run twice.
      expect(project.side.length, at).toBeLessThanOrEqual(3);
      expect(view.updates, at).toMatchObject([{ type: "note", key: "main", data: `${id}/graph/plan.2/deliver.1` }]);
      await host.close();
    }
    throw new Error("the run never came to its end");
  },
);
