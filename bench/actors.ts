/** Single actors: a step one by one, steps in company, and what waiting ones cost when a process comes back. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { assign, setup } from "xstate";
import { effect } from "../machines/define.ts";
import type { Commit } from "../persistence/store.ts";
import { inDirectory, withRuntime } from "./kit.ts";
import { writeRaw } from "./raw.ts";
import type { Figures } from "./run.ts";

const counter = setup({ types: {} as { context: { n: number; text: string }; events: { type: "add"; by: number } }, actions: {} }).createMachine({
  id: "counter",
  version: "1",
  context: { n: 0, text: "x".repeat(200) },
  on: { add: { actions: assign({ n: ({ context, event }) => context.n + event.by }) } },
});

const waiting = setup({ delays: { aDay: 86_400_000 }, actors: { work: effect<null, null>("bench.work") } }).createMachine({
  id: "waiting",
  version: "1",
  context: { text: "x".repeat(200) },
  initial: "wait",
  states: { wait: { after: { aDay: "end" }, on: { go: "end" } }, end: { type: "final" } },
});

/** One actor, each event after the answer to the one before; beside the same rows raw, one commit each. */
export async function stepByStep(events: number): Promise<Figures> {
  const recorded: Commit[] = [];
  const ms = await inDirectory((home) =>
    withRuntime(home, [counter], {}, async (runtime) => {
      await runtime.start("counter", { id: "c", input: undefined });
      for (let n = 0; n < 200; n += 1) await runtime.send("c", { type: "add", by: 1 });
      const started = performance.now();
      for (let n = 0; n < events; n += 1) await runtime.send("c", { type: "add", by: 1 });
      return performance.now() - started;
    }),
  );
  await inDirectory((home) =>
    withRuntime(
      home,
      [counter],
      {},
      async (runtime) => {
        await runtime.start("counter", { id: "c", input: undefined });
        for (let n = 0; n < events; n += 1) await runtime.send("c", { type: "add", by: 1 });
      },
      recorded,
    ),
  );
  const raw = await inDirectory((path) => writeRaw(join(path, "raw.db"), recorded, 1, "full"));
  return {
    "actor step, one by one, /s": (events * 1000) / ms,
    "raw FULL, the same rows, one commit each, /s": (recorded.length * 1000) / raw,
    "ratio, aim 0.85": raw / recorded.length / (ms / events),
  };
}

/** 200 actors in memory, all events sent at once; beside the same rows raw in groups. */
export async function inCompany(events: number): Promise<Figures> {
  const recorded: Commit[] = [];
  const work = (home: string, into?: Commit[]): Promise<number> =>
    withRuntime(
      home,
      [counter],
      {},
      async (runtime) => {
        const ids = Array.from({ length: 200 }, (_, n) => `c${n}`);
        await Promise.all(ids.map((id) => runtime.start("counter", { id, input: undefined })));
        const started = performance.now();
        await Promise.all(Array.from({ length: events }, (_, n) => runtime.send(ids[n % ids.length] ?? "", { type: "add", by: 1 })));
        return performance.now() - started;
      },
      into,
    );
  const ms = await inDirectory((home) => work(home));
  await inDirectory((home) => work(home, recorded));
  const raw = await inDirectory((path) => writeRaw(join(path, "raw.db"), recorded, 64, "full"));
  return {
    "actor steps in company, /s": (events * 1000) / ms,
    "raw FULL, the same rows, groups of 64, /s": (recorded.length * 1000) / raw,
    "ratio, aim 0.4": raw / recorded.length / (ms / events),
  };
}

/** Waiting actors, each with a timer, and a new process that takes them up and then waits with them for `idleMs`. */
export async function recovery(count: number, idleMs: number): Promise<Figures> {
  return inDirectory(async (home) => {
    await withRuntime(home, [waiting], {}, async (runtime) => {
      for (let made = 0; made < count; made += 5000)
        await Promise.all(Array.from({ length: Math.min(5000, count - made) }, (_, n) => runtime.start("waiting", { id: `w${made + n}`, input: undefined })));
    });
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const started = performance.now();
    return withRuntime(home, [waiting], {}, async (runtime) => {
      await runtime.recover();
      const opened = performance.now() - started;
      globalThis.gc?.();
      const grown = process.memoryUsage().rss - before;
      const cpu = process.cpuUsage();
      await setTimeout(idleMs);
      const { user, system } = process.cpuUsage(cpu);
      const first = performance.now();
      await runtime.send("w0", { type: "go" });
      return {
        [`open ${count} waiting, ms`]: opened,
        [`RSS grown by ${count} waiting, MB`]: grown / 1e6,
        [`first event after opening ${count}, ms`]: performance.now() - first,
        [`CPU with ${count} timers, % over ${idleMs / 1000} s, aim 0.1`]: (user + system) / 10 / idleMs,
      };
    });
  });
}
