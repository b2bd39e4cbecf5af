/** The races' own test: hosts with a fault in them are found out. */
import { expect, test } from "vitest";
import { againstAnswer, againstCancel, againstDeadline, againstPause } from "./contests.ts";
import { hasShares, onGround } from "./kinds.ts";

/** Four rounds: enough for a head start to be found. */
const some = Array.from({ length: 200 }, (_, n) => n);

test.skipIf(!hasShares).each([
  ["secondIsToldAccepted", againstAnswer, /was told accepted \(\w+\), and the decision is accepted/],
  ["sameIsRefused", againstAnswer, /was told alreadyDecided \(go\), and the decision is accepted \(go\)/],
  ["stepRunsTwice", againstAnswer, /an attempt was executed twice/],
  ["goesWhereTheLoserSays", againstAnswer, /go led to stopped/],
  ["rowNamesAnother", againstAnswer, /its row says stop, its snapshot go/],
  ["auditForgetsTheLoser", againstAnswer, /the audit has lost what [ab]-\d+ said/],
  ["auditForgetsTheWinner", againstAnswer, /0 candidates won/],
  ["cancelledIsToldAccepted", againstCancel, /was told accepted \(null\), and the decision is cancelled/],
  ["pauseIsForgotten", againstPause, /it stood completed and is completed, the step ran early: true/],
  ["lateWins", againstDeadline, /accepted at [1-9]\d* ms after the deadline/],
  ["defaultComesEarly", againstDeadline, /defaulted at (?:0|-\d+) ms after the deadline/],
  ["timelyLoses", againstDeadline, /came in time and lost to the default/],
] as const)("RACE-11 the planted fault %s is found", async (planted, contest, found) => {
  await onGround(
    async (ground) => {
      const { faults } = await contest(ground, some);
      expect(faults.find((fault) => found.test(fault)) ?? `other faults only: ${faults.slice(0, 10).join("; ")}`).toMatch(found);
    },
    { planted },
  );
});
