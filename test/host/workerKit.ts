/** What the tests of workers share: a host with workers, steps that say where they run, and the ways in which a process is lost. */
import { expect } from "vitest";
import type { EmbeddedHost } from "../../src/host/api.ts";
import { startTokenOf } from "../../src/host/processes.ts";
import type { WorkerLimits } from "../../src/host/workers/workerPool.ts";
import { Project } from "./kit.ts";

export const openWithWorkers = (project: Project, workerLimits: WorkerLimits = {}): Promise<EmbeddedHost> => project.open({ author: "workers", workerLimits });

/** Marks each attempt with its number and process. */
export const marked = `mark("try " + attempt + " " + process.pid);`;
export const never = `await new Promise(() => {});`;

/** Kills the worker from inside, as anybody outside might. */
export const killed = `{ process.kill(process.pid, "SIGKILL"); ${never} }`;

/** Attempts that began, and the processes that they ran in. */
export const tries = (project: Project): readonly { readonly attempt: number; readonly pid: number }[] =>
  project.side.filter((line) => line.startsWith("try ")).map((line) => ({ attempt: Number(line.split(" ")[1]), pid: Number(line.split(" ")[2]) }));

export const isAlive = (pid: number): boolean => startTokenOf(pid) !== null;

/** How a step ends its process, and what the run then says of it. */
export interface WayToGo {
  readonly how: string;
  readonly code: string;
  readonly said: RegExp;
  readonly limits?: WorkerLimits;
  /** Left to the long suite. */
  readonly isLong?: true;
}

export const waysToGo: readonly WayToGo[] = [
  {
    how: "a throw in a timer",
    code: `setTimeout(() => { throw new Error("out of reach"); }, 1); ${never}`,
    said: /nothing caught: out of reach/,
    isLong: true,
  },
  { how: "a rejection that nothing handles", code: `void Promise.reject(new Error("unheard")); ${never}`, said: /nothing caught: unheard/, isLong: true },
  { how: "process.exit", code: `process.exit(7);`, said: /ended with exit code 7/ },
  { how: "a signal", code: killed, said: /ended by SIGKILL/, isLong: true },
  { how: "a blocked loop", code: `for (;;);`, said: /blocked its event loop for 2000 ms/, limits: { blockedMs: 2_000 }, isLong: true },
  {
    how: "no memory",
    code: `const all = []; for (;;) all.push(new Array(100_000).fill(attempt).map(String));`,
    said: /ran out of memory \(its limit is 48 MiB\)/,
    limits: { memoryMb: 48 },
    isLong: true,
  },
];

export async function losesThreeTimes({ code, said, limits }: WayToGo): Promise<void> {
  const project = new Project();
  const host = await openWithWorkers(project, limits);
  const view = await project.run(host, project.workflow(`.node("work", action({ run: async ({ attempt }) => { ${marked} ${code} } }))`));
  expect(view).toMatchObject({ state: "failed", reason: { code: "workerCrashed" }, visits: [{ status: "failed", attempt: 3 }] });
  expect(view.reason?.message).toMatch(said);
  expect(tries(project).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(new Set(tries(project).map(({ pid }) => pid)).size).toBe(3);
  expect(tries(project).some(({ pid }) => pid === process.pid || isAlive(pid))).toBe(false);
}
