/** What a person may get wrong on the way to a run, with the thing that the refusal must name. */

export interface Refusal {
  readonly what: string;
  /** Written before the command is typed; `mended` before the printed one is. */
  readonly file?: { readonly name: string; readonly text: string; readonly mended?: string };
  readonly args: readonly string[];
  readonly names: string;
  /** What the command that the refusal prints says when it is typed. */
  readonly helps?: RegExp;
}

const head = `import { z } from "zod";\nimport { action, agent, batch, checkpoint, choices, choose, compute, humanDecision, include, machineNode, notify, shell, text, wait, workflow } from "pawl";\nimport { setup } from "xstate";\n`;
const start = `export default workflow({ name: "job", input: z.object({ task: z.string(), times: z.number().optional() }) })`;
const last = `.node("last", compute(() => 1))`;
const asking = (next: string, more = ""): string =>
  `.node("ask", humanDecision({ audience: "operator", choices: choices({ go: { label: "Go" }, stop: { label: "Stop" } }), request: () => ({ title: "Go?", subject: 1 })${more} }), ${next})`;

const fine = `${head}${start}\n  ${last}\n  .build();\n`;

let files = 0;

/** A workflow whose nodes are wrong. */
function wrongNodes(what: string, nodes: string, names: string, options = start): Refusal {
  const name = `wrong${(files += 1)}.workflow.ts`;
  return {
    what,
    file: { name, text: `${head}${options}\n  ${nodes}\n  .build();\n`, mended: fine },
    args: ["run", name, "--task", "x"],
    names,
    helps: /^flowchart TD\n/,
  };
}

/** A file that is no workflow. */
function wrongFile(what: string, text: string, names: string): Refusal {
  const name = `file${(files += 1)}.workflow.ts`;
  return { what, file: { name, text, mended: fine }, args: ["run", name], names, helps: /^flowchart TD\n/ };
}

const named = (options: string): string => `export default workflow(${options})`;

/** SPEC 3 and 4: what is refused when a workflow is built. */
const ofNodes: readonly Refusal[] = [
  wrongNodes("two nodes of one name", `${last}${last}`, `"last"`),
  wrongNodes("a target that is not there", `.node("first", compute(() => 1), "lats")${last}`, `"lats"`),
  wrongNodes("a node that nothing leads to", `.node("first", compute(() => 1))${last}`, `"last"`),
  wrongNodes("a decision without a target for a case", `${asking(`{ go: "last" } as never`)}${last}`, `"stop"`),
  wrongNodes("a target for a case that there is not", `${asking(`{ go: "last", stop: "last", sotp: "last" } as never`)}${last}`, `"sotp"`),
  wrongNodes("a decision with one target for all", `${asking(`"last" as never`)}${last}`, `"ask"`),
  wrongNodes("a promised node that never comes", `.later("plan", z.string())${last}`, `"plan"`),
  wrongNodes("an id that is none", `.node("first node" as never, compute(() => 1), "last")${last}`, `"first node"`),
  wrongNodes("a deadline that is none", `.node("first", compute(() => 1, { timeoutMs: 0 }), "last")${last}`, "timeoutMs"),
  wrongNodes("a deadline that is not finite", `.node("first", compute(() => 1, { timeoutMs: Infinity }), "last")${last}`, "timeoutMs"),
  wrongNodes("a label that is too long", `.node("first", compute(() => 1, { statusDetail: "x".repeat(121) }), "last")${last}`, "statusDetail"),
  wrongNodes("a retry that is none", `.node("first", action({ run: () => 1, retry: { maxAttempts: 0, initialMs: 1 } }), "last")${last}`, "retry.maxAttempts"),
  wrongNodes(
    "a reserved case",
    `.node("first", compute(() => 1, { route: () => "done", cases: ["done", "other"] }), { done: "last", other: "last" } as never)${last}`,
    `"done"`,
  ),
  wrongNodes("a shell step without a command", `.node("first", shell({ command: "" }), "last")${last}`, `"first"`),
  wrongNodes(
    "choices of which one has no label",
    `.node("ask", humanDecision({ audience: "operator", choices: { go: { label: "" } }, request: () => ({ title: "Go?", subject: 1 }) }), { go: "last" })${last}`,
    `"ask"`,
  ),
  wrongNodes("something that is no node", `.node("first", { run: () => 1 } as never, "last")${last}`, `"first"`),
  wrongNodes("no node at all", "", "has no node"),
  wrongNodes("a name that a command has", last, `"resume"`, named(`{ name: "resume", input: z.object({ task: z.string() }) }`)),
  wrongNodes("a limit of steps that is none", last, "maxSteps", named(`{ name: "job", input: z.object({ task: z.string() }), maxSteps: 0 }`)),
  wrongNodes("an input that is no schema", last, "input must be a zod schema", named(`{ name: "job", input: { task: "text" } as never }`)),
];

/** The same of the kinds that wait, ask others, or are made of others. */
const ofKinds: readonly Refusal[] = [
  wrongNodes("a wait for nothing", `.node("first", wait({} as never), "last")${last}`, `"first"`),
  wrongNodes("a wait that goes backwards", `.node("first", wait({ forMs: -1 }), "last")${last}`, "forMs"),
  wrongNodes("a wait for a moment that is none", `.node("first", wait({ until: new Date("soon") }), "last")${last}`, "until"),
  wrongNodes("a checkpoint without a schema", `.node("first", checkpoint({} as never), "last")${last}`, `"first"`),
  wrongNodes("a batch that does too much at once", `.node("first", batch({ commands: [{ command: "true" }], concurrency: 99 }), "last")${last}`, "concurrency"),
  wrongNodes("an include of something else", `.node("first", include({} as never, { input: {} }), "last")${last}`, `"first"`),
  wrongNodes(
    "an include without a target for a way that it may end",
    `.node("first", include(workflow({ name: "inner", input: z.object({}) }).node("a", compute(() => 1, { route: () => "x", cases: ["x", "y"] }), { x: "good", y: "bad" }).node("good", compute(() => 1)).node("bad", compute(() => 2)).build(), { input: {} }), { good: "last" } as never)${last}`,
    `"bad"`,
  ),
  wrongNodes(
    "a machine that cannot be durable",
    `.node("first", machineNode(setup({ actions: { shout: () => {} } }).createMachine({ id: "rude", initial: "a", states: { a: { entry: "shout", type: "final" } } }), {}), "last")${last}`,
    `"shout"`,
  ),
  wrongNodes("an agent without a prompt", `.node("first", agent({} as never), "last")${last}`, `"first"`),
  wrongNodes("a choice of an agent between nothing", `.node("first", choose({ prompt: "Which?", choices: {} }), {} as never)${last}`, `"first"`),
  wrongNodes("a notification without a text", `.node("first", notify({ kind: "progress" } as never), "last")${last}`, `"first"`),
];

const ofFiles: readonly Refusal[] = [
  wrongFile("a file that is no TypeScript", `${head}${start}\n  .node("last", compute(() => 1)\n  .build();\n`, ":"),
  wrongFile("a file without a default export", `${head}export const job = 1;\n`, "default export"),
  wrongFile("a default export that is no workflow", "export default 7;\n", "default"),
  wrongFile("a workflow that was not built", `${head}${start}\n  ${last};\n`, ".build()"),
  wrongFile("a file that throws", `${head}throw new Error("no such service");\n`, "no such service"),
  wrongFile("an import of a file that is not there", `import { x } from "./helper.ts";\nconsole.log(x);\n${fine}`, "./helper.ts"),
  wrongFile("an import of a package that is not there", `import x from "left-padding";\nconsole.log(x);\n${fine}`, "left-padding"),
];

const ofCommands: readonly Refusal[] = [
  { what: "a name that no workflow has", args: ["run", "shipp"], names: `"shipp"`, helps: /No workflow has a name here|NAME/ },
  { what: "a file that is not there", args: ["run", "./aproval.workflow.ts"], names: "approval.workflow.ts" },
  {
    what: "an input that does not fit",
    file: { name: "fine.workflow.ts", text: fine },
    args: ["run", "fine.workflow.ts", "--input", '{"task":7}'],
    names: "task",
    helps: /completed/,
  },
  { what: "an input that is no JSON", args: ["run", "approval.workflow.ts", "--input", "{task:1}"], names: "--input" },
  { what: "a number that is too large", args: ["run", "approval.workflow.ts", "--input", '{"task":"x","deadlineMs":1e999}'], names: "deadlineMs" },
  { what: "two inputs", args: ["run", "approval.workflow.ts", "--input", "{}", "--task", "x"], names: "--task" },
  { what: "a run that there is not", args: ["show", "r_nothing"], names: `"r_nothing"` },
  { what: "neither a workflow nor a run to draw", args: ["graph"], names: "--run" },
  { what: "a command that there is not", args: ["rnu"], names: "run" },
];

export const refusals: readonly Refusal[] = [...ofNodes, ...ofKinds, ...ofFiles, ...ofCommands];
