/** The walks of walk.test.ts, with two runtimes more that have none of the machines themselves. */
import { expect, test } from "vitest";
import { invented } from "./machines/invented.ts";
import { subjects } from "./machines/index.ts";
import { walk } from "./walk.ts";

test.each(subjects.map((subject) => [subject.machine.id, subject] as const))(
  "MACH-1 %s does the same when it is stepped in another process",
  async (_id, subject) => {
    const { ops } = await walk(subject, 3, { length: 25, elsewhere: "later" });
    expect(ops).toBeGreaterThan(1);
  },
);

test("MACH-1 machines that a seed invents do the same when they are stepped elsewhere, at once or later", async () => {
  let ops = 0;
  for (let seed = 1; seed <= 12; seed += 1) ops += (await walk(invented(seed), seed, { length: 20, elsewhere: seed % 2 === 0 ? "later" : "atOnce" })).ops;
  expect(ops).toBeGreaterThan(100);
});

test("MACH-1 a reference to a child that has ended is an address as any other: what is sent to it later has its timer", async () => {
  expect((await walk(invented(59), 59, { length: 10, elsewhere: "later" })).ops).toBe(10);
});
