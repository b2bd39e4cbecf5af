/** Workflow files of a test: real ones, in a directory of their own. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh directory with these files; removed after the test. */
export function directoryWith(files: { readonly [path: string]: string }): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "pawl-workflow-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFiles(directory, files);
  return directory;
}

export function writeFiles(directory: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

/** The error that a call throws or rejects with. */
export async function errorOf(
  run: () => unknown,
): Promise<Error & { readonly code?: unknown; readonly path?: unknown; readonly subject?: unknown; readonly reason?: unknown }> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`It threw something that is no error: ${String(error)}`);
  }
  throw new Error("It did not throw.");
}
