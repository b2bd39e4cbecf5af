/** Answers whose reply is lost, whose host is killed, or that meet a host which takes up what another one left. */
import { expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import { seeded } from "../crash/libraryKit.ts";
import type { Entry } from "./ground.ts";
import { answer, candidate, hasShares, numbers, of, onGround, perRound, races, rounds, seed, type AnswerAct } from "./kinds.ts";
import { queue } from "./queue.ts";
import { report } from "./report.ts";
import { factsOf, faultsOf, type Facts } from "./stored.ts";
import type { Shot, Told } from "./talk.ts";

/** Answers that share a kill. */
const perKill = 20;
/** Ms until a salvo, by when its racer has heard of it. */
const leadMs = 40;

const first = (entry: Entry): AnswerAct => answer("a", entry, "go");
const second = (entry: Entry): AnswerAct => answer("b", entry, "stop");
const shots = (round: readonly Entry[], at: number, act: (entry: Entry) => AnswerAct, gap = 0): Shot[] =>
  round.map((entry, index) => ({ n: entry.n, at: at + index * gap, act: act(entry) }));
const appliedOnce = ({ journal }: Facts): boolean => journal.filter(({ type }) => type === "decision.submit").length === 1;

test("RACE-1 RACE-6 an answer whose reply was lost is sent again under its key, by the same client or by another process, and gets the saved result", () =>
  onGround(async (ground) => {
    const runs = await queue(ground, numbers);
    await ground.open();
    const [sender, other] = [await ground.racer(), await ground.racer()];
    const entries = await ground.enter(runs);
    const toldOf = new Map<number, Told[]>();
    for (const [number, round] of rounds(entries, perRound).entries()) {
      const sent = sender.fire(shots(round, Date.now() + leadMs, first, number % 3), { client: "met", lose: "each" });
      // The replies are there, and nobody has them: each of these answers is committed.
      await sent.lost;
      const again = number % 2 === 0 ? [] : await other.fire(shots(round, 0, first)).told;
      for (const told of [...(await sent.told), ...again]) toldOf.set(told.n, [...(toldOf.get(told.n) ?? []), told]);
    }
    await ground.rest(entries);
    await ground.stop();

    const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`]);
    const faults = facts.flatMap((fact) => {
      const [a, again] = of(toldOf, fact.entry);
      const isRight = a?.status === "accepted" && (again === undefined || again.status === "duplicate") && appliedOnce(fact) && fact.run.state === "completed";
      return [
        ...of(toldOf, fact.entry).flatMap((told) => faultsOf(fact, [candidate(first(fact.entry), told)])),
        ...(isRight ? [] : [`race ${fact.entry.n}: told ${JSON.stringify([a, again])}, and it is ${fact.run.state}`]),
      ];
    });
    expect(faults.slice(0, 10)).toEqual([]);
    expect(facts.length).toBe(races);
    report("lost reply", { lost: facts.length, byAnother: [...toldOf.values()].filter((told) => told.length === 2).length });
  }));

test("RACE-1 RACE-7 an answer whose host is killed while it is on its way is sent again under its key to the next host, and counts once", () =>
  onGround(async (ground) => {
    const random = seeded(seed);
    const runs = await queue(
      ground,
      Array.from({ length: races * 2 }, (_, n) => n),
    );
    await ground.open();
    const sender = await ground.racer();
    const waiting = await ground.enter(runs);
    const entries: Entry[] = [];
    const toldOf = new Map<number, Told>();
    // Only answers that were sent and had no reply when the host died count as races: the others of their salvo were too early or too late for it.
    let inFlight = 0;
    let kills = 0;
    for (const [number, round] of rounds(waiting, perKill).entries()) {
      if (inFlight >= races) break;
      entries.push(...round);
      kills += 1;
      const host = ground.owner;
      const how = (["before", "after", "whenever"] as const)[number % 3] ?? "whenever";
      let killedAt: number | null = null;
      if (how !== "whenever") ground.orderToDie(how, 1 + Math.floor(random() * round.length * 0.7));
      const at = Date.now() + leadMs;
      const sent = sender.fire(shots(round, at, first, how === "whenever" ? 1 : 0), { client: "met" });
      if (how === "whenever") {
        await sleep(at - Date.now() + random() * perKill);
        killedAt = ground.kill();
      }
      await ground.dead(host);
      const lostAt = killedAt ?? ground.kills.at(-1) ?? 0;
      for (const told of await sent.told) {
        toldOf.set(told.n, told);
        if (told.sentAt <= lostAt && told.heardAt >= lostAt) inFlight += 1;
      }
      await ground.rest(round);
    }
    await ground.stop();

    const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`]);
    const faults = facts.flatMap((fact) => {
      const told = of(toldOf, fact.entry);
      const isRight = ["accepted", "duplicate"].includes(told.status) && appliedOnce(fact) && fact.run.state === "completed";
      return [
        ...faultsOf(fact, [candidate(first(fact.entry), told)], { lossless: false }),
        ...(isRight ? [] : [`race ${fact.entry.n}: told ${JSON.stringify(told)}, and it is ${fact.run.state}`]),
      ];
    });
    expect(faults.slice(0, 10)).toEqual([]);
    const duplicates = [...toldOf.values()].filter(({ status }) => status === "duplicate").length;
    report("crash", { kills, inFlight, storedBefore: duplicates, storedAfter: entries.length - duplicates });
    expect(inFlight, "in flight when their host was killed").toBeGreaterThanOrEqual(races);
    if (hasShares) expect(Math.min(duplicates, entries.length - duplicates), "stored before the kill, and not").toBeGreaterThanOrEqual(races / 20);
  }));

test("RACE-1 RACE-8 answers of two processes that meet a host while it takes up what a killed one left give one winner and one resumption", () =>
  onGround(async (ground) => {
    const random = seeded(seed);
    const runs = await queue(ground, numbers);
    await ground.open();
    const [one, other] = [await ground.racer(), await ground.racer()];
    const entries = await ground.enter(runs);
    const toldOf = new Map<number, readonly [Told, Told]>();
    for (const [number, round] of rounds(entries, perKill).entries()) {
      const host = ground.owner;
      // Half of it is answered when the host dies: stored and not gone on from, or not stored. The other half comes to the next host only.
      const half = round.slice(0, Math.ceil(round.length / 2));
      ground.orderToDie(number % 2 === 0 ? "after" : "before", 1 + Math.floor(random() * half.length));
      const sent = one.fire(shots(half, Date.now() + leadMs, first), { client: "met" });
      await ground.dead(host);
      const against = other.fire(shots(round, 0, second), { client: "new" });
      const late = one.fire(shots(round.slice(half.length), 0, first));
      const told = new Map([...(await sent.told), ...(await late.told)].map((said) => [said.n, said]));
      for (const said of await against.told) toldOf.set(said.n, [of(told, { n: said.n }), said]);
      await ground.rest(round);
    }
    await ground.stop();

    const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`, `b-${n}`]);
    const faults = facts.flatMap((fact) => {
      const [a, b] = of(toldOf, fact.entry);
      const won = [a, b].filter(({ status }) => status === "accepted" || status === "duplicate").length;
      const isRight = won === 1 && appliedOnce(fact) && fact.run.state === "completed";
      return [
        ...faultsOf(fact, [candidate(first(fact.entry), a), candidate(second(fact.entry), b)], { lossless: false }),
        ...(isRight ? [] : [`race ${fact.entry.n}: told ${JSON.stringify([a, b])}, and it is ${fact.run.state}`]),
      ];
    });
    expect(faults.slice(0, 10)).toEqual([]);
    expect(facts.length).toBe(races);
    // The step that the first host left begun or planned ended only after the second answer had come.
    const meanwhile = facts.filter(
      ({ kept, steps, entry, context: { resolution } }) =>
        resolution?.provenance === "human" &&
        resolution.idempotencyKey === `a-${entry.n}` &&
        (kept.get(`b-${entry.n}`)?.at ?? Infinity) <= (steps[0]?.updatedAt ?? 0),
    ).length;
    const firstWon = facts.filter(({ row }) => row.choice === "go").length;
    const stored = [...toldOf.values()].filter(([a]) => a.status === "duplicate").length;
    report("recovery", { restarts: Math.ceil(races / perKill), firstWon, secondWon: races - firstWon, stored, meanwhile });
    if (!hasShares) return;
    expect(stored, "stored before the kill").toBeGreaterThanOrEqual(races / 20);
    expect(meanwhile, "answered while the step of another answer was taken up").toBeGreaterThanOrEqual(races / 20);
  }));
