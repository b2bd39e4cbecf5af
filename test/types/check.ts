/** What the compiler says of one file, under the settings of this repository. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const here = import.meta.dirname;
const root = join(here, "../..");

export interface Checked {
  readonly messages: readonly { readonly line: number; readonly text: string }[];
  readonly seconds: number;
}

/** The file is compiled in a folder of its own beside this one: its relative imports go one level further up. */
export async function check(text: string): Promise<Checked> {
  const directory = mkdtempSync(join(here, ".checked-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "file.ts");
  writeFileSync(file, text);
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions: { noUnusedLocals: false }, include: ["file.ts"] }),
  );
  const started = performance.now();
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", join(directory, "tsconfig.json"), "--pretty", "false"], {
    maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { stdout: string }) => error);
  const seconds = (performance.now() - started) / 1000;
  const messages = stdout
    .split(/\n(?=\S)/)
    .map((message) => /file\.ts\((\d+),\d+\): (?<text>[^]*)/.exec(message))
    .flatMap((found) => (found?.[1] === undefined ? [] : [{ line: Number(found[1]), text: found.groups?.["text"] ?? "" }]));
  return { messages, seconds };
}

/** Each `@ts-expect-error` of a file with what the compiler says of the line below it ("no error" when nothing), and what it says of other lines. */
export async function checkMarks(source: string, rule: string) {
  const marks = source
    .split("\n")
    .flatMap((text, index) =>
      text.includes("@ts-expect-error") ? [{ line: index + 1, contract: text.trim().replace(`// @ts-expect-error ${rule} `, "") }] : [],
    );
  const { messages } = await check(source.replaceAll("@ts-expect-error", "expected:"));
  return {
    found: marks.map(({ line, contract }) => [contract, messages.find((message) => message.line === line + 1)?.text ?? "no error"] as const),
    others: messages.filter(({ line }) => !marks.some((mark) => mark.line + 1 === line)),
  };
}
