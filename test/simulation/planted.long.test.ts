import { expect, test } from "vitest";
import { authors } from "./authors/scenario.ts";
import { simulate } from "./core/simulate.ts";
import { planted } from "./planted.ts";
import { scenarioOf } from "./scenarios.ts";

/** Seeds within which a planted fault must show itself. */
const bound = 150;
const steps = 400;

test.each(planted.map((fault) => [fault.what, fault] as const))("SIM-16 it is found that %s", async (_what, { among, sabotage, store, foundBy }) => {
  const scenario = among === undefined ? authors(store) : scenarioOf(among);
  let seed = 0;
  let found: string | undefined;
  while (found === undefined && seed < bound) {
    seed += 1;
    found = (await simulate({ scenario, seed, steps, ...(sabotage ? { sabotage } : {}) })).violation?.rule;
  }
  expect(found, `after ${seed} seeds`).toBeOneOf([...foundBy]);
});

test("SIM-16 without a planted fault the same seeds hold", async () => {
  for (let seed = 1; seed <= 40; seed += 1) expect((await simulate({ scenario: authors(), seed, steps })).violation, `seed ${seed}`).toBeNull();
});
