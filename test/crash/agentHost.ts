/** A host in a process of its own that runs a workflow with a scripted agent, and kills itself at a commit: `agentHost.ts <home> <workflow> <cwd> <before|after> <commit>`. */
import { openEmbedded } from "../../src/host/embedded.ts";
import { scriptedAgent } from "../../src/testing.ts";
import { agentTurn } from "./agentTurn.ts";

const [home = "", workflow = "", cwd = "", when = "after", commit = "0"] = process.argv.slice(2);
const stop = (number: number): void => {
  if (number === Number(commit)) process.kill(process.pid, "SIGKILL");
};
const hooks = when === "before" ? { beforeCommit: stop } : { afterCommit: stop };
const host = await openEmbedded({ home, hooks, agent: scriptedAgent([agentTurn]) });
const { id } = await host.start({ workflow, input: {}, cwd, idempotencyKey: "the-run" });
console.log(JSON.stringify(await host.drive(id)));
await host.close();
