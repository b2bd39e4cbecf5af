/** The real command through real hosts. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { anotherClient, ownerOf } from "../host/daemonKit.ts";
import { hosted, hostFixture, jsonLines, letGo, slowWorkflow } from "./hostFixture.ts";

const timeout = 60_000;

test("CLIENT-20 a run through the host is told and ends as an embedded one, and the next command finds the same host", { timeout }, async () => {
  const made = hostFixture();
  letGo(made);
  const embedded = made.piped(["run", slowWorkflow(made)]);
  const throughHost = made.piped(["run", slowWorkflow(made)], hosted);
  const anonymous = (text: string): readonly string[] =>
    text
      .replace(/r_[0-9A-Z]{26}/g, "r_")
      .replace(/\d+-\d+-\d+T\d+:\d+:\d+Z|after [0-9.]+s/g, "")
      .split("\n")
      .sort();
  expect(throughHost.err).toBe(embedded.err);
  expect(anonymous(throughHost.out)).toEqual(anonymous(embedded.out));
  expect([embedded.code, throughHost.code]).toEqual([0, 0]);
  const pid = ownerOf(made.home);
  expect(pid).not.toBeNull();
  expect(made.piped(["run", slowWorkflow(made), "--json"], hosted).code).toBe(0);
  expect(ownerOf(made.home)).toBe(pid);
  // Whoever wants the directory for itself is told who has it and how to stop that.
  const refused = made.piped(["run", slowWorkflow(made), "--embedded"], hosted);
  expect(refused.code).toBe(4);
  expect(refused.err).toMatch(new RegExp(`process ${pid} \\(pawl host.* host stop`));
});

test("CLIENT-21 Ctrl-C while the run is being saved tells of it too, once it is known", { timeout }, async () => {
  const made = hostFixture();
  writeFileSync(
    join(made.folder, "late.workflow.ts"),
    `import { appendFileSync, existsSync } from "node:fs";
import { compute, workflow } from "pawl";
import { z } from "zod";
appendFileSync("loading", "1");
while (!existsSync("loaded")) await new Promise((resolve) => setTimeout(resolve, 20));
export default workflow({ name: "late", input: z.object({}) }).node("only", compute(() => 1)).build();
`,
  );
  const pty = made.terminal(["run", "./late.workflow.ts"], { env: hosted });
  await vi.waitFor(() => expect(existsSync(join(made.folder, "loading"))).toBe(true), { timeout: 20_000 });
  pty.type("\u0003");
  writeFileSync(join(made.folder, "loaded"), "");
  expect(await pty.exit).toBe(130);
  expect(pty.lines().join(" ")).toMatch(/late \(r_[0-9A-Z]{26}\) (goes on in its host|completed)/);
});

test("CLIENT-21 Ctrl-C leaves a run that goes on, with 130 and what to type", { timeout }, async () => {
  const made = hostFixture();
  const pty = made.terminal(["run", slowWorkflow(made)], { env: hosted });
  await pty.waitFor("begun");
  pty.type("\u0003");
  await pty.waitFor("goes on in its host");
  for (const word of ["Watch it again with:", "Pause it:", "End it for good:"]) await pty.waitFor(word);
  expect(await pty.exit).toBe(130);
  const text = pty.lines().join("\n");
  expect(text).not.toContain("Stopping");
  const run = / resume (r_[0-9A-Z]{26})/.exec(text)?.[1] ?? "";
  letGo(made);
  const again = made.piped(["resume", run], hosted);
  expect(again.out).toContain("completed");
  expect(again.code).toBe(0);
});

test("CLIENT-22 pause lets the running step end and begins no other; resume goes on", { timeout }, async () => {
  const made = hostFixture();
  const pty = made.terminal(["run", slowWorkflow(made)], { env: hosted });
  await pty.waitFor("begun");
  const client = anotherClient(made.home, false);
  const { id = "" } = (await client.runs()).items[0] ?? {};
  const paused = made.piped(["pause", id.slice(-8)], hosted);
  expect(paused.code).toBe(0);
  expect((await client.run(id)).pausedAt).not.toBeNull();
  letGo(made);
  expect(await pty.exit).toBe(3);
  expect((await client.run(id)).visits.map(({ node, status }) => `${node} ${status}`)).toEqual(["first accepted"]);
  const resumed = made.piped(["resume", id], hosted);
  expect(resumed.code).toBe(0);
  expect(resumed.out).toContain('"second": "done"');
});

test("CLIENT-23 the host commands start, show and end a host, and start none where they only look", { timeout }, () => {
  const made = hostFixture();
  expect(made.piped(["host", "status"], hosted)).toMatchObject({ code: 0, out: expect.stringContaining("No host runs for") });
  expect(JSON.parse(made.piped(["host", "status", "--json"], hosted).out)).toEqual({ running: false, home: made.home });
  expect(made.piped(["host", "stop"], hosted)).toMatchObject({ code: 0, out: expect.stringContaining("No host runs for") });
  expect(made.piped(["host", "logs"], hosted)).toMatchObject({ code: 0, out: expect.stringContaining("No host has written a log") });
  expect(existsSync(made.home)).toBe(false);

  const started = JSON.parse(made.piped(["host", "start", "--json"], hosted).out) as { pid: number }; // what --json writes
  expect(started).toMatchObject({ running: true, home: made.home, open: 0, moving: 0, clients: 1 });
  expect(ownerOf(made.home)).toBe(started.pid);
  expect(made.piped(["host", "start"], hosted).out).toContain(`Host ${started.pid} `);
  expect(made.piped(["host", "status"], hosted).out.replace(/\s+/g, " ")).toContain("0 other clients");
  const logs = made.piped(["host", "logs", "--lines", "2"], hosted).out.trimEnd().split("\n");
  expect(logs).toHaveLength(2);
  expect(logs.join()).toMatch(/ info client\.(came|left) client=c_/);
  for (const line of jsonLines(made.piped(["host", "logs", "--json"], hosted).out)) expect(line).toHaveProperty("event");
  expect(made.piped(["host", "stop"], hosted).out.replace(/\s+/g, " ")).toContain(`Host ${started.pid} of ${made.home} has ended. What was saved is safe.`);
  expect(ownerOf(made.home)).toBeNull();
  expect(made.piped(["host", "serve"], hosted).code).toBe(2);
});
