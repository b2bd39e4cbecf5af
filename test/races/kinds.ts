/** How many races of a kind there are, and in which rounds. */
import { expect } from "vitest";
import { HeadStart } from "./balance.ts";
import { Ground, type Entry, type GroundOptions, type Racer } from "./ground.ts";
import type { Candidate } from "./stored.ts";
import type { Act, Told } from "./talk.ts";

/** Of each kind. Shares are asserted from five hundred on: a head start is found in some rounds only. */
export const races = Number(process.env["PAWL_TEST_RACES"] ?? 1_000);
export const seed = Number(process.env["PAWL_TEST_SEED"] ?? 1);
export const hasShares = races >= 500;

export const numbers = Array.from({ length: races }, (_, n) => n);

export function rounds<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** How many shots fit into one connection at once, with room for what else is asked. */
export const perRound = 50;
/** Ms until the first shot of a round, by when both racers have heard of it. */
const leadMs = 60;
/** Ms from one race of a round to the next. */
const gapMs = 2;

/** What the racers were told in one race. */
export type Pair = readonly [first: Told, second: Told];

export type AnswerAct = Extract<Act, { do: "answer" }>;

/** The answer of one side of a race: under a key of its own, by a person of its own. */
export const answer = (side: "a" | "b", { decision, n }: Entry, choice: string): AnswerAct => ({
  do: "answer",
  decision,
  choice,
  actor: side === "a" ? "anna" : "bert",
  key: `${side}-${n}`,
});

export const candidate = ({ key, choice, actor }: AnswerAct, told: Told): Candidate => ({ key, choice, actor, told });

/** A ground of its own that is gone when the test is. */
export async function onGround(work: (ground: Ground) => Promise<void>, options: GroundOptions = {}): Promise<void> {
  const ground = new Ground(options);
  try {
    await work(ground);
  } finally {
    await ground.remove();
  }
}

export interface Duel {
  readonly first: Racer;
  readonly second: Racer;
  readonly acts: (entry: Entry) => readonly [first: Act, second: Act];
  /** How many of a round the first one won: by that the next one's head start is found. */
  readonly firstWins: (round: readonly Entry[], pairs: readonly Pair[]) => number | Promise<number>;
}

/** Two client processes against each other, race by race. Every third round is one salvo: all of it at the same moment. */
export async function duel({ first, second, acts, firstWins }: Duel, entries: readonly Entry[]): Promise<Map<number, Pair>> {
  const heads = new HeadStart(seed);
  const all = new Map<number, Pair>();
  for (const [number, round] of rounds(entries, perRound).entries()) {
    const start = Date.now() + leadMs;
    const gap = number % 3 === 0 ? 0 : gapMs;
    const aimed = round.map((entry, at) => ({ n: entry.n, at: start + at * gap, head: heads.next(), acts: acts(entry) }));
    const one = first.fire(aimed.map(({ n, at, head, acts: [act] }) => ({ n, at: at + Math.max(0, -head), act })));
    const other = second.fire(aimed.map(({ n, at, head, acts: [, act] }) => ({ n, at: at + Math.max(0, head), act })));
    const pairs = zipped(await one.told, await other.told);
    for (const pair of pairs) all.set(pair[0].n, pair);
    heads.learn(await firstWins(round, pairs), round.length);
  }
  return all;
}

function zipped(first: readonly Told[], second: readonly Told[]): Pair[] {
  return first.map((told, at) => {
    const other = second[at];
    if (other?.n !== told.n) throw new Error(`race ${told.n} was not told of by both`);
    return [told, other];
  });
}

/** Of a map that holds each race. */
export function of<T>(map: ReadonlyMap<number, T>, { n }: { readonly n: number }): T {
  const found = map.get(n);
  if (found === undefined) throw new Error(`race ${n} was not run`);
  return found;
}

export interface Shares {
  readonly firstWon: number;
  readonly secondWon: number;
  /** Races whose two events one commit group held. */
  readonly shared: number;
}

/** Either side won its share of the races, and enough of them were decided within one commit group. */
export function expectShares({ firstWon, secondWon, shared }: Shares): void {
  expect(firstWon + secondWon).toBe(races);
  if (!hasShares) return;
  expect(firstWon, "won by the first").toBeGreaterThanOrEqual(races / 20);
  expect(secondWon, "won by the second").toBeGreaterThanOrEqual(races / 20);
  expect(shared, "in one commit group").toBeGreaterThanOrEqual(races / 20);
}
