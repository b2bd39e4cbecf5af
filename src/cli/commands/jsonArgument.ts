/** JSON given on the command line or in a file. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { PawlError, messageOf } from "../../errors.ts";

/** The value of a JSON text. @throws invalidInput that names the option; the text itself may be private and is not repeated. */
export function parseJson(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8 quotes a piece of the text; only the place is kept.
    const place = /position \d+(?: \(line \d+ column \d+\))?/.exec(messageOf(error))?.[0] ?? "its end";
    throw new PawlError("invalidInput", `${option} is no valid JSON: the error is at ${place}. Put it in single quotes so that the shell leaves it alone.`, {
      path: option,
    });
  }
}

/** The text of a UTF-8 file; `-` is standard input. @throws invalidInput when it cannot be read. */
export function readTextFile(file: string, cwd: string, option: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file === "-" ? 0 : resolve(cwd, file));
  } catch (error) {
    throw new PawlError("invalidInput", `${option}: ${file} cannot be read (${messageOf(error)}).`, { subject: file, path: option });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new PawlError("invalidInput", `${option}: ${file} is no UTF-8 text.`, { subject: file, path: option });
  }
}

/** The one value of two options of which at most one may be given; undefined when neither is. */
export function jsonOption(
  options: { readonly json: string | undefined; readonly file: string | undefined },
  names: { readonly json: string; readonly file: string },
  cwd: string,
): { readonly value: unknown } | undefined {
  const { json, file } = options;
  if (json !== undefined && file !== undefined) throw new PawlError("invalidInput", `Give ${names.json} or ${names.file}, not both.`, { path: names.json });
  if (json !== undefined) return { value: parseJson(json, names.json) };
  return file === undefined ? undefined : { value: parseJson(readTextFile(file, cwd, names.file), names.file) };
}
