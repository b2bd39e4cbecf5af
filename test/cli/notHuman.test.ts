/** Human means human: what agents, programs and steps of workflows try, each in a terminal of its own where it can have one. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { bin, fixture, type Fixture } from "./fixture.ts";

const timeout = 60_000;

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

function asked({ piped }: Fixture): { readonly code: string; readonly run: string } {
  piped(["run", "approval.workflow.ts", "--task", "dark mode"]);
  return JSON.parse(piped(["decisions", "--json"]).out).items[0];
}

const auditOf = ({ piped }: Fixture, run: string): unknown =>
  JSON.parse(piped(["show", run, "--audit", "--json"]).out).audits[0].candidates.map(
    (one: { kind: string; outcome: string; source: { kind: string } | null }) => [one.kind, one.outcome, one.source?.kind],
  );

test(
  "DEC-42 case 5 a shell of an agent's cannot answer, though it has a terminal; each try is in the audit, and the question stays open",
  { timeout },
  async () => {
    const fixed = setup();
    const { code, run } = asked(fixed);
    const variables = ["PI_CODING_AGENT", "AI_AGENT", "PI_SESSION_ID", "PAWL_WORKER"];
    for (const variable of variables) {
      const pty = fixed.terminal(["answer", code, "go"], { env: { [variable]: "1" } });
      expect(await pty.exit).toBe(2);
      expect(pty.lines().join(" ")).toContain(`${variable} is set`);
    }
    expect(auditOf(fixed, run)).toEqual(variables.map(() => ["channel", "humanOnly", "program"]));
    expect(JSON.parse(fixed.piped(["decisions", "--json"]).out).items).toHaveLength(1);
  },
);

test("DEC-42 without a terminal nobody answers: said in words and as JSON, audited, and for a code that is none refused all the same", { timeout }, () => {
  const fixed = setup();
  const { code, run } = asked(fixed);
  const plain = fixed.piped(["answer", run, "go"]);
  expect([plain.code, plain.err]).toEqual([2, expect.stringContaining("standard input is no terminal")]);
  const json = fixed.piped(["answer", code, "no such choice", "--json"]);
  expect(json.code).toBe(2);
  expect(JSON.parse(json.err)).toMatchObject({ error: { code: "humanOnly" } });
  expect(fixed.piped(["answer", "0000000", "go"]).err).toContain("Only a person can answer");
  expect(auditOf(fixed, run)).toEqual([
    ["channel", "humanOnly", "program"],
    ["channel", "humanOnly", "program"],
  ]);
});

const hasScript = spawnSync("script", ["--version"]).status === 0;

test.skipIf(!hasScript)("DEC-42 a step of a workflow that opens a terminal of its own is no person, and its host keeps that it tried", { timeout }, () => {
  const fixed = setup();
  const { folder, home } = fixed;
  const hosted = { PAWL_EMBEDDED: "" };
  const piped = (args: readonly string[]) => fixed.piped(args, hosted);
  const { code, run } = asked(fixed);
  const line = `${process.execPath} ${bin} answer ${code} go --home ${home}`;
  writeFileSync(
    join(folder, "sly.workflow.ts"),
    `import { z } from "zod";
import { shell, workflow } from "pawl";
export default workflow({ name: "sly", input: z.object({}) })
  .node("answer", shell({ command: "script", args: ["-qec", ${JSON.stringify(line)}, "/dev/null"], allowNonZeroExit: true, parse: ({ stdout, exitCode }) => ({ stdout, exitCode }) }))
  .build();
`,
  );
  const sly = piped(["run", "sly.workflow.ts", "--json"]);
  const { result } = JSON.parse(sly.out.trim().split("\n").at(-1) ?? "").run;
  expect(result.exitCode).toBe(2);
  expect(result.stdout).toContain("PAWL_WORKER is set");
  expect(auditOf(fixed, run)).toEqual([["channel", "humanOnly", "program"]]);
  expect(JSON.parse(piped(["decisions", "--json"]).out).items).toMatchObject([{ code, state: "open" }]);
  expect(piped(["host", "stop"]).code).toBe(0);
});
