/** Executes what README and docs show. The word after the language says what a fence is:
 *    ```ts file=ship.workflow.ts    is written into the page's folder
 *    ```ts run                      is a program: it runs and must exit 0
 *    ```sh run                      is a script, with `pawl` on its PATH: it must exit 0, or with the code of `exit=3`
 *    ```text output                 is what the fence before it prints, `…` standing for anything within a line and `…` alone for any lines
 *  The fences of a page run in order, in one new folder with a state directory of its own; then the compiler looks at the TypeScript among them. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { root } from "../house/source.ts";

export interface Fence {
  readonly language: string;
  readonly words: readonly string[];
  readonly body: string;
  readonly line: number;
}

/** Code fences of a Markdown page, in order; four or more backticks hide the fences inside them. */
export function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: { ticks: string; info: string; line: number; body: string[] } | null = null;
  for (const [index, text] of page.split("\n").entries()) {
    const ticks = /^`{3,}/.exec(text)?.[0];
    if (open === null) {
      if (ticks !== undefined) open = { ticks, info: text.slice(ticks.length).trim(), line: index + 1, body: [] };
    } else if (ticks !== undefined && ticks.length >= open.ticks.length && text.trim() === ticks) {
      const [language = "", ...words] = open.info.split(/\s+/);
      fences.push({ language, words, body: `${open.body.join("\n")}\n`, line: open.line });
      open = null;
    } else open.body.push(text);
  }
  return fences;
}

const setting = (fence: Fence, name: string): string | undefined => fence.words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);

/** True when a page has something to execute. */
export const hasRuns = (page: string): boolean => fencesOf(page).some((fence) => fence.words.includes("run"));

/** A pattern that fits the shown output. */
export function shownAs(expected: string): RegExp {
  const escaped = (text: string): string =>
    text
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("[^\\n]*");
  const lines = expected
    .trim()
    .split("\n")
    .map((line) => (line.trim() === "…" ? "(?:[^\\n]*\\n)*?" : `[ \\t]*${escaped(line.trim())}[ \\t]*\\n`));
  return new RegExp(`^${lines.join("")}$`);
}

/** A folder outside the clone in which `pawl` and its libraries can be imported, as in an author's own. */
function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl-docs-")));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/pawl"));
  symlinkSync(join(root, "src/cli/bin.js"), join(folder, "node_modules/.bin/pawl"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!name.startsWith(".") && name !== "pawl") symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }\n');
  return folder;
}

/** What the strict compiler says of the TypeScript files that a page wrote into its folder; empty when it has no objection. */
function typeErrors(folder: string, files: readonly string[]): string {
  if (files.length === 0) return "";
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions: { typeRoots: [join(root, "node_modules/@types")] }, files }),
  );
  const child = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  // Pawl's own sources are compiled along with them, and have a check of their own.
  return child.stdout
    .split("\n")
    .filter((line) => files.some((file) => line.startsWith(`${file}(`)) || line.startsWith("error TS"))
    .join("\n");
}

/** Runs a page's fences. @throws with the page's line, the exit code and what was printed, at the first fence that does not do what the page says. */
export function runPage(name: string, page: string): { readonly ran: number } {
  const folder = newFolder();
  const home = join(folder, "state");
  const env = {
    ...process.env,
    PAWL_HOME: home,
    // A page's folder is removed at its end: no host is to stay behind.
    PAWL_EMBEDDED: "1",
    NO_COLOR: "1",
    // What a script starts by the name of node uses this checkout's sources too.
    NODE_OPTIONS: "--conditions=pawl-source",
    PATH: [join(folder, "node_modules/.bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
  };
  const typescript: string[] = [];
  let ran = 0;
  let printed: string | null = null;
  try {
    for (const fence of fencesOf(page)) {
      const place = `${name}:${fence.line}`;
      const file = setting(fence, "file");
      if (file !== undefined) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), fence.body);
        if (fence.language === "ts") typescript.push(file);
      }
      if (fence.words.includes("run")) {
        const program = join(folder, file ?? `page-${fence.line}.${fence.language}`);
        writeFileSync(program, fence.body);
        if (fence.language === "ts" && file === undefined) typescript.push(basename(program));
        const [command, args] = fence.language === "sh" ? ["bash", ["-e", program]] : [process.execPath, ["--conditions=pawl-source", program]];
        const child = spawnSync(command, args, { cwd: folder, env, encoding: "utf8", input: "", timeout: 60_000 });
        const wanted = Number(setting(fence, "exit") ?? 0);
        if (child.status !== wanted) throw new Error(`${place} exits ${child.status ?? child.signal}, the page says ${wanted}\n${child.stdout}${child.stderr}`);
        printed = child.stdout;
        ran += 1;
      }
      if (fence.words.includes("output")) {
        if (printed === null) throw new Error(`${place} shows an output, but nothing ran before it`);
        if (!shownAs(fence.body).test(`${printed.trimEnd()}\n`)) throw new Error(`${place} shows another output than there is:\n${printed}`);
      }
    }
    const objections = typeErrors(folder, typescript);
    if (objections !== "") throw new Error(`${name} does not compile\n${objections}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { ran };
}
