/** What a person may do wrong, or find wrong, on the real command: each gets a clear sentence and its exit code, and changes nothing. */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fixture, type Fixture } from "../cli/fixture.ts";
import { canMount, remount, smallFileSystem } from "../persistence/places.ts";

let f: Fixture;
beforeEach(() => {
  f = fixture();
});
afterEach(() => f.remove());

/** Every file below a directory with the digest of its bytes. */
function contents(directory: string): readonly string[] {
  if (!existsSync(directory)) return [];
  return (
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .map((name) => join(directory, name))
      // SQLite's own files beside the database come and go with readers; what was stored stands in the database.
      .filter((path) => statSync(path).isFile() && !/-(?:wal|shm)$/.test(path))
      .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
      .sort()
  );
}

/** What the state directory holds. Who opens it as owner is numbered in the database, so its bytes are not compared but what it says. */
const stored = (): readonly string[] => [
  ...contents(f.home).filter((line) => !line.includes("pawl.db ")),
  ...["runs", "decisions --all", "effect list --all"].map((words) => f.piped([...words.split(" "), "--json"]).out),
];

const workflowFile = (name: string, text: string): string => {
  writeFileSync(join(f.folder, name), text);
  return `./${name}`;
};

const missingCase = `
import { choices, compute, humanDecision, workflow } from "pawl";
import { z } from "zod";
export default workflow({ name: "gap", input: z.object({}) })
  .node("ask", humanDecision({ audience: "operator", choices: choices({ go: { label: "Go" }, stop: { label: "Stop" } }), request: () => ({ title: "Go?", subject: 1 }) }), { go: "end" } as never)
  .node("end", compute(() => 1))
  .build();
`;

describe("wrong requests", () => {
  const cases: readonly { readonly name: string; readonly args: () => readonly string[]; readonly says: readonly (string | RegExp)[] }[] = [
    { name: "an unknown workflow", args: () => ["run", "aproval"], says: ["aproval", /Looked for/] },
    { name: "a file that is not there", args: () => ["run", "./nothing.workflow.ts"], says: ["nothing.workflow.ts"] },
    {
      name: "broken TypeScript",
      args: () => ["run", workflowFile("broken.workflow.ts", "export default workflow({\n  name: 'x',,\n});\n")],
      says: ["broken.workflow.ts", /:2\b/],
    },
    { name: "a missing case", args: () => ["run", workflowFile("gap.workflow.ts", missingCase)], says: ["gap.workflow.ts", '"ask"', '"stop"'] },
    {
      name: "a default export that is no workflow",
      args: () => ["run", workflowFile("none.workflow.ts", "export default 7;\n")],
      says: ["none.workflow.ts", "default"],
    },
    { name: "input that does not fit", args: () => ["run", "./approval.workflow.ts", "--input", '{"task":7}'], says: ["task", /string/] },
    { name: "input that is no JSON", args: () => ["run", "./approval.workflow.ts", "--input", "{task:1}"], says: [/JSON/] },
    { name: "an unknown run", args: () => ["show", "r_nothing"], says: ["r_nothing"] },
    { name: "an unknown command", args: () => ["rnu"], says: ["rnu", "run"] },
    { name: "an unknown option", args: () => ["runs", "--limt", "3"], says: ["--limt", "--limit"] },
    { name: "a limit out of range", args: () => ["runs", "--limit", "0"], says: ["limit"] },
  ];
  test.each(cases.map((wrong) => [wrong.name, wrong] as const))("CLI-5 %s ends with 2 and changes nothing", (_name, { args, says }) => {
    f.piped(["run", "./approval.workflow.ts", "--task", "before"]);
    const line = args();
    const before = stored();
    const { code, out, err } = f.piped(line);
    expect([code, out]).toEqual([2, ""]);
    for (const part of says) expect(err).toMatch(part);
    expect(err).not.toMatch(/\n\s+at /);
    expect(stored()).toEqual(before);
  });
});

describe("wrong answers", () => {
  const waiting = (): { readonly id: string; readonly code: string } => {
    f.piped(["run", "./approval.workflow.ts", "--task", "ship it"]);
    const [decision] = (JSON.parse(f.piped(["decisions", "--json"]).out) as { items: { run: string; code: string }[] }).items; // the page that the command prints
    return { id: decision?.run ?? "", code: decision?.code ?? "" };
  };

  test("case 12 an answer to a settled decision is refused and names the winner", async () => {
    const { code } = waiting();
    expect(await f.terminal(["answer", code, "stop"]).exit).toBe(0);
    const late = f.terminal(["answer", code, "go"]);
    expect(await late.exit).toBe(2);
    expect(late.lines().join("\n")).toMatch(/stop/);
  });

  test("DEC-18 a mistyped code answers nothing and asks whether another was meant", async () => {
    const { id, code } = waiting();
    const wrong = `${code.slice(0, -1)}${code.endsWith("0") ? "1" : "0"}`;
    const pty = f.terminal(["answer", wrong, "go"]);
    expect(await pty.exit).toBe(2);
    expect(pty.lines().join("")).toContain(`Did you mean ${code}?`);
    expect((JSON.parse(f.piped(["show", id, "--json"]).out) as { state: string }).state).toBe("waiting");
  });
});

describe("state that stands in the way", () => {
  const database = (): string => join(f.home, "pawl.db");

  test("STORE-3 a file that is no database ends with 4, says the way out, and stays as it is", () => {
    mkdirSync(f.home, { mode: 0o700 });
    writeFileSync(database(), "not a database, but long enough to look like one".repeat(40));
    const before = contents(f.home).filter((line) => line.includes("pawl.db "));
    const { code, err } = f.piped(["run", "./approval.workflow.ts", "--task", "x"]);
    expect(code).toBe(4);
    expect(err).toContain(database());
    expect(err).toMatch(/mv |cp /);
    expect(contents(f.home).filter((line) => line.includes("pawl.db "))).toEqual(before);
  });

  test("STORE-2 the database of another program ends with 4 and stays as it is", () => {
    mkdirSync(f.home, { mode: 0o700 });
    const Database = createRequire(import.meta.url)("better-sqlite3");
    const other = new Database(database());
    other.exec("create table notes (id integer primary key, text text); insert into notes (text) values ('mine')");
    other.close();
    const before = readFileSync(database());
    const { code, err } = f.piped(["runs"]);
    expect(code).toBe(4);
    expect(err).toMatch(/another program|not.*Pawl/i);
    expect(readFileSync(database()).equals(before)).toBe(true);
  });

  test.runIf(canMount)("STORE-5 a directory that cannot be written ends with 4 and says so", () => {
    const place = smallFileSystem(4096);
    f.piped(["run", "./approval.workflow.ts", "--task", "x", "--home", join(place, "home")]);
    remount(place, "ro");
    const before = contents(place);
    const { code, err } = f.piped(["run", "./approval.workflow.ts", "--task", "y", "--home", join(place, "home")]);
    expect(code).toBe(4);
    expect(err).toMatch(/read-only|cannot be written|not writable/i);
    expect(contents(place)).toEqual(before);
    remount(place, "rw");
  });

  test.runIf(canMount)("case 136 a full disk stops the run with its reason; after space is back it goes on to the end", async () => {
    const place = smallFileSystem(2048);
    const home = join(place, "home");
    f.piped(["run", "./approval.workflow.ts", "--task", "x", "--home", home]);
    const id = (JSON.parse(f.piped(["runs", "--json", "--home", home]).out) as { items: { id: string }[] }).items[0]?.id ?? "";
    const { code: decision } = (JSON.parse(f.piped(["decisions", "--json", "--home", home]).out) as { items: { code: string }[] }).items[0] ?? { code: "" };
    // "dd" ends with an error when the file system is full: that is what it is for.
    execFileSync("/bin/sh", ["-c", `dd if=/dev/zero of=${place}/ballast bs=4k 2>/dev/null; true`]);
    const full = f.terminal(["answer", decision, "go", "--home", home]);
    expect(await full.exit).toBe(4);
    expect(full.lines().join("\n")).toMatch(/No space left/);
    rmSync(join(place, "ballast"));
    expect((JSON.parse(f.piped(["show", id, "--json", "--home", home]).out) as { state: string }).state).toBe("waiting");
    const answered = f.terminal(["answer", decision, "go", "--home", home]);
    expect(await answered.exit).toBe(0);
    expect(answered.lines().join("\n")).toMatch(/completed/);
  });
});
