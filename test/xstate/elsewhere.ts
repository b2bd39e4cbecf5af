/** Definitions of machines that a runtime does not have: each step goes as data to who has them, and comes back as data. */
import { createMachine } from "xstate";
import { AskedSteps } from "../../src/runtime/askedSteps.ts";
import type { Definition } from "../../src/runtime/definition.ts";
import { StepAnswers } from "../../src/runtime/stepAnswers.ts";
import { createElsewhereStepper } from "../../src/runtime/stepElsewhere.ts";
import type { StepAnswer, StepRequest } from "../../src/runtime/stepWire.ts";

/** `later`: each answer takes a turn of the loop. */
export function steppedElsewhere(definitions: readonly Definition[], when: "later" | "atOnce"): readonly Definition[] {
  const answers = new StepAnswers();
  const asked = new AskedSteps();
  return definitions.map((definition) => {
    const answer = (request: StepRequest): StepAnswer => structuredClone(answers.answer(definition.machine, structuredClone(request)));
    const stepper = createElsewhereStepper({
      machine: definition.id,
      ask:
        when === "atOnce"
          ? answer
          : async (request) => {
              await new Promise((resolve) => setImmediate(resolve));
              return answer(request);
            },
      asked,
      child: (_src, { id, version }) => ({ machineId: id, version }),
      inputOf: (given) => given,
      perform: (_actor, name) => answers.perform(name),
      maxInterrupted: null,
    });
    return { ...definition, machine: createMachine({ id: definition.id }), stepper };
  });
}
