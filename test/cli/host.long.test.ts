/** The real command through real hosts: what takes its time. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { anotherClient, ownerOf, patience } from "../host/daemonKit.ts";
import { bin } from "./fixture.ts";
import { hosted, hostFixture, jsonLines, letGo, slowWorkflow } from "./hostFixture.ts";
import { personEnvironment } from "./pty.ts";

const timeout = 60_000;

test("CLIENT-20 a failure, a wrong input and an unknown run keep their exit codes and words through the host", { timeout }, () => {
  const made = hostFixture();
  const cases = [
    ["run", "approval.workflow.ts"],
    ["resume", "nosuchrun"],
    ["run", "nosuch"],
    ["cancel", "nosuchrun"],
  ];
  const embedded = cases.map((args) => made.piped(args));
  const throughHost = cases.map((args) => made.piped(args, hosted));
  expect(throughHost).toEqual(embedded);
  expect(throughHost.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
});

test("CLIENT-21 SIGTERM to a piped command leaves the run, too, and says so as JSON", { timeout }, async () => {
  const made = hostFixture();
  const child = spawn(process.execPath, [bin, "run", slowWorkflow(made), "--json"], {
    cwd: made.folder,
    env: personEnvironment({ PAWL_HOME: made.home, HOME: made.folder, ...hosted }),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  await vi.waitUntil(() => out.includes('"kind":"line"'), patience);
  child.kill("SIGTERM");
  expect(await ended).toBe(130);
  const last = jsonLines(out).at(-1);
  expect(last).toMatchObject({ kind: "result", exitCode: 130, run: { state: "running" } });
  const client = anotherClient(made.home, false);
  const [run] = (await client.runs()).items;
  expect(run?.state).toBe("running");
  letGo(made);
  await vi.waitFor(async () => expect((await client.run(run?.id ?? "")).state).toBe("completed"), patience);
});

test("CLIENT-24 reset and prune have an idle host end first", { timeout }, () => {
  const made = hostFixture();
  letGo(made);
  made.piped(["run", slowWorkflow(made)], hosted);
  const pruned = made.piped(["prune", "--keep", "0", "--json"], hosted);
  expect(pruned.code).toBe(0);
  expect((JSON.parse(pruned.out) as { runs: unknown[] }).runs).toHaveLength(1); // what --json writes
  expect(ownerOf(made.home)).toBeNull();
  made.piped(["host", "start"], hosted);
  const reset = made.piped(["reset", "--backup"], hosted);
  expect(reset).toMatchObject({ code: 0, err: "" });
  expect(existsSync(made.home)).toBe(false);
});

test("CLIENT-24 a host in use is not ended by reset, prune: both name the command that stops it", { timeout }, async () => {
  const made = hostFixture();
  const pty = made.terminal(["run", slowWorkflow(made)], { env: hosted });
  await pty.waitFor("begun");
  for (const args of [
    ["reset", "--backup"],
    ["prune", "--keep", "0"],
  ]) {
    const refused = made.piped(args, hosted);
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/is in use: 1 run goes on, 1 other client is there\. .* host stop/);
  }
  const stopped = made.piped(["host", "stop"], hosted);
  expect(stopped.out.replace(/\s+/g, " ")).toContain("1 run is not finished: what was going on goes on when a host starts again");
  expect(await pty.exit).toBe(4);
  expect(pty.lines().join(" ")).toContain("was stopped.");
  expect(made.piped(["reset", "--backup"], hosted).code).toBe(0);
});

test("CLIENT-25 a decision is asked and answered at the terminal through the host, and reading commands start no host", { timeout }, async () => {
  const made = hostFixture();
  const pty = made.terminal(["run", "approval.workflow.ts", "--task", "the host"], { env: hosted });
  await pty.waitFor("Approve the host");
  await pty.waitFor("Your choice, by id or number");
  pty.type("go\r");
  expect(await pty.exit).toBe(0);
  expect(pty.lines().join("\n")).toContain('"built": "the host"');

  const waiting = made.piped(["run", "approval.workflow.ts", "--task", "later"], hosted);
  expect(waiting.code).toBe(3);
  const command = /^ {2}\S.* answer (\S+) go/m.exec(waiting.out);
  const answered = made.terminal(["answer", command?.[1] ?? "", "go"], { env: hosted });
  expect(await answered.exit).toBe(0);
  made.piped(["host", "stop"], hosted);
  for (const args of [["runs"], ["decisions"], ["effect", "list"], ["doctor"]]) expect(made.piped(args, hosted).code).toBe(0);
  expect(ownerOf(made.home)).toBeNull();
  expect(readFileSync(join(made.home, "host.log"), "utf8").match(/host\.started/g)).toHaveLength(1);
});
