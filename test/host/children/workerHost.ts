/** A host with workers in a process of its own: `workerHost.ts <home> <workflow> <cwd> <task>…` drives one run for each task until it is killed. */
import { openEmbedded } from "../../../src/host/embedded.ts";

const [home = "", workflow = "", cwd = "", ...tasks] = process.argv.slice(2);
const host = await openEmbedded({ home, author: "workers" });
const runs = await Promise.all(tasks.map((task) => host.start({ workflow, input: { task }, cwd })));
await Promise.all(runs.map(({ id }) => host.drive(id)));
await host.close();
