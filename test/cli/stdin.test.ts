/** Standard input that comes when it comes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { bin, fixture, type Fixture } from "./fixture.ts";
import { personEnvironment } from "./pty.ts";

let one: Fixture | undefined;
afterEach(() => one?.remove());

test("CLI-64 an input from a pipe is waited for, however late and in whatever pieces it comes", { timeout: 60_000 }, async () => {
  one = fixture();
  const child = spawn(process.execPath, [bin, "run", "approval.workflow.ts", "--input-file", "-", "--home", one.home], {
    cwd: one.folder,
    env: personEnvironment({}),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  // Long after the command has begun to read.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  child.stdin.write('{"task":"li');
  await new Promise((resolve) => setTimeout(resolve, 100));
  child.stdin.end('ght mode"}');
  const [code] = (await once(child, "close")) as [number]; // the exit code comes first
  expect(said).toContain("Approve light mode");
  expect(code).toBe(3);
});
