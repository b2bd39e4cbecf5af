/** RUN-6 A run that is killed at any commit, or at any moment of a command, goes on by `pawl resume` to the end it would have had. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Place, stepsWorkflow, type StopPoint } from "./kit.ts";

interface RunDocument {
  readonly id: string;
  readonly state: string;
  readonly decisions: readonly { readonly code: string; readonly state: string }[];
  readonly ambiguous: readonly { readonly key: string }[];
  readonly result: unknown;
}

const once = ["begin", "first", "act", "pay", "second", "end"] as const;
const parallel = 2;

const start = (place: Place): readonly string[] => ["run", stepsWorkflow, "--input", JSON.stringify({ dir: place.dir }), "--id-key", "the-run"];

/** Runs `task` for each item, a few at a time: a kill test mostly waits. */
async function each<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await task(item);
    }),
  );
}

const theRun = async (place: Place): Promise<RunDocument | null> => {
  const { items } = await place.json<{ items: readonly { id: string }[] }>(["runs"]);
  const [first] = items;
  return first ? place.json<RunDocument>(["show", first.id]) : null;
};

/** Resumes, answers and settles until the run ends; says what became of it. `settle` is what the person says of an ambiguous effect. */
async function goOn(place: Place, settle: "confirm" | "retry"): Promise<{ readonly run: RunDocument; readonly wasAmbiguous: boolean }> {
  let wasAmbiguous = false;
  for (let turns = 0; turns < 12; turns += 1) {
    const run = await theRun(place);
    if (run === null) {
      await place.pawl(start(place));
      continue;
    }
    if (run.state === "completed") return { run, wasAmbiguous };
    const [decision] = run.decisions.filter(({ state }) => state === "open");
    const [effect] = run.ambiguous;
    if (effect) {
      wasAmbiguous = true;
      const settled = await place.pawl(settle === "confirm" ? ["effect", "confirm", effect.key, "--output", '"pay"'] : ["effect", "retry", effect.key], {
        terminal: true,
      });
      expect(settled.code, `settling an ambiguous effect: ${settled.out}`).toBeLessThan(2);
      await place.pawl(["resume", run.id]);
    } else if (decision && run.state === "waiting") await place.pawl(["answer", decision.code, "go"], { terminal: true });
    else await place.pawl(["resume", run.id]);
  }
  throw new Error(`the run did not end: ${JSON.stringify(await theRun(place))}`);
}

/** Each step worked once; the one that was interrupted may have twice, the `once` one never by itself. */
function expectRight(place: Place, { run, wasAmbiguous }: { run: RunDocument; wasAmbiguous: boolean }, settle: "confirm" | "retry", at: string): void {
  expect(run.result, at).toEqual({ done: "end", paid: "pay" });
  const { counts } = place;
  const extra = once.reduce((sum, step) => sum + Math.max(0, (counts[step] ?? 0) - 1), 0);
  expect(extra, `${at}: ${JSON.stringify(counts)}`).toBeLessThanOrEqual(1);
  for (const step of once) if (step !== "pay") expect(counts[step], `${at}: ${step}`).toBeGreaterThanOrEqual(1);
  if (wasAmbiguous && settle === "confirm") expect(counts["pay"] ?? 0, `${at}: pay`).toBeLessThanOrEqual(1);
  else if (!wasAmbiguous) expect(counts["pay"], `${at}: pay`).toBe(1);
  expect(place.lines("overlap.txt"), `${at}: a killed command was still running beside its second attempt`).toEqual([]);
}

describe("kill -9", () => {
  let toTheDecision = 0;
  let toTheEnd = 0;

  beforeAll(async () => {
    const place = new Place();
    const first = await place.pawl(start(place));
    expect([first.code, first.err]).toEqual([3, expect.any(String)]);
    toTheDecision = first.commits ?? 0;
    const run = await theRun(place);
    const second = await place.pawl(["answer", run?.decisions[0]?.code ?? "", "go"], { terminal: true });
    toTheEnd = second.commits ?? 0;
    expect(place.counts).toEqual({ begin: 1, first: 1, act: 1, pay: 1, second: 1, end: 1 });
    place.remove();
  });

  afterAll(() => expect([toTheDecision > 5, toTheEnd > 5]).toEqual([true, true]));

  test.each(["before", "after"] as const)("RUN-6 %s every commit up to the decision", async (when) => {
    const points = Array.from({ length: toTheDecision }, (_, i): StopPoint => `${when}:${i + 1}`);
    await each(points, async (stop) => {
      const place = new Place();
      const killed = await place.pawl(start(place), { stop });
      expect(killed.code, `killed ${stop}`).not.toBe(3);
      expectRight(place, await goOn(place, "confirm"), "confirm", stop);
      place.remove();
    });
  });

  test.each(["before", "after"] as const)(
    "RUN-6 case 1 %s every commit from the answer to the end; an ambiguous payment is confirmed or tried again",
    async (when) => {
      const points = Array.from({ length: toTheEnd }, (_, i): StopPoint => `${when}:${i + 1}`);
      const ambiguous = new Set<string>();
      await each(points, async (stop) => {
        for (const settle of ["confirm", "retry"] as const) {
          const place = new Place();
          await place.pawl(start(place));
          const code = (await theRun(place))?.decisions[0]?.code ?? "";
          await place.pawl(["answer", code, "go"], { terminal: true, stop });
          const end = await goOn(place, settle);
          expectRight(place, end, settle, `${stop} ${settle}`);
          place.remove();
          if (end.wasAmbiguous) ambiguous.add(stop);
          else break;
        }
      });
      expect(ambiguous.size, "somewhere between its beginning and its result the payment is ambiguous").toBeGreaterThan(0);
    },
  );

  test.each(["first", "second"] as const)("RUN-7 at twenty moments of the command of step %s", async (step) => {
    await each(
      Array.from({ length: 20 }, (_, i) => i + 1),
      async (tick) => {
        const place = new Place();
        const killWhen = (): boolean => Number(place.lines(`${step}.tick`)[0] ?? 0) >= tick;
        if (step === "first") await place.pawl(start(place), { killWhen });
        else {
          await place.pawl(start(place));
          await place.pawl(["answer", (await theRun(place))?.decisions[0]?.code ?? "", "go"], { terminal: true, killWhen });
        }
        expectRight(place, await goOn(place, "confirm"), "confirm", `tick ${tick} of ${step}`);
        place.remove();
      },
    );
  });
});
