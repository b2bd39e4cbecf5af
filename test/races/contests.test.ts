/** An answer against another answer, against the deadline, and against a cancel and a pause of its run. */
import { expect, test } from "vitest";
import { againstAnswer, againstCancel, againstDeadline, againstPause, type Contest } from "./contests.ts";
import { expectShares, numbers, onGround } from "./kinds.ts";
import type { Ground } from "./ground.ts";
import { report } from "./report.ts";

const hold = (kind: string, contest: (ground: Ground, races: readonly number[]) => Promise<Contest>): Promise<void> =>
  onGround(async (ground) => {
    const { faults, ...shares } = await contest(ground, numbers);
    expect(faults.slice(0, 10)).toEqual([]);
    report(kind, shares);
    expectShares(shares);
  });

test("RACE-1 RACE-2 of two answers from two processes one wins and one resumption follows, whichever comes first and in whichever commit group", () =>
  hold("answer against answer", againstAnswer));

test("RACE-1 RACE-3 of an answer and the deadline one wins, by the time at which the host had read the answer, in whichever order and commit group they come", () =>
  hold("answer against deadline", againstDeadline));

test("RACE-1 RACE-4 of an answer and a cancel of the run one settles the decision: the answer is told so, and a cancelled decision leads to no step", () =>
  hold("answer against cancel", againstCancel));

test("RACE-1 RACE-5 of an answer and a pause of the run both count: the answer settles the decision, and the step it leads to runs before the pause or after the resume", () =>
  hold("answer against pause", againstPause));
