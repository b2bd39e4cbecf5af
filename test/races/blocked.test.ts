/** The decision, or the graph of its run, meets a fault of Pawl's own while an answer is on its way: a machine in the real host throws, as one with a bug
 *  would, until it is mended. */
import { expect, test } from "vitest";
import { HeadStart } from "./balance.ts";
import type { Entry, Ground, Racer } from "./ground.ts";
import { answer, candidate, duel, hasShares, numbers, of, onGround, perRound, races, rounds, seed, type AnswerAct } from "./kinds.ts";
import { queue } from "./queue.ts";
import { report } from "./report.ts";
import { factsOf, faultsOf, type Facts } from "./stored.ts";
import type { Told } from "./talk.ts";

const deadlineMs = 600;
const first = (entry: Entry): AnswerAct => answer("a", entry, "go");
const second = (entry: Entry): AnswerAct => answer("b", entry, "stop");
const isFaulted = ({ journal }: Facts): boolean => journal.some(({ type }) => type === "pawl.faulted");

/** Runs of the round whose step has run. */
function ranOf(ground: Ground, round: readonly Entry[]): string[] {
  const ran = new Set(ground.marks.map((line) => line.slice(0, line.indexOf("/"))));
  return round.map(({ run }) => run).filter((run) => ran.has(run));
}

async function resume(racer: Racer, ground: Ground, round: readonly Entry[]): Promise<void> {
  await racer.fire(round.map(({ n, run }) => ({ n, at: 0, act: { do: "resume", run } }))).told;
  await ground.rest(round);
}

test("RACE-1 RACE-9 an answer that meets its decision as a fault blocks it wins, or is told that it is blocked; mended, the deadline it was blocked at settles it", () =>
  onGround(
    async (ground) => {
      const runs = await queue(ground, numbers, { deadlineMs, paused: true });
      await ground.open();
      const [one, other] = [await ground.racer(), await ground.racer()];
      const heads = new HeadStart(seed);
      const entries: Entry[] = [];
      const toldOf = new Map<number, Told>();
      const againOf = new Map<number, Told>();
      const early = new Set<string>();
      const blocked = new Set<number>();
      for (const some of rounds(runs, perRound)) {
        ground.planting(true);
        const round = await ground.enter(some);
        entries.push(...round);
        const told = await one.fire(round.map((entry) => ({ n: entry.n, at: (entry.deadlineAt ?? 0) - heads.next(), act: first(entry) }))).told;
        for (const said of told) toldOf.set(said.n, said);
        heads.learn(told.filter(({ status }) => status === "accepted").length, round.length);
        for (const [at, { state }] of (await ground.settled(round)).entries()) if (state === "blocked") blocked.add(round[at]?.n ?? -1);
        ranOf(ground, round).forEach((run) => early.add(run));
        ground.planting(false);
        // Mended while another answer comes.
        const again = other.fire(round.map((entry) => ({ n: entry.n, at: 0, act: second(entry) })));
        await resume(one, ground, round);
        for (const said of await again.told) againOf.set(said.n, said);
      }
      await ground.settled(entries);
      await ground.stop();

      const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`, `b-${n}`]);
      const faults = facts.flatMap((fact) => {
        const { entry, run, row } = fact;
        const [a, b] = [of(toldOf, entry), of(againOf, entry)];
        const isRight =
          run.state === "completed" &&
          blocked.has(entry.n) === isFaulted(fact) &&
          (isFaulted(fact)
            ? row.state === "defaulted" && !early.has(entry.run) && ["blocked", "defaulted"].includes(a.code ?? "")
            : a.status === "accepted" && b.code === "alreadyDecided");
        return [
          ...faultsOf(fact, [candidate(first(entry), a), candidate(second(entry), b)]),
          ...(isRight ? [] : [`race ${entry.n}: told ${JSON.stringify([a, b])}, it is ${run.state}, blocked: ${blocked.has(entry.n)}`]),
        ];
      });
      expect(faults.slice(0, 10)).toEqual([]);
      expect(facts.length).toBe(races);
      const toldBlocked = [...toldOf.values()].filter(({ code }) => code === "blocked").length;
      report("answer against a blocked decision", { won: races - blocked.size, blocked: blocked.size, toldBlocked });
      if (!hasShares) return;
      expect(Math.min(races - blocked.size, blocked.size)).toBeGreaterThanOrEqual(races / 20);
      expect(toldBlocked).toBeGreaterThan(0);
    },
    { planted: "blocking" },
  ));

test("RACE-1 RACE-10 an answer to a decision whose run a fault blocks meanwhile settles it all the same, and the run goes on from it once it is mended", () =>
  onGround(
    async (ground) => {
      const runs = await queue(ground, numbers);
      await ground.open();
      const racers = { first: await ground.racer(), second: await ground.racer() };
      const entries = await ground.enter(runs);
      const early = new Set<string>();
      const blocked = new Set<number>();
      const pairs = await duel(
        {
          ...racers,
          acts: (entry) => {
            ground.planting(true);
            return [first(entry), { do: "pause", run: entry.run }];
          },
          firstWins: async (round) => {
            for (const [at, { state }] of (await ground.rest(round)).entries()) if (state === "blocked") blocked.add(round[at]?.n ?? -1);
            ranOf(ground, round).forEach((run) => early.add(run));
            ground.planting(false);
            // Mended, and then no longer paused.
            await resume(racers.first, ground, round);
            await resume(racers.second, ground, round);
            return round.filter(({ run }) => early.has(run)).length;
          },
        },
        entries,
      );
      await ground.stop();

      const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`]);
      const faults = facts.flatMap((fact) => {
        const { entry, run, runJournal, journal } = fact;
        const [a, pause] = of(pairs, entry);
        const pausedAt = runJournal.find(({ type }) => type === "run.pause")?.seq ?? Infinity;
        const settledAt = journal.find(({ type }) => type === "decision.submit")?.seq ?? Infinity;
        const isRight =
          a.status === "accepted" &&
          pause.status === "done" &&
          run.state === "completed" &&
          (settledAt < pausedAt || (blocked.has(entry.n) && !early.has(entry.run)));
        return [
          ...faultsOf(fact, [candidate(first(entry), a)]),
          ...(isRight
            ? []
            : [`race ${entry.n}: told ${JSON.stringify([a, pause])}, it is ${run.state}, blocked: ${blocked.has(entry.n)}, early: ${early.has(entry.run)}`]),
        ];
      });
      expect(faults.slice(0, 10)).toEqual([]);
      expect(facts.length).toBe(races);
      const waited = entries.filter(({ run, n }) => blocked.has(n) && !early.has(run)).length;
      report("answer against a blocked run", { blocked: blocked.size, waited });
      if (hasShares) expect(Math.min(waited, facts.length - waited)).toBeGreaterThanOrEqual(facts.length / 20);
    },
    { planted: "blocking" },
  ));
