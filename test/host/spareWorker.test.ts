import { readdirSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { Places } from "../../src/host/workers/places.ts";
import { Project } from "./kit.ts";

const limits = { blockedMs: 30_000, memoryMb: null, atOnce: 3 };
const signal = new AbortController().signal;

test("WORKER-15 a worker that stands by takes the project of who asks first, and another one stands by after it", async () => {
  const project = new Project();
  project.write("here", "");
  const places = new Places({ ...limits, idleMs: 60_000, spare: true });
  try {
    const first = await places.take({ kind: "shared", key: "one", cwd: project.directory }, signal);
    const second = await places.take({ kind: "shared", key: "two", cwd: project.directory }, signal);
    expect(first.worker).not.toBe(second.worker);
    for (const { worker } of [first, second]) {
      const loaded = worker.call(
        "load",
        { workflow: "./missing.workflow.ts", cwd: project.directory, userHome: project.directory, input: null, isLook: false },
        [],
        {
          signal,
          report: () => undefined,
          onAbandoned: () => undefined,
        },
      );
      await expect(loaded).rejects.toMatchObject({ message: expect.stringContaining("missing.workflow.ts") });
    }
    await expect(places.take({ kind: "shared", key: "three", cwd: project.file("gone") }, signal)).rejects.toMatchObject({
      code: "workerUnavailable",
      message: expect.stringContaining("does not exist"),
    });
    expect((await places.take({ kind: "shared", key: "three", cwd: project.directory }, signal)).worker.isThere).toBe(true);
  } finally {
    await places.close();
  }
});

/** Worker processes that this process has started and that are alive. */
const workers = (): number =>
  readdirSync("/proc").filter((name) => {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state !== "Z" && Number(parent) === process.pid && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("workerMain");
    } catch {
      return false; // no process, or it ended between being listed and being read
    }
  }).length;

test.skipIf(process.platform !== "linux")("WORKER-15 one that nobody needs ends, and closing leaves none", async () => {
  const places = new Places({ ...limits, idleMs: 1_000, spare: true });
  expect(workers()).toBe(1);
  await vi.waitFor(() => expect(workers()).toBe(0), { timeout: 15_000 });
  await places.close();
  const closing = new Places({ ...limits, idleMs: 60_000, spare: true });
  expect(workers()).toBe(1);
  await closing.close();
  expect(workers()).toBe(0);
});
