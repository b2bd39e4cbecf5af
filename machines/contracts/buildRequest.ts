/** Makes a decision's request out of what the author's callbacks returned. Called by the effect that prepares a decision, never in a transition. */
import { z } from "zod";
import { PawlError } from "../../src/errors.ts";
import { ChoiceContracts, DecisionResponse, responseFault, type ChoiceContract } from "./choices.ts";
import { channelRequest, DecisionRequest, DecisionRevision, decisionSchemas, titleUnits, type DecisionChannelRequest } from "./decision.ts";
import { normalisePresentation } from "./presentation.ts";
import { identifier, parsed, plainString, timestamp } from "./strings.ts";

/** SHA-256 (hex) over a value's canonical JSON and a final newline; throws invalidValue with the path. `src/digest.ts` has it: machines import nothing of Node's. */
export type DigestOf = (value: unknown, what: string) => string;

/** What the runtime knows of the visit that asks. */
export interface DecisionFacts {
  /** Actor id that the decision will have: `<node actor>/decision`. */
  readonly decision: string;
  readonly run: string;
  readonly node: string;
  /** `<graph actor>/<node>.<n>`. */
  readonly visit: string;
  readonly choices: readonly ChoiceContract[];
  /** Epoch ms; deadlines count from it. */
  readonly createdAt: number;
}

/** What the author's callbacks returned. Unchecked: an author may have no compiler. */
export interface DecisionAnswers {
  readonly audience: unknown;
  /** title, subject, and optionally presentation (without one the title is its summary), revision and expiresAt (epoch ms). */
  readonly request: unknown;
  /** `{ afterMs, response }`, or undefined or null for none. */
  readonly onTimeout: unknown;
}

/** What the decision machine is started with, apart from its code. */
export interface BuiltDecision {
  readonly request: DecisionRequest;
  /** Epoch ms of the default or of the expiry; null: the decision waits for ever. */
  readonly deadlineAt: number | null;
  readonly defaultResponse: DecisionResponse | null;
}

/** Output of the effect `pawl.decision.prepare`. The full request, subject included, is that effect's stored value. */
export interface PreparedDecision {
  readonly request: DecisionChannelRequest;
  /** Short code that people type. */
  readonly code: string;
  readonly deadlineAt: number | null;
  readonly defaultResponse: DecisionResponse | null;
  /** ms that the node gave itself; null: no deadline that its graph does not hold already. */
  readonly timeoutMs?: number | null;
}

const Asked = z.strictObject({
  title: plainString({ min: 1, max: titleUnits }),
  subject: z.unknown(),
  presentation: z.unknown().optional(),
  revision: DecisionRevision.optional(),
  expiresAt: timestamp.nullish(),
});

const Timeout = z.strictObject({
  afterMs: z.custom<number>((value) => typeof value === "number" && Number.isFinite(value) && value > 0, {
    error: (issue) =>
      `must be a positive finite number of milliseconds, not ${typeof issue.input === "string" ? JSON.stringify(issue.input) : String(issue.input)}`,
  }),
  response: DecisionResponse,
});

/**
 * The request with its three digests, and the deadline it sets.
 * @throws invalidValue naming the decision's node and the path, for anything that the contract forbids: nothing is asked then.
 */
export function buildDecisionRequest(facts: DecisionFacts, answers: DecisionAnswers, digestOf: DigestOf): BuiltDecision {
  try {
    return build(facts, answers, digestOf);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    throw new PawlError("invalidValue", `Decision "${facts.node}" cannot be asked: ${error.message}`, {
      subject: facts.visit,
      cause: error,
      ...(error.path === undefined ? {} : { path: error.path }),
    });
  }
}

/** The effect's result for a built request: what goes into the event, and what only the effect's row keeps. */
export function preparedDecision(
  { request, deadlineAt, defaultResponse }: BuiltDecision,
  code: string,
): { readonly output: PreparedDecision; readonly value: DecisionRequest } {
  return { output: { request: channelRequest(request), code, deadlineAt, defaultResponse }, value: request };
}

/** True when the digests of a stored request are those of its content. */
export function digestsMatch(request: DecisionRequest, digestOf: DigestOf): boolean {
  const { decision: _derived, digests, ...basis } = request;
  return (
    digestOf(basis.subject, "subject") === digests.subject &&
    digestOf(basis.presentation, "presentation") === digests.presentation &&
    digestOf(basis, "request") === digests.request
  );
}

function build(facts: DecisionFacts, answers: DecisionAnswers, digestOf: DigestOf): BuiltDecision {
  const asked = parsed(Asked, answers.request, "request");
  const choices = parsed(ChoiceContracts, facts.choices, "choices");
  const fallback = defaultOf(answers.onTimeout, choices, facts.createdAt);
  const expiresAt = asked.expiresAt ?? null;
  if (fallback && expiresAt !== null)
    throw new PawlError("invalidValue", "request.expiresAt stands beside onTimeout; a decision expires or has a default, not both.", {
      path: "request.expiresAt",
    });
  const presentation = normalisePresentation(asked.presentation ?? { summary: asked.title, blocks: [] }, "request.presentation");
  const basis = {
    schema: decisionSchemas.request,
    run: facts.run,
    node: facts.node,
    visit: facts.visit,
    title: asked.title,
    subject: asked.subject,
    presentation,
    revision: asked.revision ?? 1,
    audience: parsed(identifier, answers.audience, "audience"),
    choices,
    createdAt: facts.createdAt,
    expiresAt,
    default: fallback,
  };
  const digests = {
    subject: digestOf(asked.subject, "request.subject"),
    presentation: digestOf(presentation, "request.presentation"),
    request: digestOf(basis, "request"),
  };
  const request = parsed(DecisionRequest, { ...basis, decision: facts.decision, digests }, "request");
  return { request, deadlineAt: fallback?.at ?? expiresAt, defaultResponse: fallback?.response ?? null };
}

function defaultOf(
  onTimeout: unknown,
  choices: readonly ChoiceContract[],
  createdAt: number,
): { readonly response: DecisionResponse; readonly at: number } | null {
  if (onTimeout === undefined || onTimeout === null) return null;
  const { afterMs, response } = parsed(Timeout, onTimeout, "onTimeout");
  const fault = responseFault(choices, response);
  if (fault)
    throw new PawlError("invalidValue", `onTimeout.response.${fault.path} is no valid answer: ${fault.message}`, { path: `onTimeout.response.${fault.path}` });
  const at = timestamp.safeParse(Math.ceil(createdAt + afterMs));
  if (!at.success)
    throw new PawlError("invalidValue", `onTimeout.afterMs sets a deadline beyond what a date can hold: ${afterMs} ms.`, { path: "onTimeout.afterMs" });
  return { response, at: at.data };
}
