/** A person at a real terminal, the real command, the real host. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bin, fixture, type Fixture } from "./fixture.ts";
import { personEnvironment } from "./pty.ts";

const timeout = 60_000;
const ctrlC = "\u0003";
const ctrlD = "\u0004";
const question = "Your choice, by id or number";

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

const input = (given: object): readonly string[] => ["--input", JSON.stringify({ task: "dark mode", ...given })];

/** The command lines that a screen offers. */
const offered = (lines: readonly string[], word: string): readonly string[] =>
  lines
    .join("")
    .match(/node \S+bin\.js [^\n]*?--home \S+?home/g)
    ?.filter((line) => line.includes(` ${word} `)) ?? [];

test(
  "CLI-8 a decision is shown whole, a wrong choice asked again, a text checked, and the run goes on to the next decision and its end",
  { timeout },
  async () => {
    const { terminal } = setup();
    const pty = terminal(["run", "approval.workflow.ts", ...input({})]);
    await pty.waitFor("Approve dark mode");
    for (const item of ["item-0", "item-15", "item-29", "replan  Change the plan, then a text: What should change?", question]) await pty.waitFor(item);
    pty.type("replam\r");
    await pty.waitFor("Did you mean replan?");
    pty.type("REPLAN\r");
    await pty.waitFor("3 to 40 characters");
    pty.type("ab\r\r");
    await pty.waitFor("at least 3 are needed");
    pty.type("more tests\rand docs\r\r");
    await pty.waitFor("Recorded: replan");
    await pty.waitFor('"more tests\\nand docs"');
    await pty.waitFor(question);
    pty.type("1\r");
    await pty.waitFor("Recorded: go (Build it)");
    expect(await pty.exit).toBe(0);
    expect(pty.lines().join("\n")).toContain('"built": "dark mode"');
  },
);

test("case 164 what a step prints cannot steer the terminal, nor break the display", { timeout }, async () => {
  const { terminal } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({})], { columns: 40 });
  await pty.waitFor(question);
  pty.type("go\r");
  expect(await pty.exit).toBe(0);
  expect(pty.raw()).not.toContain("\u001b[2J");
  expect(pty.raw()).not.toContain("\u001b]");
  // The emulator throws for every sequence that is not Pawl's or readline's own.
  expect(pty.lines()).toContain("said by a step");
});

test("CLI-13 blank lines inside a paste belong to the text, and Ctrl-D ends it", { timeout }, async () => {
  const { terminal, piped } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({})]);
  await pty.waitFor(question);
  pty.type("replan\r");
  await pty.waitFor("ends the text");
  pty.type("\u001b[200~first\r\rsecond 日本 👍\r\u001b[201~");
  pty.type(ctrlD);
  await pty.waitFor("Recorded: replan");
  await pty.waitFor(question);
  pty.type("stop\r");
  expect(await pty.exit).toBe(0);
  const settled = JSON.parse(piped(["decisions", "--all", "--json"]).out);
  expect(settled.items[0].settlement.receipt.response).toEqual({ choice: "replan", input: "first\n\nsecond 日本 👍" });
});

test("CLI-14 what was typed before the question came answers nothing", { timeout }, async () => {
  const { terminal, piped } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({ seconds: "1" })]);
  await pty.waitFor("prepare");
  pty.type("go\rgo\r");
  await pty.waitFor(question);
  await new Promise((done) => setTimeout(done, 400));
  expect(JSON.parse(piped(["decisions", "--json"]).out).items).toHaveLength(1);
  pty.type("stop\r");
  await pty.waitFor("Recorded: stop");
  expect(await pty.exit).toBe(0);
});

test("CLI-19 Ctrl-C at the question ends with 130 and Ctrl-D with 3; the run is safe and the printed command answers it", { timeout }, async () => {
  const { terminal, typed } = setup();
  const first = terminal(["run", "approval.workflow.ts", ...input({})], { columns: 300 });
  await first.waitFor(question);
  first.type(ctrlC);
  await first.waitFor("Stopped.");
  expect(await first.exit).toBe(130);
  const [resume] = offered(first.lines(), "resume");
  const [go] = offered(first.lines(), "answer");
  expect(resume).toBeUndefined();
  expect(go).toMatch(/answer [0-9A-Z]{7} go --home/);

  const second = terminal([
    "resume",
    first
      .lines()
      .join(" ")
      .match(/r_[0-9A-Z]{26}/)?.[0] ?? "",
  ]);
  await second.waitFor(question);
  second.type(ctrlD);
  expect(await second.exit).toBe(3);

  const third = typed(go ?? "");
  await third.waitFor("Recorded: go");
  expect(await third.exit).toBe(0);
});

test("CLI-30 a question that was stopped by Ctrl-Z is asked on when it comes to the foreground again", { timeout }, async () => {
  const { typed } = setup();
  const command = `${process.execPath} ${bin} run approval.workflow.ts --task "dark mode"`;
  const pty = typed(`set -m; ${command}; echo stopped "$?"; fg; echo ended "$?"`);
  await pty.waitFor(question);
  pty.type("\u001a");
  await pty.waitFor("stopped 1");
  await pty.waitFor("> ");
  pty.type("go\r");
  await pty.waitFor("Recorded: go");
  await pty.waitFor("ended 0");
});

test("CLI-19 the deadline settles a question that is being asked: that is said, and the run goes on", { timeout }, async () => {
  const { terminal } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({ deadlineMs: 2_500 })]);
  await pty.waitFor("default stop at");
  await pty.waitFor(question);
  pty.type("g");
  await pty.waitFor("has passed: its default stop holds");
  expect(await pty.exit).toBe(0);
  expect(pty.lines().join("\n")).toContain('"status": "stopped"');
});

test("CLI-18 Ctrl-C during a step stops at what was saved, and the printed command finishes the run", { timeout }, async () => {
  const { terminal, typed } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({ seconds: "30" })], { columns: 300 });
  await pty.waitFor("preparing");
  pty.type(ctrlC);
  await pty.waitFor("Stopping at the last saved step");
  expect(await pty.exit).toBe(130);
  const [resume] = offered(pty.lines(), "resume");
  const again = typed(resume ?? "");
  await again.waitFor("attempt 2");
  again.type(ctrlC);
  expect(await again.exit).toBe(130);
});

test("CLI-15 at a terminal of an agent nobody is asked and nobody can answer", { timeout }, async () => {
  const { terminal, piped } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({})], { env: { PI_SESSION_ID: "s" } });
  await pty.waitFor("A person answers at a terminal");
  expect(await pty.exit).toBe(3);
  const { code } = JSON.parse(piped(["decisions", "--json"]).out).items[0];
  const answer = terminal(["answer", code, "go"], { env: { AI_AGENT: "1" } });
  await answer.waitFor("AI_AGENT is set");
  expect(await answer.exit).toBe(2);
  expect(JSON.parse(piped(["decisions", "--json"]).out).items).toHaveLength(1);
});

test("CLI-12 pawl answer asks for a text that was left out, refuses a mistyped choice, and takes a text from a file", { timeout }, async () => {
  const { terminal, piped, folder } = setup();
  piped(["run", "approval.workflow.ts", ...input({})]);
  const open = (): string => JSON.parse(piped(["decisions", "--json"]).out).items[0].code;
  const wrong = terminal(["answer", open(), "replam", "some text"]);
  await wrong.waitFor("Did you mean replan?");
  expect(await wrong.exit).toBe(2);
  const asked = terminal(["answer", open().toLowerCase(), "replan"]);
  await asked.waitFor("What should change?");
  asked.type("say more\r\r");
  await asked.waitFor("Recorded: replan");
  await asked.waitFor('"say more"');
  await asked.waitFor(question);
  asked.type(ctrlD);
  expect(await asked.exit).toBe(3);
  writeFileSync(join(folder, "remark.txt"), "from a file\n");
  const filed = terminal(["answer", open(), "replan", "--text-file", "remark.txt"]);
  await filed.waitFor('"from a file\\n"');
  filed.type(ctrlC);
  expect(await filed.exit).toBe(130);
});

test("CLI-27 answering a settled decision is refused and tells the winner", { timeout }, async () => {
  const { terminal, piped } = setup();
  piped(["run", "approval.workflow.ts", ...input({})]);
  const { code } = JSON.parse(piped(["decisions", "--json"]).out).items[0];
  const first = terminal(["answer", code, "stop"]);
  expect(await first.exit).toBe(0);
  const late = terminal(["answer", code, "go"]);
  await late.waitFor("stop");
  expect(await late.exit).toBe(2);
});

const publishing = `
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { action, workflow } from "pawl";
export default workflow({ name: "publishing", input: z.object({ file: z.string() }) })
  .node("publish", action({
    once: true,
    output: z.object({ sent: z.boolean() }),
    run: async ({ input, attempt }) => {
      appendFileSync(input.file, "call " + attempt + "\\n");
      if (attempt === 1) await new Promise((done) => setTimeout(done, 60_000));
      return { sent: true };
    },
  }))
  .build();
`;

/** A run whose only step was killed in the middle of a call that may happen once. */
async function ambiguousRun({ folder, home, piped }: Fixture): Promise<{ readonly key: string; readonly run: string; readonly calls: () => string }> {
  writeFileSync(join(folder, "publishing.workflow.ts"), publishing);
  const file = join(folder, "calls");
  const child = spawn(process.execPath, [bin, "run", "publishing.workflow.ts", "--input", JSON.stringify({ file })], {
    cwd: folder,
    env: personEnvironment({ PAWL_HOME: home, HOME: folder }),
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  while (!existsSync(file)) await new Promise((done) => setTimeout(done, 20));
  child.kill("SIGKILL");
  await ended;
  const run = JSON.parse(piped(["runs", "--json"]).out).items[0].id;
  const resumed = piped(["resume", run]);
  expect(resumed.out).toContain("whose outcome is unknown");
  expect(resumed.code).toBe(3);
  const { items } = JSON.parse(piped(["effect", "list", "--json"]).out);
  expect(items).toMatchObject([{ state: "ambiguous", once: true }]);
  for (const word of ["confirm", "retry"]) expect(resumed.out).toContain(`effect ${word} ${items[0].key}`);
  return { key: items[0].key, run, calls: () => readFileSync(file, "utf8") };
}

test("CLI-24 a person confirms an unknown outcome with the output it gave, and the run ends with it", { timeout }, async () => {
  const { key, run, calls } = await ambiguousRun(setup());
  const { terminal, piped } = one ?? setup();
  const wrong = terminal(["effect", "confirm", key, "--output", '{"sent":"yes"}']);
  await wrong.waitFor("was not confirmed");
  expect(await wrong.exit).toBe(2);
  const right = terminal(["effect", "confirm", key, "--output", '{"sent":true}']);
  await right.waitFor(`resume ${run}`);
  expect(await right.exit).toBe(0);
  const end = piped(["resume", run]);
  expect(end.out).toContain('"sent": true');
  expect(end.code).toBe(0);
  expect(calls()).toBe("call 1\n");
});

test("CLI-24 a person has an unknown outcome done again, once", { timeout }, async () => {
  const { key, run, calls } = await ambiguousRun(setup());
  const { terminal, piped } = one ?? setup();
  const retry = terminal(["effect", "retry", key]);
  await retry.waitFor("will be done again");
  expect(await retry.exit).toBe(0);
  expect(piped(["resume", run]).code).toBe(0);
  expect(calls()).toBe("call 1\ncall 2\n");
  const again = terminal(["effect", "retry", key]);
  await again.waitFor("confirmed");
  expect(await again.exit).toBe(2);
});

test("CLI-33 Ctrl-C in work that is done once says what that means, and settling it after a cancel says that the run has ended", { timeout }, async () => {
  const { terminal, piped, folder } = setup();
  writeFileSync(join(folder, "publishing.workflow.ts"), publishing);
  const pty = terminal(["run", "publishing.workflow.ts", "--input", JSON.stringify({ file: join(folder, "calls") })]);
  while (!existsSync(join(folder, "calls"))) await new Promise((done) => setTimeout(done, 20));
  pty.type(ctrlC);
  await pty.waitFor("its outcome may be unknown");
  expect(await pty.exit).toBe(130);
  const run = JSON.parse(piped(["runs", "--json"]).out).items[0].id;
  const before = JSON.parse(piped(["effect", "list", "--all", "--json"]).out).items.find(({ once }: { once: boolean }) => once);
  if (before.state === "attempting") {
    const early = terminal(["effect", "confirm", before.key, "--output", '{"sent":true}'], { columns: 300 });
    await early.waitFor(`resume ${run}`);
    expect(await early.exit).toBe(2);
  }
  piped(["resume", run]);
  piped(["cancel", run]);
  const confirm = terminal(["effect", "confirm", before.key, "--output", '{"sent":true}']);
  await confirm.waitFor("Its run has ended (cancelled)");
  expect(await confirm.exit).toBe(0);
  expect(confirm.lines().join("")).not.toContain("Go on with");
});

test("CLI-25 a terminal that cannot redraw gets plain lines", { timeout }, async () => {
  const { terminal } = setup();
  const pty = terminal(["run", "approval.workflow.ts", ...input({})], { env: { TERM: "dumb" } });
  await pty.waitFor("Z prepare completed");
  expect(await pty.exit).toBe(3);
  expect(pty.raw()).not.toContain("\u001b");
});
