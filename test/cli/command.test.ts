/** The real command without a terminal: exit codes, pipes, JSON, and what it says to wrong input. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bin, fixture, type Fixture } from "./fixture.ts";
import { personEnvironment } from "./pty.ts";

const timeout = 60_000;

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

const jsonLines = (text: string): { readonly [key: string]: unknown }[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

const simple = (body: string, name = "simple"): string => `
import { z } from "zod";
import { action, compute, shell, workflow } from "pawl";
export default workflow({ name: "${name}", input: z.object({ task: z.string().optional() }) })${body}.build();
`;

test("CLI-4 a completed run exits 0 and a failed one 1, each with its result or reason", { timeout }, () => {
  const { folder, piped } = setup();
  writeFileSync(join(folder, "good.workflow.ts"), simple(`.node("only", compute(() => ({ answer: 42 })))`));
  writeFileSync(join(folder, "bad.workflow.ts"), simple(`.node("only", compute(() => { throw new Error("no disk of that name"); }))`));
  const good = piped(["run", "good.workflow.ts"]);
  expect(good.out).toContain('"answer": 42');
  expect(good.code).toBe(0);
  const bad = piped(["run", "bad.workflow.ts"]);
  expect(bad.out).toContain("no disk of that name");
  expect(bad.code).toBe(1);
  const list = piped(["runs"]);
  expect(list.out).toMatch(/completed[^]*failed/);
  const settled = piped(["resume", JSON.parse(piped(["runs", "--json"]).out).items[1].id]);
  expect(settled.code).toBe(1);
});

test("CLI-20 without a terminal a waiting run exits 3 and prints the command of each choice", { timeout }, () => {
  const { home, piped } = setup();
  const { code, out, err } = piped(["run", "approval.workflow.ts", "--task", "dark mode"]);
  expect(code).toBe(3);
  expect(err).toBe("prepare: preparing\nprepare: prepared\n");
  const decision = JSON.parse(piped(["decisions", "--json"]).out).items[0];
  for (const choice of ["go", "stop", "replan"]) expect(out).toContain(`\n  node ${bin} answer ${decision.code} ${choice} --home ${home}\n`);
  expect(out).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ prepare completed$/m);
  expect(out).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F]/);
});

test("CLI-6 below npm the printed commands begin with npx pawl", { timeout }, () => {
  const { piped } = setup();
  expect(piped(["run", "approval.workflow.ts", "--task", "x"], { npm_command: "start" }).out).toContain("\n  npx pawl answer ");
});

test("CLI-11 run --json writes one JSON object a line, the result last; what steps print goes to standard error, safe", { timeout }, () => {
  const { folder, piped } = setup();
  writeFileSync(
    join(folder, "loud.workflow.ts"),
    simple(`.node("only", compute(() => { console.log("\\u001b[2Jloud"); process.stdout.write("no end"); return 1; }))`),
  );
  const { code, out, err } = piped(["run", "loud.workflow.ts", "--json"]);
  const lines = jsonLines(out);
  expect(lines[0]).toMatchObject({ kind: "started", duplicate: false });
  expect(lines.filter((line) => line["kind"] === "visit").map((line) => line["status"])).toEqual(["running", "accepted"]);
  expect(lines.at(-1)).toMatchObject({ kind: "result", exitCode: 0, run: { state: "completed", result: 1 }, next: [] });
  expect(err).toBe("loud\nno end\n");
  expect(code).toBe(0);
});

test("CLI-11 every list and show is one JSON document; a parked result names the commands that go on", { timeout }, () => {
  const { piped } = setup();
  const parked = jsonLines(piped(["run", "approval.workflow.ts", "--task", "x", "--json"]).out).at(-1);
  expect(parked).toMatchObject({
    exitCode: 3,
    next: [expect.stringContaining(" go "), expect.stringContaining(" stop "), expect.stringContaining(" replan ")],
  });
  for (const words of [["runs"], ["decisions"], ["effect", "list"]])
    expect(JSON.parse(piped([...words, "--json"]).out)).toMatchObject({ items: expect.any(Array), cursor: null });
  const { id } = JSON.parse(piped(["runs", "--json"]).out).items[0];
  expect(JSON.parse(piped(["show", id.slice(-6).toLowerCase(), "--json"]).out)).toMatchObject({
    id,
    state: "waiting",
    visits: [{ node: "prepare" }, { node: "approve" }],
  });
  expect(piped(["show", id]).out).toContain("item-29");
});

test("CLI-21 the first page holds the newest, newest last, and ends with the command of the older ones", { timeout }, () => {
  const { folder, piped } = setup();
  writeFileSync(join(folder, "good.workflow.ts"), simple(`.node("only", compute(() => 1))`));
  for (let count = 0; count < 3; count += 1) piped(["run", "good.workflow.ts"]);
  const first = piped(["runs", "--limit", "2", "--state", "completed"]).out;
  const next = /bin\.js (runs --state completed --limit 2 --cursor \S+)/.exec(first)?.[1]?.split(" ") ?? [];
  const second = piped(next).out;
  const ids = JSON.parse(piped(["runs", "--json"]).out).items.map(({ id }: { id: string }) => id.slice(-8));
  expect(ids.map((id: string) => [first.includes(id), second.includes(id)])).toEqual([
    [false, true],
    [true, false],
    [true, false],
  ]);
  expect(first.indexOf(ids[1])).toBeLessThan(first.indexOf(ids[2]));
  expect(second).not.toContain("--cursor");
  expect((first + second).match(/ completed +\d/g)).toHaveLength(3);
});

test("CLI-1 the same key starts once", { timeout }, () => {
  const { folder, piped } = setup();
  writeFileSync(join(folder, "good.workflow.ts"), simple(`.node("only", compute(() => 1))`));
  const ids = [0, 1].map(() => jsonLines(piped(["run", "good.workflow.ts", "--id-key", "k", "--json"]).out)[0]);
  expect(ids[1]).toEqual({ ...ids[0], duplicate: true });
  expect(JSON.parse(piped(["runs", "--json"]).out).items).toHaveLength(1);
});

test("CLI-15 without a terminal nobody can answer, nor settle an effect, and the message says how a person does", { timeout }, () => {
  const { piped } = setup();
  piped(["run", "approval.workflow.ts", "--task", "x"]);
  const { code } = JSON.parse(piped(["decisions", "--json"]).out).items[0];
  for (const words of [
    ["answer", code, "go"],
    ["effect", "confirm", "k", "--output", "1"],
    ["effect", "retry", "k"],
  ]) {
    const refused = piped([...words, "--json"]);
    expect(JSON.parse(refused.err).error).toMatchObject({ code: "humanOnly", message: expect.stringContaining("in a terminal of your own") });
    expect(refused.code).toBe(2);
  }
  expect(JSON.parse(piped(["decisions", "--json"]).out).items).toHaveLength(1);
});

test("CLI-16 cancel ends a run for good, twice with the same answer, and closes its decision", { timeout }, () => {
  const { piped } = setup();
  piped(["run", "approval.workflow.ts", "--task", "x"]);
  const { id } = JSON.parse(piped(["runs", "--json"]).out).items[0];
  for (const _time of [1, 2]) {
    const { code, out } = piped(["cancel", id]);
    expect(out).toContain("was cancelled");
    expect(code).toBe(0);
  }
  expect(JSON.parse(piped(["decisions", "--all", "--json"]).out).items[0]).toMatchObject({ state: "cancelled" });
  expect(piped(["resume", id]).code).toBe(1);
});

test("CLI-5 wrong input is refused with a clear sentence and exit code 2, and changes nothing", { timeout }, () => {
  const { folder, home, piped } = setup();
  writeFileSync(join(folder, "broken.workflow.ts"), "import { workflow } from 'pawl';\nexport default workflow({ name: 'x' \n  oops oops\n");
  writeFileSync(join(folder, "missing.workflow.ts"), simple(`.node("only", compute(() => 1, { cases: ["a", "b"], route: () => "a" }), { a: "only" })`));
  const table: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["run", "aproval.workflow.ts"], ["aproval.workflow.ts"]],
    [["run", "nosuchname"], ["nosuchname"]],
    [["run", "broken.workflow.ts"], ["broken.workflow.ts:3"]],
    [["run", "approval.workflow.ts", "--input", '{"task": 7}'], ["task"]],
    [["run", "approval.workflow.ts"], ["task"]],
    [
      ["run", "approval.workflow.ts", "--input", "{oops"],
      ["--input is no valid JSON", "position 1"],
    ],
    [["run", "approval.workflow.ts", "--input-file", "none.json"], ["none.json"]],
    [["show", "r_nope"], ["r_nope"]],
    [["resume", "r_nope"], ["r_nope"]],
    [["cancel", "r_nope"], ["r_nope"]],
    [["runs", "--cursor", "nonsense"], ["cursor"]],
  ];
  for (const [words, sentences] of table) {
    const { code, out, err } = piped(words);
    for (const sentence of sentences) expect(err, words.join(" ")).toContain(sentence);
    expect(err, words.join(" ")).not.toMatch(/\n {4}at /);
    expect(code, `${words.join(" ")}: ${err}`).toBe(2);
    expect(out).toBe("");
  }
  if (existsSync(home)) expect(JSON.parse(piped(["runs", "--json"]).out).items).toEqual([]);
});

test("CLI-4 a state directory that somebody else owns, and a file that is no database, exit 4 and say what to do", { timeout }, async () => {
  const { folder, home, piped } = setup();
  const env = personEnvironment({ PAWL_HOME: home, HOME: folder });
  const owner = spawn(process.execPath, [bin, "run", "approval.workflow.ts", "--input", '{"task":"x","seconds":"20"}'], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => owner.once("close", resolve));
  await new Promise<void>((resolve) => owner.stdout.on("data", (text: Uint8Array) => String(text).includes("prepare running") && resolve()));
  const second = piped(["run", "approval.workflow.ts", "--task", "x"]);
  expect(second.err).toContain(String(owner.pid));
  expect(second.code).toBe(4);
  expect(piped(["runs"]).out).toContain("running");
  owner.kill("SIGTERM");
  expect(await ended).toBe(130);

  const foreign = join(folder, "foreign");
  mkdirSync(foreign);
  writeFileSync(join(foreign, "pawl.db"), "this is no database ".repeat(100));
  const refused = piped(["runs", "--home", foreign, "--json"]);
  expect(JSON.parse(refused.err).error).toMatchObject({ code: expect.stringMatching(/^storage/), message: expect.stringContaining(foreign) });
  expect(refused.code).toBe(4);
});

test("CLI-18 SIGTERM stops a piped run at what was saved, and it can be resumed", { timeout }, async () => {
  const { folder, home, piped } = setup();
  const child = spawn(process.execPath, [bin, "run", "approval.workflow.ts", "--input", '{"task":"x","seconds":"20"}'], {
    cwd: folder,
    env: personEnvironment({ PAWL_HOME: home, HOME: folder }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await new Promise<void>((resolve) =>
    child.stdout.on("data", (text: Uint8Array) => {
      out += String(text);
      if (out.includes("prepare running")) resolve();
    }),
  );
  child.kill("SIGTERM");
  expect(await ended).toBe(130);
  expect(out).toContain("resume r_");
  expect(JSON.parse(piped(["runs", "--json"]).out).items[0]).toMatchObject({ state: "running" });
});

test("CLI-22 a closed pipe ends it quietly", { timeout }, async () => {
  const { folder, home } = setup();
  const env = personEnvironment({ PAWL_HOME: home, HOME: folder });
  for (const [words, code] of [
    [`run approval.workflow.ts --input '{"task":"x","seconds":"2"}'`, 130],
    ["help run", 0],
  ] as const) {
    const child = spawn("/bin/sh", ["-c", `{ ${process.execPath} ${bin} ${words}; echo "exit $?" >&2; } | head -n 1`], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let err = "";
    child.stderr.on("data", (text: Uint8Array) => (err += String(text)));
    await new Promise((resolve) => child.once("close", resolve));
    expect(err).toBe(`exit ${code}\n`);
  }
});

test("CLI-26 through a link, as npm installs it, it is the same command; nothing is written by commands that only read", { timeout }, () => {
  const { folder, home, piped } = setup();
  symlinkSync(bin, join(folder, "pawl"));
  const version = piped(["version", "--json"]);
  expect(JSON.parse(version.out)).toMatchObject({ pawl: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node, home });
  for (const words of [["runs"], ["decisions"], ["effect", "list"]]) expect(piped(words).code).toBe(0);
  expect(readdirSync(folder)).not.toContain("home");
});

test("CLI-23 an error shows no stack unless PAWL_DEBUG=1", { timeout }, () => {
  const { piped } = setup();
  const quiet = piped(["run", "nosuchname"]);
  const loud = piped(["run", "nosuchname"], { PAWL_DEBUG: "1" });
  expect(quiet.err).not.toContain("\n    at ");
  expect(loud.err).toContain("\n    at ");
  expect([quiet.code, loud.code]).toEqual([2, 2]);
});

test("CLI-31 an empty --home is refused with 2, and makes no state directory here", { timeout }, () => {
  const { folder, piped } = setup();
  const before = readdirSync(folder);
  for (const args of [
    ["--home", "", "runs"],
    ["runs", "--home="],
  ]) {
    const { code, err } = piped(args);
    expect(err).toContain("--home is empty");
    expect(code).toBe(2);
  }
  expect(readdirSync(folder)).toEqual(before);
});

test("CLI-32 a command inside an error's sentence can be typed as it stands", { timeout }, () => {
  const { home, folder, piped } = setup();
  const command = (words: string): string => `node ${bin} ${words} --home ${home}`;
  expect(piped(["show", "nothing"]).err).toContain(`Start one with: ${command("run FILE")}\n`);
  writeFileSync(join(folder, "good.workflow.ts"), simple(`.node("only", compute(() => 1))`));
  piped(["run", "good.workflow.ts"]);
  expect(piped(["show", "nothing"]).err).toContain(`List all with: ${command("runs")}\n`);
  expect(JSON.parse(piped(["show", "nothing", "--json"]).err).error.message).toContain(command("runs"));
  expect(piped(["run", "good.workflow.ts", "--home", "", "--json"]).err).not.toContain("`");
});

/** Writes the packages that a process has loaded to its standard error when it ends. */
const tellPackages = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({ load(url, context, next) {
  const name = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url);
  if (name) loaded.add(name[1]);
  return next(url, context);
} });
process.on("exit", () => console.error(JSON.stringify([...loaded])));
`)}`;

test.each(["runs", "decisions", "effect list"])(
  "CLI-66 pawl %s loads what it needs to read and nothing that checks, steps or compiles",
  { timeout },
  (line) => {
    const { piped } = setup();
    expect(piped(["run", "approval.workflow.ts", "--task", "a…b"]).code).toBe(3);
    const { code, err } = piped(line.split(" "), { NODE_OPTIONS: `--import="${tellPackages}"` });
    expect(code).toBe(0);
    const packages = JSON.parse(err.trim().split("\n").at(-1) ?? "");
    expect(packages).toEqual(expect.arrayContaining(["better-sqlite3", "commander"]));
    expect(packages.filter((name: string) => ["zod", "xstate", "jiti", "string-width"].includes(name))).toEqual([]);
  },
);
