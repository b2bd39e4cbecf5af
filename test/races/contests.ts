/** The races of an answer against another answer, the deadline, a cancel, and a pause: run, and judged from the store. */
import { HeadStart } from "./balance.ts";
import type { Entry, Ground } from "./ground.ts";
import { answer, candidate, duel, of, perRound, rounds, seed, type AnswerAct, type Shares } from "./kinds.ts";
import { queue } from "./queue.ts";
import { factsOf, faultsOf, together, type Facts } from "./stored.ts";
import type { Told } from "./talk.ts";

export interface Contest extends Shares {
  /** Rules that races broke, in words. */
  readonly faults: readonly string[];
}

/** Every fifth race is between two answers that say the same under keys of their own: either of them may win, and neither is refused. */
const isSame = ({ n }: Entry): boolean => n % 5 === 4;
const first = (entry: Entry): AnswerAct => answer("a", entry, "go");
const second = (entry: Entry): AnswerAct => (isSame(entry) ? { ...answer("b", entry, "go"), actor: "anna" } : answer("b", entry, "stop"));

/** Longer than it takes to have all of a round wait. */
const deadlineMs = 600;
/** The event of the deadline's own timer. */
const timeout = "xstate.after.deadline.decision.open.timed";

/** All races wait, and two processes stand ready. */
async function entered(ground: Ground, races: readonly number[]) {
  const runs = await queue(ground, races);
  await ground.open();
  const racers = { first: await ground.racer(), second: await ground.racer() };
  return { racers, entries: await ground.enter(runs) };
}

/** Two people answer one question, each from a process of their own. */
export async function againstAnswer(ground: Ground, races: readonly number[]): Promise<Contest> {
  const { racers, entries } = await entered(ground, races);
  const pairs = await duel(
    {
      ...racers,
      acts: (entry) => [first(entry), second(entry)],
      firstWins: (_, told) => told.filter(([{ status }]) => status === "accepted").length,
    },
    entries,
  );
  await ground.rest(entries);
  await ground.stop();

  const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`, `b-${n}`]);
  const faults = facts.flatMap((fact) => {
    const { entry, run } = fact;
    const [a, b] = of(pairs, entry);
    const loser = a.status === "accepted" ? b : a;
    const isRight = run.state === "completed" && (isSame(entry) ? loser.status === "duplicate" : loser.code === "alreadyDecided");
    return [
      ...faultsOf(fact, [candidate(first(entry), a), candidate(second(entry), b)]),
      ...(isRight ? [] : [`race ${entry.n}: told ${JSON.stringify([a, b])}, and it is ${run.state}`]),
    ];
  });
  const firstWon = facts.filter(({ context: { resolution } }) => resolution?.provenance === "human" && resolution.idempotencyKey.startsWith("a-")).length;
  const shared = together(ground, entries, ({ decision, n }) => [`${decision} answer:a-${n}`, `${decision} answer:b-${n}`]);
  return { firstWon, secondWon: facts.length - firstWon, shared, faults };
}

/** A person answers from a process of their own at the moment of the deadline, which the host's timer tells. */
export async function againstDeadline(ground: Ground, races: readonly number[]): Promise<Contest> {
  const runs = await queue(ground, races, { deadlineMs, paused: true });
  await ground.open();
  const racer = await ground.racer();
  const heads = new HeadStart(seed);
  const entries: Entry[] = [];
  const toldOf = new Map<number, Told>();
  for (const some of rounds(runs, perRound)) {
    const round = await ground.enter(some);
    entries.push(...round);
    // The later side is the timer: its head start is the answer's delay.
    const shots = round.map((entry) => ({ n: entry.n, at: (entry.deadlineAt ?? 0) - heads.next(), act: answer("a", entry, "go") }));
    const told = await racer.fire(shots).told;
    for (const one of told) toldOf.set(one.n, one);
    heads.learn(told.filter(({ status }) => status === "accepted").length, round.length);
  }
  // One whose answer came after the deadline and before its default was committed waits for that.
  await ground.settled(entries);
  await ground.stop();

  const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`]);
  const faults = facts.flatMap((fact) => {
    const told = of(toldOf, fact.entry);
    const isRight = fact.run.state === "completed" && (told.status === "accepted" || told.code === "defaulted");
    return [
      ...faultsOf(fact, [candidate(answer("a", fact.entry, "go"), told)]),
      ...(isRight ? [] : [`race ${fact.entry.n}: told ${JSON.stringify(told)}, and it is ${fact.run.state}`]),
    ];
  });
  const firstWon = facts.filter(({ row }) => row.state === "accepted").length;
  // Of an answer that wins, nothing of the timer's is left to be written: these are all of the default's.
  const shared = together(ground, entries, ({ decision, n }) => [`${decision} answer:a-${n}`, `${decision} ${timeout}`]);
  return { firstWon, secondWon: facts.length - firstWon, shared, faults };
}

/** A person answers from one process while another cancels the run. */
export async function againstCancel(ground: Ground, races: readonly number[]): Promise<Contest> {
  const { racers, entries } = await entered(ground, races);
  const pairs = await duel(
    {
      ...racers,
      acts: (entry) => [first(entry), { do: "cancel", run: entry.run }],
      firstWins: (_, told) => told.filter(([{ status }]) => status === "accepted").length,
    },
    entries,
  );
  await ground.rest(entries);
  await ground.stop();

  const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`]);
  const faults = facts.flatMap((fact) => {
    const [a, cancel] = of(pairs, fact.entry);
    const isRight = (a.status === "accepted" || a.code === "cancelled") && cancel.status === "done" && cancel.state === fact.run.state;
    return [
      ...faultsOf(fact, [candidate(first(fact.entry), a)]),
      ...(isRight ? [] : [`race ${fact.entry.n}: told ${JSON.stringify([a, cancel])}, and it is ${fact.run.state}`]),
    ];
  });
  const firstWon = facts.filter(({ row }) => row.state === "accepted").length;
  const shared = together(ground, entries, ({ decision, run, n }) => [`${decision} answer:a-${n}`, `${run} run.cancel`]);
  return { firstWon, secondWon: facts.length - firstWon, shared, faults };
}

/** Whether the answer was applied before the pause, or the run had ended before that came. */
function cameBeforePause({ journal, runJournal }: Facts): boolean {
  const settled = journal.find(({ type }) => type === "decision.submit");
  const paused = runJournal.find(({ type }) => type === "run.pause");
  return settled !== undefined && (paused === undefined || settled.seq < paused.seq);
}

/** A person answers from one process while another pauses the run; once all of a round stands still, it is resumed. */
export async function againstPause(ground: Ground, races: readonly number[]): Promise<Contest> {
  const { racers, entries } = await entered(ground, races);
  const early = new Set<number>();
  const stood = new Map<number, string>();
  const pairs = await duel(
    {
      ...racers,
      acts: (entry) => [first(entry), { do: "pause", run: entry.run }],
      // What has run by the time that all of it stands still was entered before the pause.
      firstWins: async (round) => {
        const views = await ground.rest(round);
        const ran = new Set(ground.marks.map((line) => line.slice(0, line.indexOf("/"))));
        for (const [at, { n, run }] of round.entries()) {
          stood.set(n, views[at]?.state ?? "");
          if (ran.has(run)) early.add(n);
        }
        await racers.second.fire(round.map(({ n, run }) => ({ n, at: 0, act: { do: "resume", run } }))).told;
        return round.filter(({ n }) => early.has(n)).length;
      },
    },
    entries,
  );
  await ground.rest(entries);
  await ground.stop();

  const facts = await factsOf(ground, entries, ({ n }) => [`a-${n}`]);
  const faults = facts.flatMap((fact) => {
    const { entry } = fact;
    const [a, pause] = of(pairs, entry);
    const wasFirst = cameBeforePause(fact);
    const isRight =
      a.status === "accepted" &&
      pause.status === "done" &&
      fact.run.state === "completed" &&
      early.has(entry.n) === wasFirst &&
      (of(stood, entry) === "paused" || (wasFirst && of(stood, entry) === "completed"));
    return [
      ...faultsOf(fact, [candidate(first(entry), a)]),
      ...(isRight
        ? []
        : [
            `race ${entry.n}: told ${JSON.stringify([a, pause])}, it stood ${of(stood, entry)} and is ${fact.run.state}, the step ran early: ${early.has(entry.n)}`,
          ]),
    ];
  });
  const firstWon = facts.filter(cameBeforePause).length;
  const shared = together(ground, entries, ({ decision, run, n }) => [`${decision} answer:a-${n}`, `${run} run.pause`]);
  return { firstWon, secondWon: facts.length - firstWon, shared, faults };
}
