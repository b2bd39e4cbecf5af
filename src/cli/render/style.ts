/** Colour, where the reader's terminal wants it. Nothing is said by colour alone. */
import { styleText } from "node:util";

export type Tone = "good" | "bad" | "attention" | "quiet" | "strong" | "plain";

/** Paints text that is already safe and cut to its width. */
export type Paint = (tone: Tone, text: string) => string;

const formats = { good: "green", bad: "red", attention: "yellow", quiet: "dim", strong: "bold" } as const;

export const noPaint: Paint = (_tone, text) => text;

const colours: Paint = (tone, text) => (tone === "plain" || text === "" ? text : styleText(formats[tone], text, { validateStream: false }));

/** Colours only on a terminal, and not when NO_COLOR is set (to anything but nothing) or TERM is dumb. */
export function paintFor(isTerminal: boolean, env: NodeJS.ProcessEnv): Paint {
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb" ? colours : noPaint;
}
