/** Every event as one JSON object a line; what steps print goes to standard error. */
import { jsonLine } from "../json.ts";
import type { Reporter } from "./reporter.ts";

export function jsonReporter(out: (text: string) => void, err: (text: string) => void): Reporter {
  return {
    begin: () => {},
    event: (event) => out(jsonLine(event)),
    note: (line) => err(`${line}\n`),
    end: () => {},
  };
}
