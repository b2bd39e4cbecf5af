/** The exact command lines by which a run goes on; pure. */
import type { DecisionView, EffectView, RunView } from "../../host/api.ts";
import { isFinal } from "../exitCodes.ts";

/** Makes the command line of these words; see `Environment.command`. */
export type CommandLine = (...words: readonly string[]) => string;

export interface NextCommand {
  readonly command: string;
  /** What it does, or needs besides; may be empty. */
  readonly note: string;
}

/** One for each choice. */
export function answerCommands(decision: DecisionView, command: CommandLine): readonly NextCommand[] {
  return decision.request.choices.map(({ id, input }) => ({ command: command("answer", decision.code, id), note: input === null ? "" : "asks for a text" }));
}

/** The two ways to settle an unknown outcome. */
export function settleCommands(effect: EffectView, command: CommandLine): readonly NextCommand[] {
  return [
    { command: command("effect", "confirm", effect.key, "--output", "JSON"), note: "it happened; JSON is what it gave" },
    { command: command("effect", "retry", effect.key), note: "it did not happen: do it again" },
  ];
}

/** In the order in which they make sense; none for a finished run without unknown outcomes. */
export function nextCommands(view: RunView, command: CommandLine): readonly NextCommand[] {
  const answers = view.decisions.filter((decision) => decision.state === "open").flatMap((decision) => answerCommands(decision, command));
  const settlements = view.ambiguous.flatMap((effect) => settleCommands(effect, command));
  if (isFinal(view.state)) return settlements;
  const resume = answers.length > 0 ? [] : [{ command: command("resume", view.id), note: settlements.length === 0 ? "" : "after that" }];
  return [...answers, ...settlements, ...resume];
}

/** Commands as indented lines that are never broken: people copy them. */
export function commandLines(commands: readonly NextCommand[]): readonly string[] {
  return commands.map(({ command, note }) => `  ${command}${note === "" ? "" : `   # ${note}`}`);
}
