/** A share of the random walks, in seconds; `npm run test:walk` goes on to 100,000 operations. */
import { expect, test } from "vitest";
import { onDisk } from "./disk.ts";
import { invented } from "./machines/invented.ts";
import { subjects } from "./machines/index.ts";
import { walk } from "./walk.ts";

test.each(subjects.map((subject) => [subject.machine.id, subject] as const))(
  "XS-1 %s does in the runtime what it does alive, and goes on after every loss",
  async (_id, subject) => {
    const { ops } = await walk(subject, 1, { length: 30 });
    expect(ops).toBeGreaterThan(1);
  },
);

test("XS-1 machines that a seed invents do in the runtime what they do alive, and go on after every loss", async () => {
  let ops = 0;
  for (let seed = 1; seed <= 15; seed += 1) ops += (await walk(invented(seed), seed, { length: 20 })).ops;
  expect(ops).toBeGreaterThan(100);
});

test("XS-1 what is lost is restored from a file too", async () => {
  for (const subject of subjects.slice(-3)) {
    const { ops } = await onDisk((store) => walk(subject, 2, { length: 10, store }));
    expect(ops).toBeGreaterThan(1);
  }
});
