/** The exact command lines by which a run goes on; pure. */
import type { DecisionView, EffectView, RunSummary } from "../../host/api.ts";
import { wrap } from "../../text/cells.ts";
import { isFinal } from "../exitCodes.ts";
import { nodeOf } from "./attention.ts";
import { isPausedBeside } from "./words.ts";

/** Makes the command line of these words; see `Environment.command`. */
export type CommandLine = (...words: readonly string[]) => string;

export interface NextCommand {
  readonly command: string;
  /** When to type it; the empty text where that is plain. */
  readonly when: string;
}

/** Open, and terminals of this machine may answer it. */
export const isAskedHere = ({ state, delivery }: Pick<DecisionView, "state" | "delivery">): boolean => state === "open" && delivery?.local !== false;

/** One for each choice; none where no terminal may answer. */
export function answerCommands(decision: DecisionView, command: CommandLine): readonly NextCommand[] {
  if (!isAskedHere(decision)) return [];
  return decision.request.choices.map(({ id }) => ({ command: command("answer", decision.code, id), when: "" }));
}

/** The two ways to settle an unknown outcome; beside others it is named. */
export function settleCommands(effect: EffectView, command: CommandLine, isOnly = true): readonly NextCommand[] {
  const it = isOnly ? "it" : nodeOf(effect);
  return [
    { command: command("effect", "confirm", effect.key, "--output", "JSON"), when: `When ${it} happened, with what it gave as JSON:` },
    { command: command("effect", "retry", effect.key), when: `When ${it} did not happen, to do it again:` },
  ];
}

/** In the order in which they make sense; none for a finished run without unknown outcomes. */
export function nextCommands(view: RunSummary, command: CommandLine): readonly NextCommand[] {
  const answers = view.decisions.flatMap((decision) => answerCommands(decision, command));
  const checkpoint = view.awaits?.kind === "checkpoint" ? [{ command: command("answer", view.id, "--input-json", "JSON"), when: "" }] : [];
  const settlements = view.ambiguous.flatMap((effect) => settleCommands(effect, command, view.ambiguous.length === 1));
  if (isFinal(view.state)) return settlements;
  const asked = view.decisions.filter((decision) => decision.state === "open").length + checkpoint.length;
  // No command brings an agent: its message says what would.
  const isHeldUp = (asked === 0 && view.reason?.code !== "noAgent") || isPausedBeside(view);
  const resume = isHeldUp ? [{ command: command("resume", view.id), when: asked + settlements.length === 0 ? "" : "Then go on:" }] : [];
  // What a machine of the run cannot take may never become another thing.
  const end = view.state === "blocked" ? [{ command: command("cancel", view.id), when: "Or end it for good:" }] : [];
  return [...answers, ...checkpoint, ...settlements, ...resume, ...end];
}

/** For a run that goes on without this terminal. */
export function watchCommands({ id }: RunSummary, command: CommandLine): readonly NextCommand[] {
  return [
    { command: command("resume", id), when: "Watch it again with:" },
    { command: command("pause", id), when: "Pause it:" },
    { command: command("cancel", id), when: "End it for good:" },
  ];
}

/** Each command on a line of its own, alone and never broken, since people copy it; above it when to type it. */
export function commandLines(commands: readonly NextCommand[], width: number): readonly string[] {
  return commands.flatMap(({ command, when }) => [...(when === "" ? [] : wrap(when, width)), `  ${command}`]);
}
