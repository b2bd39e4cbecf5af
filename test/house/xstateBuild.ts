/** Tells XState's two builds apart by what they do: only the development build refuses an event of type "*". */
import { createMachine, initialTransition, transition } from "xstate";

export function loadedBuild(): "production" | "development" {
  const machine = createMachine({ initial: "still", states: { still: {} } });
  const [snapshot] = initialTransition(machine);
  try {
    transition(machine, snapshot, { type: "*" });
    return "production";
  } catch {
    return "development";
  }
}
