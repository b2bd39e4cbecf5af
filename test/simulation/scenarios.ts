/** The worlds that can be simulated, by name. */
import { authors } from "./authors/scenario.ts";
import { clients, hosts } from "./hosts/scenario.ts";
import type { Scenario } from "./core/simulate.ts";

export const scenarios: readonly Scenario[] = [authors(), hosts(), clients()];

export function scenarioOf(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (!found) throw new Error(`There is no scenario "${name}". There are: ${scenarios.map((scenario) => scenario.name).join(", ")}.`);
  return found;
}
