/** `pawl doctor`, `prune`, `export` and `reset`, as they are typed. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { parseCommandLine } from "../../src/cli/program.ts";
import { doctorPage } from "../../src/cli/render/doctorPage.ts";
import { noPaint } from "../../src/cli/render/style.ts";
import type { DoctorReport } from "../../src/host/maintenance/report.ts";
import { cellWidth } from "../../src/text/cells.ts";
import { bin, fixture, type Fixture } from "./fixture.ts";

const timeout = 60_000;

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

const parse = (...argv: readonly string[]) => parseCommandLine(argv, "pawl", () => {}, 80)?.request;

describe("command lines", () => {
  test.each([
    ["doctor", { command: "doctor", options: {} }],
    ["doctor --replay", { command: "doctor", options: { replay: true } }],
    ["doctor --replay 8B9C0D", { command: "doctor", options: { replay: "8B9C0D" } }],
    ["prune --older-than 30d --dry-run", { command: "prune", options: { olderThan: 2_592_000_000, dryRun: true } }],
    ["prune --older-than 2w", { command: "prune", options: { olderThan: 1_209_600_000 } }],
    ["prune --older-than 90m --keep 0", { command: "prune", options: { olderThan: 5_400_000, keep: 0 } }],
    ["export --to a.db", { command: "export", run: undefined, options: { to: "a.db" } }],
    ["export 8B9C0D --to a.db", { command: "export", run: "8B9C0D", options: { to: "a.db" } }],
    ["reset --backup", { command: "reset" }],
  ])("CLI-40 %s is understood", (line, request) => {
    expect(parse(...line.split(" "))).toEqual(request);
  });

  test.each(["prune --older-than 30", "prune --older-than month", "prune --older-than -1d", "prune --keep many", "prune --keep -1", "export", "reset"])(
    "CLI-40 %s is refused",
    (line) => {
      expect(() => parse(...line.split(" "))).toThrow(/invalid|not specified|whole number/);
    },
  );

  test("CLI-40 each says in its help what it does, with examples", () => {
    for (const command of ["doctor", "prune", "export", "reset"]) {
      let help = "";
      parseCommandLine(["help", command], "pawl", (text) => (help += text), 80);
      expect(help).toMatch(new RegExp(`Examples:\\n  pawl ${command}`));
    }
  });
});

test("CLI-41 doctor exits 0 when all is well, 3 when something stands still with the command that frees it, and 4 when something is wrong", { timeout }, () => {
  const { home, piped } = setup();
  expect(piped(["doctor"])).toMatchObject({ code: 0, out: `State directory ${home}: nothing is stored there yet.\n` });
  piped(["run", "approval.workflow.ts", "--task", "x", "--json"]);
  const [decision] = JSON.parse(piped(["decisions", "--json"]).out).items;
  const well = piped(["doctor"]);
  expect(well).toMatchObject({ code: 0, err: "" });
  expect(well.out).toMatch(/^✓ Integrity: every page, index and reference$/m);
  expect(well.out).toContain(`\n      node ${bin} answer ${decision.code} go --home ${home}\n`);
  expect(well.out.trimEnd()).toMatch(/Nothing is wrong, and nothing stands still\.$/);
  expect(JSON.parse(piped(["doctor", "--json"]).out)).toMatchObject({ verdict: "ok", owner: null });
  expect(piped(["doctor", "--replay", decision.run]).out).toMatch(/^✓ Replay: 4 actors, \d+ steps$/m);
  expect(piped(["doctor", "--replay", "nothing"])).toMatchObject({ code: 2 });
});

test("CLI-42 prune tells what would go, removes it, and refuses to guess", { timeout }, () => {
  const { piped } = setup();
  const lines = piped(["run", "approval.workflow.ts", "--task", "x", "--json"]).out.trimEnd().split("\n");
  const { run } = JSON.parse(lines[0] ?? "");
  expect(run).toMatch(/^r_/);
  expect(piped(["prune"])).toMatchObject({ code: 2, err: expect.stringContaining("--older-than 30d") });
  expect(piped(["prune", "--keep", "0"]).out).toBe("No finished run is old enough: nothing was pruned.\n");
  piped(["cancel", run]);
  expect(piped(["prune", "--keep", "0", "--dry-run"]).out).toMatch(
    new RegExp(`^1 finished run would go:\\n  ${run}  approval, cancelled .*\\nNothing was changed\\.\\n$`),
  );
  expect(piped(["prune", "--older-than", "1d"]).out).toContain("nothing was pruned");
  expect(JSON.parse(piped(["prune", "--keep", "0", "--json"]).out)).toMatchObject({ dryRun: false, runs: [{ id: run, state: "cancelled" }], kept: [] });
  expect(JSON.parse(piped(["runs", "--json"]).out).items).toEqual([]);
});

test("CLI-43 export makes a file that opens, and reset puts the directory aside and says where", { timeout }, () => {
  const { folder, home, piped } = setup();
  piped(["run", "approval.workflow.ts", "--task", "x", "--json"]);
  mkdirSync(join(folder, "copy"), { mode: 0o700 });
  expect(piped(["export", "--to", "copy/pawl.db"])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`The whole state is in ${join(folder, "copy", "pawl.db")}`),
  });
  expect(piped(["export", "--to", "copy/pawl.db"])).toMatchObject({ code: 2, err: expect.stringContaining("exists already") });
  expect(JSON.parse(piped(["runs", "--json", "--home", join(folder, "copy")]).out)).toEqual(JSON.parse(piped(["runs", "--json"]).out));
  expect(piped(["reset", "--backup"])).toMatchObject({ code: 0, out: expect.stringContaining(`${home} stands at ${home}.aside now`) });
  expect(existsSync(home)).toBe(false);
  expect(JSON.parse(piped(["reset", "--backup", "--json"]).out)).toEqual({ movedTo: null });
});

describe("the doctor's page", () => {
  const report: DoctorReport = {
    home: "/home/someone/.pawl",
    owner: 4711,
    verdict: "fault",
    checks: [
      { name: "integrity", looked: "every page, index and reference", findings: [] },
      {
        name: "index",
        looked: "3 index rows",
        findings: [
          { severity: "fault", subject: "r_1", what: `Runs: the index row of r_1 is missing. ${"Put a backup back. ".repeat(4)}\u202E`, commands: [] },
        ],
      },
      {
        name: "runs",
        looked: "1 living run",
        findings: [
          {
            severity: "stuck",
            subject: "r_2",
            what: "Run r_2 is queued, and no process drives it.",
            commands: [
              ["resume", "r_2"],
              ["cancel", "r_2"],
            ],
          },
        ],
      },
    ],
  };

  test.each([20, 40, 80, 200])("CLI-44 fits %i columns but for commands, says safe text, and marks each check by its worst finding", (width) => {
    const lines = doctorPage(report, { width, paint: noPaint, command: (...words) => `pawl ${words.join(" ")}` });
    for (const line of lines) if (!line.includes("pawl ")) expect(cellWidth(line)).toBeLessThanOrEqual(width);
    expect(lines.join("\n")).not.toContain("\u202E");
    const marks = lines.filter((line) => /^[✓✗!]/.test(line)).map((line) => line.slice(0, 1));
    expect(marks).toEqual(["✓", "✗", "!"]);
    expect(lines).toContain("      pawl resume r_2");
  });
});
