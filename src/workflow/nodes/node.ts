/** What a node factory returns: its kind and data, and the author's callbacks. The limits are checked when the workflow is built, where the node's name is known. */
import type { AnyStateMachine } from "xstate";
import type { ZodType } from "zod";
import type { RetryPolicy } from "../../../machines/define.ts";
import type { AnyContext, Callback } from "../context.ts";
import type { Choices } from "../choices.ts";
import type { AnyWorkflow } from "../definition.ts";
import type { AgentValidation, ChooseOption } from "./agent.ts";
import type { BatchCommand } from "./batch.ts";
import type { DecisionRequestParts, DecisionTimeout } from "./humanDecision.ts";
import type { ShellOptions, ShellResult } from "./shell.ts";

/** A value, or a callback that gives it when the node runs. */
export type Setting<Context, Value> = Value | Callback<Context, Value | Promise<Value>>;

/** ms (positive, finite); null: no deadline; a callback has 30 s to give either. */
export type Timeout<Context> = Setting<Context, number | null>;

/** Settings that every kind has. */
export interface CommonOptions {
  /** Label of at most 120 characters, shown while the node runs. */
  readonly statusDetail?: string;
}

/** The callbacks and schemas of a node, with their types forgotten. */
export type NodeBehaviour =
  | { readonly kind: "compute" | "action"; readonly run: Callback<AnyContext, unknown>; readonly output: ZodType | null; readonly route: Routing | null }
  | {
      readonly kind: "shell";
      readonly command: ShellOptions<AnyContext>;
      readonly parse: ((result: ShellResult, context: AnyContext) => unknown) | null;
      readonly route: Routing | null;
    }
  | {
      readonly kind: "agent";
      readonly prompt: Setting<AnyContext, string>;
      readonly output: ZodType | null;
      readonly validate: AgentValidation | null;
      readonly route: Routing | null;
    }
  | {
      readonly kind: "choose";
      readonly prompt: Setting<AnyContext, string>;
      readonly choices: { readonly [id: string]: ChooseOption };
      readonly validate: AgentValidation | null;
    }
  | { readonly kind: "assistantMessage"; readonly prompt: Setting<AnyContext, string> }
  | { readonly kind: "notify"; readonly text: Setting<AnyContext, string>; readonly as: "progress" | "final" }
  | {
      readonly kind: "humanDecision";
      readonly audience: Setting<AnyContext, string>;
      readonly choices: Choices;
      readonly request: Callback<AnyContext, DecisionRequestParts | Promise<DecisionRequestParts>>;
      readonly onTimeout: Setting<AnyContext, DecisionTimeout | null | undefined>;
    }
  | {
      readonly kind: "machine";
      readonly machine: AnyStateMachine;
      readonly input: Callback<AnyContext, unknown> | null;
      readonly output: ZodType | null;
      readonly route: Routing | null;
    }
  | {
      readonly kind: "checkpoint";
      readonly title: Setting<AnyContext, string> | undefined;
      readonly prompt: Setting<AnyContext, string> | undefined;
      readonly output: ZodType;
      readonly route: Routing | null;
    }
  | { readonly kind: "include"; readonly child: AnyWorkflow; readonly input: Setting<AnyContext, unknown> }
  | {
      readonly kind: "batch";
      readonly commands: Setting<AnyContext, readonly BatchCommand[]>;
      readonly concurrency: number;
      readonly stopOnFailure: boolean;
      readonly allowNonZeroExit: boolean;
      readonly route: Routing | null;
    }
  | { readonly kind: "wait"; readonly forMs: Setting<AnyContext, number> | undefined; readonly until: Setting<AnyContext, number | Date> | undefined };

export type Routing = (output: unknown) => string | Promise<string>;

/** What the graph keeps of a node, as its author wrote it: unchecked. */
export interface NodeSettings {
  /** Null: a routed node whose cases are those that `next` names. */
  readonly cases: readonly string[] | null;
  /** Undefined: the kind's default. */
  readonly timeoutMs: Timeout<AnyContext> | undefined;
  readonly once: boolean;
  readonly retry: RetryPolicy | undefined;
  readonly statusDetail: string | undefined;
}

/** A node before it has a name. `Context` is what its callbacks need, `Output` what they give, `Cases` the outcomes to route on. */
export interface NodeDefinition<in Context, out Output, out Cases extends string> {
  readonly settings: NodeSettings;
  readonly behaviour: NodeBehaviour;
  /** For the compiler only. */
  readonly types?: { readonly context: (context: Context) => void; readonly output: Output; readonly cases: Cases };
}

/** What is stored of a callback that gives nothing. */
export type Stored<Output> = Output extends void | undefined ? null : Output;
