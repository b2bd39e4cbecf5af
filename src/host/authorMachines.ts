/** Definitions of authors' machines, made from the version that a stored actor names: the host has none of them, it asks author code for each step. */
import { createMachine } from "xstate";
import { isPawlError } from "../errors.ts";
import { AskedSteps } from "../runtime/askedSteps.ts";
import type { Execution } from "../runtime/attempt.ts";
import type { Definition } from "../runtime/definition.ts";
import type { EffectTask, ObserveTask } from "../runtime/executor.ts";
import { defineMachine } from "../runtime/registry.ts";
import { createElsewhereStepper } from "../runtime/stepElsewhere.ts";
import type { AuthorCode } from "./author/authorCode.ts";
import { authorMachineId, machineVersion, placeOf, type AuthorInput, type AuthorMachine, type MachinePlace, type PromiseCall } from "./author/authorMachine.ts";
import { begun } from "./begun.ts";
import type { RunSources } from "./sources.ts";

export interface AuthorMachinesOptions {
  readonly author: Pick<AuthorCode, "step" | "perform" | "promise" | "observe">;
  readonly sources: Pick<RunSources, "project">;
  /** An error nobody awaits: of a volatile action. */
  readonly onProblem: (error: unknown) => void;
}

/** At how many losses of its process a promise fails that does not say so itself: as an action's visit. */
const promiseLosses = 3;

/** By the version of a stored actor; undefined when no author machine has such a version. */
export function authorMachines({ author, sources, onProblem }: AuthorMachinesOptions): (version: string) => Definition | undefined {
  const asked = new AskedSteps();
  return (version) => {
    const place = placeOf(version);
    if (place === undefined) return undefined;
    const machineIn = (cwd: string): AuthorMachine => ({ ...place, cwd });
    const machine = (actor: string): AuthorMachine | Promise<AuthorMachine> => {
      const cwd = sources.project(runOf(actor));
      return typeof cwd === "string" ? machineIn(cwd) : cwd.then(machineIn);
    };
    const stepper = createElsewhereStepper({
      machine: nameOf(place),
      asked,
      maxInterrupted: promiseLosses,
      ask: (request) => {
        const of = machine(request.actor);
        return of instanceof Promise ? of.then((known) => author.step(known, request)) : author.step(of, request);
      },
      child: (src) => ({ machineId: authorMachineId, version: machineVersion({ ...place, path: [...place.path, src] }) }),
      // Only the machine of a node is started by Pawl's own; those below it get what their parents give.
      inputOf: (given) => (place.path.length === 0 ? (given as AuthorInput).input : given), // machineNode starts it with this
      perform: (actor, name) =>
        void Promise.resolve(machine(actor))
          .then((of) => author.perform(of, name))
          // One that its host leaves at its end is lost, as is said of it.
          .catch((error: unknown) => void ((isPawlError(error) && error.code === "closed") || onProblem(error))),
    });
    const promise = (src: string): Execution => ({
      run: (task) => begun(async () => author.promise(await machine(task.root), callOf(src, task), task)),
      observe: async (task) => author.observe(await machine(task.root), callOf(src, task), { signal: task.signal, report: () => undefined }),
    });
    return { ...defineMachine(createMachine({ id: authorMachineId, version }), { identity: "author" }), stepper, promise };
  };
}

const callOf = (src: string, { input, key, idempotencyKey, attempt }: EffectTask | ObserveTask): PromiseCall => ({ src, input, key, idempotencyKey, attempt });

/** Ids of actors begin with their run's. */
const runOf = (actor: string): string => actor.split("/", 1)[0] ?? actor;

const nameOf = ({ node, path }: MachinePlace): string => [node, ...path].join("/");
