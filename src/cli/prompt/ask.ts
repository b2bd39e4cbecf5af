/** Asks a person at the terminal to decide. What is recorded is what they typed, for the decision they were shown. */
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { AnswerRequest, AnswerResult, DecisionView } from "../../host/api.ts";
import type { Environment, Terminal } from "../environment.ts";
import { localTime } from "../render/time.ts";
import { findChoice } from "./choose.ts";
import { decisionScreen, type Choice } from "./decisionScreen.ts";
import { openTerminalInput, type TerminalInput, type Typed } from "./terminalInput.ts";

/** How asking ended. `settled`: somebody else answered, or the deadline did. */
export type Asked =
  | { readonly kind: "answered"; readonly result: AnswerResult }
  | { readonly kind: "settled" }
  | { readonly kind: "left"; readonly by: "interrupt" | "end" };

export interface Question {
  readonly decision: DecisionView;
  /** Aborted when the decision is settled meanwhile. */
  readonly settled: AbortSignal;
  readonly answer: (request: AnswerRequest) => Promise<AnswerResult>;
}

/** Shows the whole decision and asks until there is a valid answer, it is settled, or the person leaves. */
export async function askDecision(question: Question, terminal: Terminal, environment: Environment): Promise<Asked> {
  const { clock, paint } = environment;
  environment.out(["", ...decisionScreen(question.decision, clock.now(), environment.width(), paint), ""].map((line) => `${line}\n`).join(""));
  const input = await openTerminalInput(terminal, clock, question.settled);
  try {
    return await askUntilSettled(question, input, environment);
  } finally {
    input.close();
  }
}

async function askUntilSettled({ decision, answer }: Question, input: TerminalInput, environment: Environment): Promise<Asked> {
  for (;;) {
    say(environment, "Your choice, by id or number (Ctrl-C leaves; the decision stays open):");
    const typed = await input.readLine();
    if (typed.kind !== "text") return endOf(typed);
    const found = findChoice(typed.text, decision.request.choices);
    if ("problem" in found) {
      say(environment, found.problem);
      continue;
    }
    const text = await askText(found.choice, input, environment);
    if (text === "back") continue;
    if (text !== null && text.kind !== "text") return endOf(text);
    const result = await answer(answerOf(decision, found.choice, text?.text, environment));
    if (result.status !== "refused") {
      say(environment, recordedLine(result, found.choice, environment.clock.now()), "");
      return { kind: "answered", result };
    }
    say(environment, result.message);
    if (result.code !== "invalid") return { kind: "settled" };
  }
}

/** Asks for nothing but the text of a choice. */
export async function askTextAlone(choice: Pick<Choice, "input">, terminal: Terminal, environment: Environment): Promise<Typed | "back" | null> {
  if (choice.input === null) return null;
  const input = await openTerminalInput(terminal, environment.clock, environment.interrupts.signal);
  try {
    return await askText(choice, input, environment);
  } finally {
    input.close();
  }
}

/** The text of a choice that takes one: as typed, `back` when there is none, or how the person left; null for a choice that takes none. */
async function askText(choice: Pick<Choice, "input">, input: TerminalInput, environment: Environment): Promise<Typed | "back" | null> {
  if (choice.input === null) return null;
  const { label, min, max } = choice.input;
  for (;;) {
    say(environment, visibleLine(label), `(${min} to ${max} characters; an empty line or Ctrl-D ends the text, no text goes back)`);
    const typed = await input.readText();
    if (typed.kind !== "text") return typed;
    if (typed.text === "") return "back";
    const problem = textProblem(typed.text, min, max);
    if (problem === null) return typed;
    say(environment, problem);
  }
}

function say({ out, width }: Environment, ...lines: readonly string[]): void {
  out(
    lines
      .flatMap((line) => wrap(line, width()))
      .map((line) => `${line}\n`)
      .join(""),
  );
}

/** Why a text is not within its limits (UTF-16 units); null when it is. */
export function textProblem(text: string, min: number, max: number): string | null {
  if (text.length >= min && text.length <= max) return null;
  return `That text has ${text.length} characters; ${text.length < min ? `at least ${min} are needed` : `at most ${max} are allowed`}. Nothing was sent; type it again.`;
}

/** The answer to the very request that was shown. */
export function answerOf(
  decision: Pick<DecisionView, "id" | "request">,
  choice: Pick<Choice, "id">,
  text: string | undefined,
  environment: Pick<Environment, "user" | "newKey">,
): AnswerRequest {
  return {
    decision: decision.id,
    choice: choice.id,
    text,
    idempotencyKey: environment.newKey(),
    requestDigest: decision.request.digests.request,
    revision: decision.request.revision,
    source: { kind: "human", channel: "terminal", actor: environment.user },
  };
}

/** What was saved, in one line. */
export function recordedLine(result: AnswerResult, choice: Pick<Choice, "id" | "label">, now: number): string {
  const at = result.decision?.settledAt ?? now;
  const how = result.status === "duplicate" ? "It was already recorded" : "Recorded";
  return `${how}: ${choice.id} (${visibleLine(choice.label)}) at ${localTime(at, now)}.`;
}

const endOf = (typed: Exclude<Typed, { kind: "text" }>): Asked => (typed.kind === "withdrawn" ? { kind: "settled" } : { kind: "left", by: typed.by });
