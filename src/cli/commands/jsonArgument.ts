/** JSON given on the command line or in a file. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { PawlError, messageOf } from "../../errors.ts";
import { checkJson } from "../../json.ts";

/** The value of a JSON text. @throws invalidInput that names the option; the text itself may be private and is not repeated. */
export function parseJson(text: string, option: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // V8 quotes a piece of the text; only the place is kept.
    const place = /position \d+(?: \(line \d+ column \d+\))?/.exec(messageOf(error))?.[0] ?? "its end";
    throw new PawlError(
      "invalidInput",
      `${option} is no valid JSON: the error is at ${place}. ${option.endsWith("-file") ? "Mend the file" : "Put it in single quotes so that the shell leaves it alone"}.`,
      {
        path: option,
      },
    );
  }
  // A number that is too large is read as infinite, and would be stored as null.
  checkJson(value, option);
  return value;
}

/** The text of a UTF-8 file; `-` is standard input, which is waited for. @throws invalidInput when it cannot be read. */
export async function readTextFile(file: string, cwd: string, option: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = file === "-" ? await buffer(process.stdin) : readFileSync(resolve(cwd, file));
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
export async function jsonOption(
  options: { readonly json: string | undefined; readonly file: string | undefined },
  names: { readonly json: string; readonly file: string },
  cwd: string,
): Promise<{ readonly value: unknown } | undefined> {
  const { json, file } = options;
  if (json !== undefined && file !== undefined) throw new PawlError("invalidInput", `Give ${names.json} or ${names.file}, not both.`, { path: names.json });
  if (json !== undefined) return { value: parseJson(json, names.json) };
  return file === undefined ? undefined : { value: parseJson(await readTextFile(file, cwd, names.file), names.file) };
}
