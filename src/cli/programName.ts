/** How a person can start this very program again: what printed commands begin with. */
import { accessSync, constants } from "node:fs";
import { basename, delimiter, join, relative } from "node:path";
import { shellWord } from "../text/shellWord.ts";

/** What `programName` looks at. */
export interface Invocation {
  /** `process.argv[1]`: the path the program was started by, links not resolved. */
  readonly script: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * `npx pawl` below npm (its scripts put a `pawl` on PATH that the person's own shell does not have), `pawl` when the
 * person's PATH has one, else the path as it was started.
 */
export function programName({ script, cwd, env }: Invocation): string {
  if (env["npm_command"] !== undefined || env["npm_lifecycle_event"] !== undefined) return "npx pawl";
  const typed = shortest(script, cwd);
  if (basename(script) !== "pawl") return `node ${shellWord(typed)}`;
  return onPath("pawl", env["PATH"] ?? "") ? "pawl" : shellWord(typed);
}

function shortest(path: string, cwd: string): string {
  const near = relative(cwd, path);
  if (near.startsWith("..") || near === "") return path;
  return near.includes("/") ? near : `./${near}`;
}

function onPath(name: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== "";
    } catch {
      // Not there: the next folder may have it.
      return false;
    }
  });
}
