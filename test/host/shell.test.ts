import { mkdtempSync, readFileSync, writeFileSync, existsSync, rmSync, mkdirSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ProcessRecord } from "../../persistence/store.ts";
import type { AbortReason } from "../../src/runtime/executor.ts";
import { endGroup, isLeftOver, livingMembers, startTokenOf } from "../../src/host/processes.ts";
import { runShell, type ShellCommand, type ShellTask } from "../../src/host/shell.ts";

let directory: string;
let started: ProcessRecord[];
let lines: string[];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "pawl-shell-"));
  started = [];
  lines = [];
});

afterEach(async () => {
  const alive = await Promise.all(started.map((record) => endGroup(record.pgid)));
  rmSync(directory, { recursive: true, force: true });
  expect(alive.flat()).toEqual([]);
});

function task(own: Partial<ShellTask> = {}): ShellTask {
  return {
    signal: new AbortController().signal,
    leftover: null,
    saveProcess: async (record) => {
      started.push(record);
    },
    report: (line) => lines.push(line),
    ...own,
  };
}

const sh = (script: string, own: Partial<ShellCommand> = {}): ShellCommand => ({ command: "sh", args: ["-c", script], ...own });
const file = (name: string): string => path.join(directory, name);
const appears = (name: string): Promise<string> =>
  vi.waitFor(() => readFileSync(file(name), "utf8").trim() || Promise.reject(new Error("empty")), { timeout: 5_000, interval: 10 });
const groupOf = (index = 0): number => started[index]?.pgid ?? 0;

async function aborting(reason: AbortReason, script: string): Promise<{ readonly error: unknown; readonly ms: number }> {
  const controller = new AbortController();
  const running = runShell(sh(script, { cwd: directory }), task({ signal: controller.signal })).then(
    () => undefined,
    (error: unknown) => error,
  );
  await appears("ready");
  const since = Date.now();
  controller.abort(reason);
  return { error: await running, ms: Date.now() - since };
}

test("EFFECT-10 a command's output, exit code and lines come back", async () => {
  const result = await runShell(sh("echo out; echo err >&2; echo more"), task());
  expect(result).toEqual({ exitCode: 0, signal: null, stdout: "out\nmore\n", stderr: "err\n", truncated: { stdout: false, stderr: false } });
  expect(lines.toSorted()).toEqual(["err", "more", "out"]);
});

test("EFFECT-10 arguments reach the command as they are, no shell reads them", async () => {
  const result = await runShell({ command: "printf", args: ["<%s>", "a b", "$HOME", "'", "", "-n", "a\nb"] }, task());
  expect(result.stdout).toBe("<a b><$HOME><'><><-n><a\nb>");
});

test("EFFECT-10 standard input is given, and empty without one", async () => {
  expect((await runShell({ command: "cat", stdin: "häl\nlo" }, task())).stdout).toBe("häl\nlo");
  expect((await runShell({ command: "cat" }, task())).stdout).toBe("");
});

test("EFFECT-10 a command that does not read its large input is no failure", async () => {
  expect((await runShell({ command: "true", stdin: "x".repeat(1_000_000) }, task())).exitCode).toBe(0);
});

test("EFFECT-11 the group is saved before the command begins", async () => {
  let release = (): void => undefined;
  const saved = new Promise<void>((resolve) => {
    release = resolve;
  });
  let record: ProcessRecord | undefined;
  const running = runShell(
    sh("echo ran > ran", { cwd: directory }),
    task({
      saveProcess: (value) => {
        record = value;
        return saved;
      },
    }),
  );
  await vi.waitFor(() => expect(record).toBeDefined());
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(existsSync(file("ran"))).toBe(false);
  expect(startTokenOf(record?.pgid ?? 0)).toBe(record?.startToken);
  release();
  await running;
  expect(existsSync(file("ran"))).toBe(true);
});

test("EFFECT-11 a command whose group cannot be saved never runs and leaves no process", async () => {
  let pgid = 0;
  const running = runShell(
    sh("echo ran > ran", { cwd: directory }),
    task({
      saveProcess: (record) => {
        pgid = record.pgid;
        return Promise.reject(new Error("the disk is full"));
      },
    }),
  );
  await expect(running).rejects.toThrow("the disk is full");
  expect(existsSync(file("ran"))).toBe(false);
  expect(livingMembers(pgid)).toEqual([]);
});

test("EFFECT-12 case 85 a cancelled command and its whole group are gone within 2 s", async () => {
  const { error, ms } = await aborting("cancelled", "sleep 100 & sleep 100 & echo $$ > ready; sleep 100");
  expect(error).toMatchObject({ reason: "userCancelled" });
  expect(ms).toBeLessThan(2_000);
  expect(livingMembers(groupOf())).toEqual([]);
});

test("EFFECT-12 a grandchild that ignores TERM is killed, in a job group of its own too", async () => {
  const { error, ms } = await aborting(
    "timedOut",
    `trap "" TERM; set -m; (trap "" TERM; while :; do sleep 0.05; done) & echo $! > ready; while :; do sleep 0.05; done`,
  );
  const grandchild = Number(readFileSync(file("ready"), "utf8"));
  expect(error).toMatchObject({ reason: "nodeTimedOut" });
  expect(ms).toBeGreaterThan(900);
  expect(ms).toBeLessThan(2_300);
  expect(livingMembers(groupOf())).toEqual([]);
  expect(startTokenOf(grandchild)).toBeNull();
});

test("EFFECT-12 a command may tidy up when it gets TERM", async () => {
  const { error } = await aborting("shutdown", `trap "echo tidy > tidied; exit 0" TERM; echo $$ > ready; while :; do sleep 0.02; done`);
  expect(error).toMatchObject({ reason: "workerCrashed" });
  expect(readFileSync(file("tidied"), "utf8")).toBe("tidy\n");
});

test("EFFECT-12 an abort before the command begins starts nothing", async () => {
  const controller = new AbortController();
  controller.abort("cancelled");
  await expect(runShell(sh("echo ran > ran", { cwd: directory }), task({ signal: controller.signal }))).rejects.toMatchObject({ reason: "userCancelled" });
  expect(started).toEqual([]);
  const late = new AbortController();
  await expect(
    runShell(
      sh("echo ran > ran", { cwd: directory }),
      task({
        signal: late.signal,
        saveProcess: async (record) => {
          started.push(record);
          late.abort("cancelled");
        },
      }),
    ),
  ).rejects.toMatchObject({ reason: "userCancelled" });
  expect(existsSync(file("ran"))).toBe(false);
});

test("EFFECT-13 what a command leaves running in the background is ended with the step", async () => {
  const result = await runShell(sh("sleep 100 & echo done"), task());
  expect(result.stdout).toBe("done\n");
  expect(livingMembers(groupOf())).toEqual([]);
});

test("EFFECT-13 output that a child writes just after the command ended is kept", async () => {
  expect((await runShell(sh("(sleep 0.2; echo late) & echo early"), task())).stdout).toBe("early\nlate\n");
});

async function leaveRunning(script: string): Promise<ProcessRecord> {
  // As after a crash of the host: the group lives, nobody waits for it.
  const controller = new AbortController();
  void runShell(sh(script, { cwd: directory }), task({ signal: controller.signal })).catch(() => undefined);
  await appears("ready");
  const record = started[0];
  if (record === undefined) throw new Error("the command did not start");
  return record;
}

test("EFFECT-14 a new attempt first ends what is left of the earlier one", async () => {
  const left = await leaveRunning(`trap "" TERM; echo $$ > ready; while :; do sleep 0.05; done`);
  expect(isLeftOver(left)).toBe(true);
  let aliveAtStart: readonly number[] = [0];
  await runShell(
    sh("true"),
    task({
      leftover: left,
      saveProcess: async () => {
        aliveAtStart = livingMembers(left.pgid);
      },
    }),
  );
  expect(aliveAtStart).toEqual([]);
});

test("EFFECT-14 a group whose leader is gone is left over as long as a member lives", async () => {
  const running = await leaveRunning(`trap "" TERM; (while :; do sleep 0.05; done) & echo $! > ready; while :; do sleep 0.05; done`);
  process.kill(running.pgid, "SIGKILL");
  await vi.waitFor(() => expect(startTokenOf(running.pgid)).toBeNull());
  expect(isLeftOver(running)).toBe(true);
});

test("EFFECT-14 a later group with the same number is left alone", async () => {
  const running = await leaveRunning("echo $$ > ready; sleep 100");
  const stranger = { pgid: running.pgid, startToken: running.startToken.replace(/\d+$/, "1") };
  expect(isLeftOver(stranger)).toBe(false);
  await runShell(sh("true"), task({ leftover: stranger, saveProcess: async () => undefined }));
  expect(livingMembers(running.pgid)).not.toEqual([]);
});

test("EFFECT-14 the numbers of our own group and of everybody are never signalled", async () => {
  await expect(endGroup(1)).rejects.toThrow(RangeError);
  await expect(endGroup(0)).rejects.toThrow(RangeError);
});

test("EFFECT-15 a stream of more than 1,000,000 characters is cut with a mark", async () => {
  const result = await runShell(sh("head -c 1500000 /dev/zero | tr '\\0' x; printf 'the end' >&2"), task());
  expect(result.truncated).toEqual({ stdout: true, stderr: false });
  expect(result.stdout.length).toBeLessThanOrEqual(1_000_000);
  expect(result.stdout).toMatch(/x\n\[truncated: 500\d{3} more characters\]$/);
  expect(result.stderr).toBe("the end");
});

test("EFFECT-16 a failing command fails the step with its exit code and the end of its standard error", async () => {
  await expect(runShell(sh("head -c 5000 /dev/zero | tr '\\0' x >&2; echo broken >&2; exit 3"), task())).rejects.toMatchObject({
    reason: "effectFailed",
    message: expect.stringMatching(/exit code 3\. The end of its standard error:\nx{1993}broken$/),
  });
  await expect(runShell(sh("kill -9 $$"), task())).rejects.toMatchObject({ reason: "effectFailed", message: expect.stringContaining("was ended by SIGKILL") });
});

test("EFFECT-16 with allowNonZeroExit another exit code is a result", async () => {
  expect(await runShell(sh("exit 3", { allowNonZeroExit: true }), task())).toMatchObject({ exitCode: 3, signal: null });
  expect(await runShell(sh("kill -15 $$", { allowNonZeroExit: true }), task())).toMatchObject({ exitCode: null, signal: "SIGTERM" });
});

test("EFFECT-17 a missing directory or command is named before anything starts", async () => {
  await expect(runShell({ command: "true", cwd: file("gone") }, task())).rejects.toThrow(`The working directory ${file("gone")} does not exist`);
  writeFileSync(file("plain"), "");
  await expect(runShell({ command: "true", cwd: file("plain") }, task())).rejects.toThrow("is not a directory");
  await expect(runShell({ command: "no-such-command-here" }, task())).rejects.toThrow('no "no-such-command-here" in any directory of PATH');
  await expect(runShell({ command: "./plain", cwd: directory }, task())).rejects.toThrow("is not executable (chmod +x it)");
  await expect(runShell({ command: "./absent", cwd: directory }, task())).rejects.toThrow(`${file("absent")} does not exist`);
  expect(started).toEqual([]);
});

test("EFFECT-17 a command is found in the PATH that its own environment gives", async () => {
  mkdirSync(file("bin"));
  writeFileSync(file("bin/only-here"), "#!/bin/sh\necho found\n");
  chmodSync(file("bin/only-here"), 0o755);
  expect((await runShell({ command: "only-here", env: { PATH: `${file("bin")}:/usr/bin:/bin` } }, task())).stdout).toBe("found\n");
});

test("EFFECT-18 a command gets the host's environment without Pawl's own, the author's, and the worker's mark", async () => {
  vi.stubEnv("PAWL_SECRET", "s3cret");
  vi.stubEnv("PAWL_HOME", "/somewhere");
  vi.stubEnv("OTHER", "kept");
  vi.stubEnv("GONE", "there");
  try {
    const { stdout } = await runShell(
      sh('echo "$PAWL_SECRET|$PAWL_HOME|$OTHER|$OWN|$PAWL_WORKER|${GONE-unset}"', { env: { OWN: "a b", PAWL_WORKER: "", GONE: undefined } }),
      task(),
    );
    expect(stdout).toBe("|/somewhere|kept|a b|1|unset\n");
  } finally {
    vi.unstubAllEnvs();
  }
  await expect(runShell(sh("true", { env: { "no-name": "x" } }), task())).rejects.toThrow('"no-name", which is no name of a variable');
});

test.runIf(["/bin/ps", "/usr/bin/ps"].some((ps) => existsSync(ps)))("EFFECT-14 without /proc the same is told by ps", async () => {
  const running = await leaveRunning("echo $$ > ready; sleep 100");
  const platform = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
  Object.defineProperty(process, "platform", { ...platform, value: "darwin" });
  vi.resetModules();
  try {
    const elsewhere = await import("../../src/host/processes.ts");
    const startToken = elsewhere.startTokenOf(running.pgid);
    expect(startToken).toMatch(/\d\d:\d\d:\d\d \d{4}$/);
    expect(elsewhere.startTokenOf(2 ** 22 + 1)).toBeNull();
    expect(elsewhere.livingMembers(running.pgid)).toEqual(expect.arrayContaining([...livingMembers(running.pgid)]));
    expect(elsewhere.isLeftOver({ pgid: running.pgid, startToken: "Mon Jan  1 00:00:00 2001" })).toBe(false);
    expect(await elsewhere.endLeftOver({ pgid: running.pgid, startToken: startToken ?? "" })).toEqual([]);
    expect(livingMembers(running.pgid)).toEqual([]);
  } finally {
    Object.defineProperty(process, "platform", platform);
  }
});
