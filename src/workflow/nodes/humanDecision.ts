import type { PresentationInput } from "../../../machines/contracts/presentation.ts";
import { forget, type AnyContext } from "../context.ts";
import type { ChoiceResponse, Choices } from "../choices.ts";
import type { CommonOptions, NodeDefinition, Setting, Timeout } from "./node.ts";
import { forgetSetting, forgetTimeout } from "./setting.ts";

/** What the author's `request` says about the question. */
export interface DecisionRequestParts {
  /** At most 256 characters. */
  readonly title: string;
  /** What is decided on: any JSON. The answer binds to its digest. */
  readonly subject: unknown;
  /** What people read, complete on every channel; `planPresentation(plan)` makes one of any JSON. Without one they read the title alone. */
  readonly presentation?: PresentationInput;
  /** Positive, 1 unless set: raise it to make answers to an older text stale. */
  readonly revision?: number;
  /** Epoch ms after which nobody can answer any more; never together with `onTimeout`. */
  readonly expiresAt?: number;
}

/** The answer that counts when nobody gave one in time. */
export interface DecisionTimeout<Response = { readonly choice: string; readonly input?: string }> {
  /** ms from the asking; positive and finite. */
  readonly afterMs: number;
  readonly response: Response;
}

export interface HumanDecisionOptions<Context, Offered extends Choices> extends CommonOptions {
  /** A logical name that private configuration maps to channels. */
  readonly audience: Setting<Context, string>;
  readonly choices: Offered;
  readonly request: (context: Context) => DecisionRequestParts | Promise<DecisionRequestParts>;
  /** How long the whole step may take; none unless set. What the answer is when nobody gives one is `onTimeout`. */
  readonly timeoutMs?: Timeout<Context>;
  readonly onTimeout?: Setting<Context, DecisionTimeout<ChoiceResponse<NoInfer<Offered>>> | null | undefined>;
}

/**
 * Asks people, and waits for one answer as long as it takes. The cases to route on are the choice ids.
 * The output is the answer: `{ choice }`, and `input` where the choice asks for text.
 */
export function humanDecision<Context, const Offered extends Choices>(
  options: HumanDecisionOptions<Context, Offered>,
): NodeDefinition<Context, ChoiceResponse<Offered>, keyof Offered & string> {
  return {
    settings: {
      cases: Object.keys(options.choices ?? {}),
      timeoutMs: forgetTimeout(options.timeoutMs ?? null),
      once: false,
      retry: undefined,
      statusDetail: options.statusDetail,
    },
    behaviour: {
      kind: "humanDecision",
      audience: forgetSetting(options.audience),
      choices: options.choices,
      request: forget(options.request),
      onTimeout: options.onTimeout as Setting<AnyContext, DecisionTimeout | null | undefined>, // the choices that type it are checked against it when the request is built
    },
  };
}
