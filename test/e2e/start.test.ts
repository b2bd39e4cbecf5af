/** The first minute: `npm start`, as README says it, on a repository of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openPty, personEnvironment, type Pty } from "../cli/pty.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder: string;
let repo: string;
let env: NodeJS.ProcessEnv;
let open: Pty[];

const git = (...args: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main", ...args], { cwd: repo, encoding: "utf8" });

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl-start-")));
  repo = join(folder, "repository");
  env = personEnvironment({ PAWL_HOME: join(folder, "home"), INIT_CWD: folder });
  open = [];
  mkdirSync(repo);
  git("init", "--quiet");
  writeFileSync(join(repo, "a.txt"), "a\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "Begin");
  git("tag", "v2.4.1");
  writeFileSync(join(repo, "b.txt"), "b\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", 'Add b, with <angle> & "quotes"');
});

afterEach(() => {
  for (const pty of open) pty.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = (...args: readonly string[]): Pty => {
  const pty = openPty([process.execPath, join(root, "examples/release-check/start.js"), repo, ...args], { cwd: folder, env });
  open.push(pty);
  return pty;
};

describe("the release check", () => {
  test("E2E-1 asks in the terminal, and answered go writes the note and exits 0", async () => {
    const pty = start();
    await pty.waitFor("Release 2.5.0?");
    await pty.waitFor("1 commits since v2.4.1");
    await pty.waitFor("Your choice");
    pty.type("go\r");
    expect(await pty.exit).toBe(0);
    expect(readFileSync(join(repo, "release-notes/2.5.0.md"), "utf8")).toMatch(/^# 2\.5\.0, .*\n\n- Add b, with <angle> & "quotes" \(\w+\)\n$/);
  });

  test("E2E-2 replan takes a text that the next round shows, and stop writes nothing", async () => {
    const pty = start();
    await pty.waitFor("Your choice");
    pty.type("replan\r");
    await pty.waitFor("What should the note say differently?");
    pty.type("Thanks to all who tested.\r\r");
    await pty.waitFor("Release note, round 2");
    await pty.waitFor("Thanks to all who tested.");
    await pty.waitFor("Your choice");
    pty.type("stop\r");
    expect(await pty.exit).toBe(0);
    expect(existsSync(join(repo, "release-notes"))).toBe(false);
  });

  test("E2E-3 without a terminal it exits 3, and the command that it prints answers it", async () => {
    const piped = spawnSync(process.execPath, [join(root, "examples/release-check/start.js"), repo], { cwd: folder, env, encoding: "utf8", input: "" });
    expect(piped.status).toBe(3);
    const line = /^\s*(\S.* answer \w+ go\b.*)$/m.exec(piped.stdout)?.[1] ?? "";
    expect(line).not.toBe("");
    const pty = openPty(["/bin/sh", "-c", line.replace(/^node /, `${process.execPath} `)], { cwd: folder, env });
    open.push(pty);
    expect(await pty.exit).toBe(0);
    expect(readdirSync(join(repo, "release-notes"))).toEqual(["2.5.0.md"]);
  });

  test("E2E-4 a second check after the note was written takes the next version", async () => {
    for (const note of ["2.5.0.md", "2.6.0.md"]) {
      const pty = start();
      await pty.waitFor("Your choice");
      pty.type("1\r");
      expect(await pty.exit).toBe(0);
      expect(readdirSync(join(repo, "release-notes"))).toContain(note);
    }
  });
});
