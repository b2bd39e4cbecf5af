/** What a walk sees of a tree of actors, in one form for live XState and for the runtime. */
import type { AnyEventObject, AnyStateMachine } from "xstate";
import { markOf } from "../../machines/define.ts";
import { isMachineLogic } from "../../src/runtime/step.ts";

/** One actor: `path` is the names from the root down, the root's own being "". */
export interface SeenActor {
  readonly path: string;
  readonly machine: string;
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: string;
  /** Names of its children, promises included. */
  readonly children: readonly string[];
}

/** Something that was done, in order. */
export type Deed =
  | { readonly kind: "promise"; readonly path: string; readonly source: string; readonly input: unknown }
  | { readonly kind: "effect"; readonly path: string; readonly type: string; readonly params: unknown }
  | { readonly kind: "emitted"; readonly path: string; readonly event: unknown }
  | { readonly kind: "log"; readonly label: string | null; readonly value: unknown }
  | { readonly kind: "volatile"; readonly name: string; readonly params: unknown };

/** One side of a walk. All of it stands still when a call returns. */
export interface World {
  start(): Promise<void>;
  send(path: string, event: AnyEventObject): Promise<void>;
  advance(ms: number): Promise<void>;
  /** Ends the nth promise that was ever started, wanted or not. */
  settle(nth: number, outcome: { readonly output: unknown } | { readonly error: string }): Promise<void>;
  tree(): Promise<readonly SeenActor[]>;
  /** Milliseconds from now to each pending timer, ascending. */
  timers(): Promise<readonly number[]>;
  /** What was done since the last call. */
  deeds(): readonly Deed[];
  close(): Promise<void>;
}

/** Every promise and named effect of these machines: by source for a promise, by type for an effect. */
export function promisesOf(machines: readonly AnyStateMachine[]): readonly string[] {
  return [
    ...new Set(
      machines.flatMap((machine) =>
        Object.entries(machine.implementations.actors).flatMap(([src, logic]) => (isMachineLogic(logic) ? [] : [sourceOf(src, logic)])),
      ),
    ),
  ];
}

export const sourceOf = (src: string, logic: unknown): string => {
  const mark = markOf(logic);
  return mark?.kind === "effect" && mark.type !== "" ? mark.type : src;
};

/** Types of the effects that actions of these machines ask for. */
export const effectTypesOf = (machines: readonly AnyStateMachine[]): readonly string[] => [
  ...new Set(
    machines.flatMap((machine) =>
      Object.values(machine.implementations.actions).flatMap((action) => {
        const mark = markOf(action);
        return mark?.kind === "effect" ? [mark.type] : [];
      }),
    ),
  ),
];

/** As data; references as XState writes them, without what the runtime adds. */
export function plain(value: unknown): unknown {
  return value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value), (_key, item: unknown) => {
        if (typeof item === "object" && item !== null && "xstate$$type" in item && "id" in item) return { xstate$$type: 1, id: item.id };
        return item;
      });
}
