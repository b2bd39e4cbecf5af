/** 100,000 operations over all test machines and invented ones. `PAWL_WALK=machine:seed:length` repeats one walk. */
import { afterAll, expect, test } from "vitest";
import { onDisk } from "./disk.ts";
import { invented } from "./machines/invented.ts";
import { subjects } from "./machines/index.ts";
import type { Subject } from "./machines/subject.ts";
import { walk } from "./walk.ts";

const length = 60;
/** Operations for each machine, and for the invented ones together. */
const quota = 2200;
const inventedQuota = 36_000;
/** Operations of those that are stepped in another process besides: twice the work each. */
const elsewhereQuota = 12_000;
/** One walk in this many has its store in a file. */
const fileEvery = 8;
let total = 0;

/** Walks on with one seed after the other until the quota is reached. */
async function roam(of: (seed: number) => Subject, most: number): Promise<number> {
  let ops = 0;
  for (let seed = 1; ops < most; seed += 1) {
    const walked = seed % fileEvery === 0 ? await onDisk((store) => walk(of(seed), seed, { length, store })) : await walk(of(seed), seed, { length });
    ops += walked.ops;
  }
  total += ops;
  return ops;
}

const [only, seed = "1", size = String(length)] = process.env["PAWL_WALK"]?.split(":") ?? [];
const again = only === undefined ? undefined : (subjects.find(({ machine }) => machine.id === only) ?? invented(Number(seed)));

test.runIf(again !== undefined)("XS-1 the walk that PAWL_WALK names", async () => {
  if (again) await walk(again, Number(seed), { length: Number(size) });
});

test.skipIf(again !== undefined).each(subjects.map((subject) => [subject.machine.id, subject] as const))("XS-1 %s walks on", async (_id, subject) => {
  expect(await roam(() => subject, quota)).toBeGreaterThanOrEqual(quota);
});

test.skipIf(again !== undefined)("XS-1 invented machines walk on", async () => {
  expect(await roam(invented, inventedQuota)).toBeGreaterThanOrEqual(inventedQuota);
});

test.skipIf(again !== undefined)("MACH-1 machines of all kinds walk on when they are stepped in another process", async () => {
  let ops = 0;
  for (let seed = 1; ops < elsewhereQuota; seed += 1) {
    const subject = seed % 2 === 0 ? subjects[(seed / 2) % subjects.length] : undefined;
    ops += (await walk(subject ?? invented(seed), seed, { length, elsewhere: seed % 3 === 0 ? "atOnce" : "later" })).ops;
  }
  expect(ops).toBeGreaterThanOrEqual(elsewhereQuota);
});

test.skipIf(again !== undefined)("XS-1 these were 100,000 operations", () => {
  expect(total).toBeGreaterThanOrEqual(100_000);
});

afterAll(() => console.log(`${total} operations, no difference`));
