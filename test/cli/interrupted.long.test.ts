/** Code of a workflow that ends, hangs or breaks the process it shares with the command, and what is left then. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { fixture, type Fixture } from "./fixture.ts";

const timeout = 60_000;

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

function file({ folder }: Fixture, node: string, first = ""): string {
  writeFileSync(
    join(folder, "odd.workflow.ts"),
    `import { z } from "zod";\nimport { compute, shell, workflow } from "pawl";\n${first}\nexport default workflow({ name: "odd", input: z.object({}) }).node("step", ${node}).build();\n`,
  );
  return "odd.workflow.ts";
}

test.each(["", "--json"])("CLI-28 code of a step that ends the process is told of with the resume command and 130 %s", { timeout }, (json) => {
  const made = setup();
  const end = made.piped(["run", file(made, "compute(() => process.exit(0))"), ...(json === "" ? [] : [json])]);
  expect(end.err).toContain("ended it before the command was done");
  expect(end.err).toMatch(/The run is safe\. Go on with: \S.* resume r_/);
  if (json !== "") expect(JSON.parse(end.err)).toMatchObject({ error: { code: "aborted" } });
  expect(end.code).toBe(130);
});

test("CLI-28 a workflow file that ends the process while it loads is told of with 1", { timeout }, () => {
  const made = setup();
  const end = made.piped(["run", file(made, "compute(() => 1)", "process.exit(0);")]);
  expect(end.err).toContain("ended it before the command was done");
  expect(end.code).toBe(1);
});

test("CLI-28 a step that nothing can end any more is waited for until Ctrl-C", { timeout }, async () => {
  const made = setup();
  const pty = made.terminal(["run", file(made, "compute(() => new Promise<number>(() => {}), { timeoutMs: null })")]);
  await pty.waitFor("step");
  let ended = false;
  void pty.exit.then(() => (ended = true));
  await new Promise((done) => setTimeout(done, 1_500));
  expect(ended).toBe(false);
  pty.type("\u0003");
  await pty.waitFor("Stopping at the last saved step");
  expect(await pty.exit).toBe(130);
  expect(pty.lines().join("")).toContain("resume r_");
});

test("CLI-28 a workflow file that never finishes loading is waited for until Ctrl-C", { timeout }, async () => {
  const made = setup();
  const pty = made.terminal(["run", file(made, "compute(() => 1)", 'console.error("loading"); await new Promise(() => {});')]);
  await pty.waitFor("loading");
  await new Promise((done) => setTimeout(done, 1_000));
  pty.type("\u0003");
  expect(await pty.exit).toBe(130);
});

test.each(["void Promise.reject(new Error('stray\\u001b[2J'))", "setTimeout(() => { throw new Error('stray\\u001b[2J'); }, 1)"])(
  "CLI-29 an error that nothing catches stops the run at the last saved step: %s",
  { timeout },
  (code) => {
    const made = setup();
    const node = `compute(async () => { ${code}; await new Promise((done) => setTimeout(done, 30_000)); return 1; })`;
    const end = made.piped(["run", file(made, node)]);
    expect(end.err).toContain("An error that nothing caught: stray\\u{1B}[2J.");
    expect(end.err).not.toMatch(/^ {4}at /m);
    expect(end.out).toMatch(/resume r_/);
    expect(end.code).toBe(130);
    const debug = made.piped(["run", file(made, node)], { PAWL_DEBUG: "1" });
    expect(debug.err).toMatch(/ at .*odd\.workflow\.ts/);
  },
);

test("CLI-18 two quick Ctrl-Cs leave no process of a step alive", { timeout }, async () => {
  const made = setup();
  const pids = join(made.folder, "pids");
  const script = `trap '' TERM INT; echo $$ > ${pids}; echo begun; while :; do sleep 1; done`;
  const pty = made.terminal(["run", file(made, `shell({ command: "/bin/sh", args: ["-c", ${JSON.stringify(script)}] })`)]);
  await pty.waitFor("begun");
  const pid = Number(readFileSync(pids, "utf8"));
  pty.type("\u0003");
  await pty.waitFor("Stopping");
  pty.type("\u0003");
  expect(await pty.exit).toBe(130);
  await expect.poll(() => isAlive(pid), { timeout: 500 }).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false; // no such process
  }
}
