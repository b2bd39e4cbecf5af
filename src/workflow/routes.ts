/** The type level of routes: which mistakes of a workflow the compiler finds, and the sentence it shows for each. */

/** A compile error: the sentence stands in the type that the compiler prints. */
export interface Mistake<Sentence extends string> {
  readonly mistake: Sentence;
}

export type SoftCase = "failed" | "timedOut";

/** Targets by case, `failed` and `timedOut` besides; for a node with one outcome its target alone is enough. */
export type NextFor<Cases extends string> = ([Cases] extends ["done"] ? string : never) | { readonly [Case in Cases | SoftCase]?: string };

/** A route as the compiler keeps it: who goes, and where. */
export interface Route<From extends string, To extends string> {
  readonly from: From;
  readonly to: To;
}

/** How a workflow may end: an end node and its output. */
export interface Exit<Id extends string, Output> {
  readonly exit: Id;
  readonly output: Output;
}

export type AnyExit = Exit<string, unknown>;

/** The id itself, or what is wrong with the node of this id. */
export type CheckedId<Id extends string, Defined, Promised, Output, Cases extends string, Next> = Id extends keyof Defined
  ? Mistake<`two nodes are named "${Id}"`>
  : Id extends keyof Promised
    ? [Output] extends [Promised[Id]]
      ? CheckedDefault<Id, Cases, Next>
      : Mistake<`node "${Id}" was promised by later() with another output`>
    : CheckedDefault<Id, Cases, Next>;

type CheckedDefault<Id extends string, Cases extends string, Next> = [Next] extends [undefined]
  ? [Cases] extends ["done"]
    ? Id
    : Mistake<`node "${Id}" needs a target for each of its cases: ${Cases}`>
  : Id;

/** Nothing more, or what is wrong with the targets of node `Id`. */
export type CheckedNext<Id extends string, Cases extends string, Next> = Next extends string | undefined
  ? unknown
  : [Exclude<Cases, keyof Next | "done">] extends [never]
    ? [Exclude<keyof Next & string, Cases | SoftCase>] extends [never]
      ? unknown
      : Mistake<`node "${Id}" has no case "${Exclude<keyof Next & string, Cases | SoftCase>}"`>
    : Mistake<`node "${Id}" has no target for its case "${Exclude<Cases, keyof Next | "done">}"`>;

/** The routes of a node, for the check at build(). */
export type RoutesOf<Id extends string, Next> = Next extends string
  ? Route<Id, Next>
  : Next extends undefined
    ? never
    : Route<Id, { [Case in keyof Next]: Next[Case] extends string ? Next[Case] : never }[keyof Next] & string>;

/** The exit that a node without a target for `done` is. */
export type ExitOf<Id extends string, Output, Cases extends string, Next> = [Cases] extends ["done"]
  ? [Next] extends [string]
    ? never
    : [Next] extends [{ readonly done: string }]
      ? never
      : Exit<Id, Output>
  : never;

/** Every promise and every target that no node keeps. */
export type Unkept<Routes, Promised, Defined> =
  | (Routes extends Route<infer From, infer To> ? (To extends keyof Defined ? never : `node "${From}" goes to "${To}", but no node is named "${To}"`) : never)
  | (Exclude<keyof Promised, keyof Defined> extends infer Never
      ? Never extends string
        ? `later() promised a node "${Never}" that never comes`
        : never
      : never);

/** `build()`, or why there is none. */
export type Build<Sentences extends string, Built> = [Sentences] extends [never] ? () => Built : Mistake<Sentences>;
