import type { ZodType, z } from "zod";
import { type AnyContext } from "../context.ts";
import { doneCase } from "../graph.ts";
import type { CommonOptions, NodeDefinition, Routing, Setting, Stored, Timeout } from "./node.ts";
import { forgetSetting, forgetTimeout } from "./setting.ts";

/** What a node's `validate` gives: nothing for a value that is right, or a text that tells the agent what is wrong with it. */
export type Verdict = string | undefined | null | void;

/** JSON, as an agent gives it when a node has no schema. */
export type AnyOutput = string | number | boolean | null | readonly AnyOutput[] | { readonly [key: string]: AnyOutput };

export interface AgentOptions<Context, Output, Cases extends string> extends CommonOptions {
  /** What the agent is asked to do. */
  readonly prompt: Setting<Context, string>;
  /**
   * Checks what the schema accepted. A text that it returns goes back to the agent, as does the message of an error that it throws;
   * the same visit goes on, ten refusals at most. A `TerminalError` fails the visit.
   */
  readonly validate?: (output: Output, context: Context) => Verdict | Promise<Verdict>;
  /** 15 minutes unless set, counted from the proven arrival of the message, and only while an agent is connected. */
  readonly timeoutMs?: Timeout<Context>;
  /** Names the case to take, by the output. */
  readonly route?: (output: Output) => Cases | Promise<Cases>;
  /** The cases that `route` may name; without a list, those that `next` names. */
  readonly cases?: readonly Cases[];
}

/** Asks an agent, who answers with a `submit`. With `output` the answer is validated and typed by that schema; without one it may be any JSON. */
export function agent<Context, Schema extends ZodType, const Cases extends string = "done">(
  options: AgentOptions<Context, z.output<Schema>, Cases> & { readonly output: Schema },
): NodeDefinition<Context, z.output<Schema>, Cases>;
export function agent<Context, const Cases extends string = "done">(
  options: AgentOptions<Context, AnyOutput, Cases> & { readonly output?: undefined },
): NodeDefinition<Context, AnyOutput, Cases>;
export function agent<Context>(
  options: AgentOptions<Context, never, string> & { readonly output?: ZodType | undefined },
): NodeDefinition<Context, never, never> {
  return {
    settings: {
      cases: options.route ? (options.cases ?? null) : (options.cases ?? [doneCase]),
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "agent",
      prompt: forgetSetting(options.prompt),
      output: options.output ?? null,
      // Both are given this node's own output, and `validate` the context of this very node.
      validate: (options.validate as AgentValidation | undefined) ?? null,
      route: (options.route as Routing | undefined) ?? null,
    },
  };
}

export type AgentValidation = (output: unknown, context: AnyContext) => unknown;

/** A choice of a `choose` node: what the agent reads of it. */
export interface ChooseOption {
  readonly label: string;
}

export interface ChooseOptions<Context, Offered extends { readonly [id: string]: ChooseOption }> extends CommonOptions {
  readonly prompt: Setting<Context, string>;
  /** By id, at most 20; the ids are the cases to route on. */
  readonly choices: Offered;
  readonly validate?: (output: Chosen<Offered>, context: Context) => Verdict | Promise<Verdict>;
  /** 15 minutes unless set, counted as an agent's. */
  readonly timeoutMs?: Timeout<Context>;
}

/** What an agent chose, and its reason where it gave one. */
export type Chosen<Offered> = { [Id in keyof Offered & string]: { readonly choice: Id; readonly reason?: string } }[keyof Offered & string];

/** Asks an agent for one of named choices, which are the cases to route on. The output is the choice, and the agent's reason if it gave one. */
export function choose<Context, const Offered extends { readonly [id: string]: ChooseOption }>(
  options: ChooseOptions<Context, Offered>,
): NodeDefinition<Context, Chosen<Offered>, keyof Offered & string> {
  return {
    settings: {
      cases: Object.keys(options.choices ?? {}),
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "choose",
      prompt: forgetSetting(options.prompt),
      choices: options.choices,
      validate: (options.validate as AgentValidation | undefined) ?? null, // given this node's own output and context
    },
  };
}

export interface AssistantMessageOptions<Context> extends CommonOptions {
  /** What the visible answer is to say. */
  readonly prompt: Setting<Context, string>;
  /** 15 minutes unless set, counted as an agent's. */
  readonly timeoutMs?: Timeout<Context>;
}

/** Whether there was an answer; `text` is what it said or why there was none, where that is known. */
export interface AssistantAnswer {
  readonly answered: boolean;
  readonly text: string | null;
}

/** Asks the regular model for one normal, visible answer. That it failed is an output too: the run goes on, and no work is repeated for it. */
export function assistantMessage<Context>(options: AssistantMessageOptions<Context>): NodeDefinition<Context, Stored<AssistantAnswer>, "done"> {
  return {
    settings: {
      cases: [doneCase],
      timeoutMs: forgetTimeout(options.timeoutMs),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: { kind: "assistantMessage", prompt: forgetSetting(options.prompt) },
  };
}
