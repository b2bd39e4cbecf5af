/** The command through a host, as a person meets it: process start to process end. And what a host costs that has nothing to do. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandFile } from "../src/packageRoot.ts";
import { connectHost } from "../src/client/connectHost.ts";
import { inDirectory, median, workflowFile } from "./kit.ts";

const ticksPerSecond = 100;
const idleSeconds = 10;

/** Wall-clock ms of one command. @throws when it does not exit 0 */
function command(home: string, ...args: readonly string[]): number {
  const begun = performance.now();
  const child = spawnSync(process.execPath, [commandFile(), ...args], {
    env: { ...process.env, PAWL_HOME: home, PAWL_EMBEDDED: "" },
    encoding: "utf8",
    input: "",
  });
  const took = performance.now() - begun;
  if (child.status !== 0) throw new Error(`pawl ${args.join(" ")} exits ${child.status}: ${child.stderr}`);
  return took;
}

const times = (count: number, work: () => number): number => median(Array.from({ length: count }, work));

/** A fresh directory to a completed run, the same with the host there, a list, and ten seconds of an idle host. */
export async function hostCommands(repeats: number): Promise<{ readonly [figure: string]: number }> {
  return inDirectory(async (directory) => {
    const run = (home: string): number => command(home, "run", workflowFile("one"));
    let fresh = 0;
    const freshMs = times(repeats, () => {
      const home = join(directory, `fresh-${(fresh += 1)}`);
      const took = run(home);
      command(home, "host", "stop");
      return took;
    });
    const home = join(directory, "warm");
    run(home);
    const warmMs = times(repeats, () => run(home));
    const runsMs = times(repeats, () => command(home, "runs"));
    const nodeMs = times(repeats, () => {
      const begun = performance.now();
      spawnSync(process.execPath, ["-e", ""]);
      return performance.now() - begun;
    });
    const client = connectHost({ home, start: false, name: "bench" });
    try {
      const { pid } = await client.status();
      const before = cpuSeconds(pid);
      await new Promise((done) => setTimeout(done, idleSeconds * 1_000));
      const idle = { "host: idle CPU, %": ((cpuSeconds(pid) - before) / idleSeconds) * 100, "host: resident memory, MB": residentMb(pid) };
      const answerMs = median(await answers(client, repeats * 5));
      return {
        "host: fresh directory to completed run, ms": freshMs,
        "host: completed run with the host there, ms": warmMs,
        "host: pawl runs, ms": runsMs,
        "host: an empty Node, ms": nodeMs,
        "host: answer to the end of the step behind it, ms": answerMs,
        ...idle,
      };
    } finally {
      await client.stop({ ifIdle: false });
      await client.close();
    }
  });
}

/** From the answer, sent to the host, to the news that the run is completed: a commit, a step in a worker, two more. */
async function answers(client: ReturnType<typeof connectHost>, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { id } = await client.start({ workflow: workflowFile("asked"), input: {}, cwd: process.cwd() });
    const [decision] = (await client.drive(id)).decisions;
    if (decision === undefined) throw new Error("nothing was asked");
    const begun = performance.now();
    await client.answer({ decision: decision.id, choice: "go", source: { kind: "human", channel: "bench", actor: "bench" } });
    const { state } = await client.drive(id);
    took.push(performance.now() - begun);
    if (state !== "completed") throw new Error(`the answered run is ${state}`);
  }
  return took;
}

/** Linux only; 0 elsewhere. */
function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return 0;
  }
}

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024;
  } catch {
    return 0;
  }
}
