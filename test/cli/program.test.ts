import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { failureOf } from "../../src/cli/exitCodes.ts";
import { parseCommandLine } from "../../src/cli/program.ts";

const parse = (...argv: readonly string[]) => parseCommandLine(argv, "pawl", () => {}, 80);

function refusal(...argv: readonly string[]) {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof CommanderError) return failureOf(error);
    throw error;
  }
  throw new Error(`${argv.join(" ")} was not refused`);
}

test.each([
  [["run", "ship"], { command: "run", workflow: "ship", options: {} }],
  [["run", "ship", "--task", "-x"], { command: "run", workflow: "ship", options: { task: "-x" } }],
  [["run", "a.workflow.ts", "--input", "{}", "--id-key", "k"], { command: "run", workflow: "a.workflow.ts", options: { input: "{}", idKey: "k" } }],
  [
    ["runs", "--state", "waiting,timedOut", "--limit", "500", "--cursor", "c"],
    { command: "runs", options: { state: ["waiting", "timedOut"], limit: 500, cursor: "c" } },
  ],
  [["show", "8B9C0D"], { command: "show", run: "8B9C0D", options: {} }],
  [["decisions", "--all", "--run", "r"], { command: "decisions", options: { all: true, run: "r" } }],
  [["answer", "7K3M9Q2", "go"], { command: "answer", decision: "7K3M9Q2", choice: "go", text: undefined, options: {} }],
  [
    ["answer", "7K3M9Q2", "replan", "two words", "--text-file", "f"],
    { command: "answer", decision: "7K3M9Q2", choice: "replan", text: "two words", options: { textFile: "f" } },
  ],
  [["answer", "7K3M9Q2", "replan", "--", "--json"], { command: "answer", decision: "7K3M9Q2", choice: "replan", text: "--json", options: {} }],
  [["resume", "r"], { command: "resume", run: "r" }],
  [["cancel", "r"], { command: "cancel", run: "r" }],
  [["pause", "r"], { command: "pause", run: "r" }],
  [["host", "start"], { command: "hostStart" }],
  [["host", "status"], { command: "hostStatus" }],
  [["host", "stop"], { command: "hostStop" }],
  [["host", "logs", "--lines", "20"], { command: "hostLogs", options: { lines: 20 } }],
  [["effect", "list", "--state", "failed"], { command: "effectList", options: { state: ["failed"] } }],
  [["effect", "confirm", "k", "--output", "1"], { command: "effectConfirm", key: "k", options: { output: "1" } }],
  [["effect", "retry", "k"], { command: "effectRetry", key: "k" }],
  [["version"], { command: "version" }],
  [["--version"], { command: "version" }],
])("CLI-1 %j is understood", (argv, request) => {
  expect(parse(...argv)?.request).toEqual(request);
});

test("CLI-1 --embedded may stand before and after the command", () => {
  for (const argv of [
    ["--embedded", "run", "ship"],
    ["run", "ship", "--embedded"],
  ])
    expect(parse(...argv)).toMatchObject({ embedded: true });
  expect(parse("run", "ship")).toMatchObject({ embedded: false });
});

test("CLI-1 --json and --home may stand before and after the command", () => {
  for (const argv of [
    ["--json", "--home", "/h", "runs"],
    ["runs", "--json", "--home", "/h"],
  ])
    expect(parse(...argv)).toMatchObject({ json: true, home: "/h" });
  expect(parse("runs")).toMatchObject({ json: false, home: undefined });
});

test.each([
  [["rn"], "unknown command 'rn'. Did you mean run?"],
  [["help", "rn"], "unknown command 'rn'. Did you mean run?"],
  [["help", "nosuch"], "unknown command 'nosuch'."],
  [["help", "effect", "lst"], "unknown command 'lst'. Did you mean list?"],
  [["effect", "lst"], "unknown command 'lst'. Did you mean list?"],
  [["runs", "--stat", "x"], "unknown option '--stat'. Did you mean --state?"],
  [["run", "x", "--inputfile", "y"], "unknown option '--inputfile'. Did you mean --input-file?"],
  [["runs", "--state", "waitin"], "Did you mean waiting?"],
  [["decisions", "--state", "oben"], "Did you mean open?"],
  [["runs", "--limit", "0"], "Give a whole number from 1 to 500."],
  [["runs", "--limit", "501"], "Give a whole number from 1 to 500."],
  [["runs", "--limit", "1e2"], "Give a whole number from 1 to 500."],
  [["run"], "missing required argument 'workflow'."],
  [["answer", "7K3M9Q2"], "Say the answer: a choice for a decision, or --input-json"],
  [["host", "strt"], "unknown command 'strt'. Did you mean start?"],
  [["host", "logs", "--lines", "0"], "Give a whole number, 1 or more."],
  [["show", "a", "b"], "too many arguments for 'show'"],
])("CLI-3 %j is refused with what was meant, and exit code 2", (argv, sentence) => {
  const failure = refusal(...argv);
  expect(failure.message).toContain(sentence);
  expect(failure).toMatchObject({ exitCode: 2, code: "invalidInput" });
});

test.each(["run", "runs", "show", "decisions", "answer", "resume", "pause", "cancel", "effect", "host", "version"])(
  "CLI-2 help of %s has examples that begin with what can be typed",
  (command) => {
    let help = "";
    expect(parseCommandLine(["help", command], "npx pawl", (text) => (help += text), 80)).toBeNull();
    expect(help).toContain("Examples:");
    expect(help).toContain(`\n  npx pawl ${command}`);
    expect(help).toContain("--json");
  },
);

test("CLI-2 the examples of every help page are understood", () => {
  for (const command of ["run", "runs", "show", "decisions", "answer", "resume", "pause", "cancel", "effect", "host", "version"]) {
    let help = "";
    parseCommandLine(["help", command], "pawl", (text) => (help += text), 200);
    const examples = help.split("Examples:\n")[1]?.trim().split("\n") ?? [];
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(parse(...words(example.trim()).slice(1)), example).not.toBeNull();
  }
});

/** A command line as a shell splits it: quotes only. */
function words(line: string): readonly string[] {
  return Array.from(line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, single, double, plain]) => single ?? double ?? plain ?? "");
}
