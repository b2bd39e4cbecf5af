/** A host in a process of its own: `host.ts <home> <workflow> <cwd> [run]` starts (or takes up) a run, drives it until it rests, and prints its view. */
import { openEmbedded } from "../../../src/host/embedded.ts";

const [home = "", workflow = "", cwd = "", known] = process.argv.slice(2);
const host = await openEmbedded({ home });
const run = known ?? (await host.start({ workflow, input: {}, cwd })).id;
console.log(`run ${run}`);
console.log(`view ${JSON.stringify(await host.drive(run))}`);
await host.close();
