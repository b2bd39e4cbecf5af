/** Clients of real hosts: found, started on demand, killed under way. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { anotherClient, endHost, isAlive, ownerOf, patience, realHost } from "../host/daemonKit.ts";
import { hostProcess, Project } from "../host/kit.ts";

const timeout = 60_000;
const slow = `.node("a", shell({ command: "/bin/sh", args: ["-c", "echo begun; while [ ! -e go ]; do sleep 0.05; done"] }), "b")\n.node("b", compute(() => mark("b")))`;

/** Hosts of this state directory that are alive. */
const hostsOf = (home: string): readonly string[] =>
  execFileSync("ps", ["-eo", "pid,stat,args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(`host serve --home ${home}`) && !/^\s*\d+ Z/.test(line));

test("CLIENT-7 two clients that start at once get one host", { timeout }, async () => {
  const project = new Project();
  const clients = [realHost(project.home), anotherClient(project.home), anotherClient(project.home)];
  const pids = await Promise.all(clients.map(async (client) => (await client.status()).pid));
  expect(new Set(pids).size).toBe(1);
  expect(ownerOf(project.home)).toBe(pids[0]);
  await vi.waitFor(() => expect(hostsOf(project.home)).toHaveLength(1), patience);
});

test("CLIENT-8 a host that is killed while a run is watched is replaced, and the run completes, its steps told on", { timeout }, async () => {
  const project = new Project();
  const client = realHost(project.home);
  const told: string[] = [];
  client.subscribe((event) => told.push(event.kind === "visit" ? `${event.node} ${event.status}` : event.kind));
  const { id } = await project.start(client, project.workflow(slow));
  const waiting = client.drive(id);
  await vi.waitUntil(() => told.includes("line"), patience);
  const { pid } = await client.status();
  process.kill(pid, "SIGKILL");
  project.write("go", "");
  const view = await waiting;
  expect(view.state).toBe("completed");
  expect((await client.status()).pid).not.toBe(pid);
  expect(isAlive(pid)).toBe(false);
  await vi.waitFor(() => expect(told).toContain("b accepted"), patience);
  expect(project.side).toEqual(["b"]);
});

test("CLIENT-9 a directory that another process owns is refused at once with that process's number", { timeout }, async () => {
  const project = new Project();
  const owner = hostProcess(project, project.workflow(slow));
  await owner.run;
  const asked = Date.now();
  await expect(realHost(project.home).status()).rejects.toMatchObject({ code: "ownedElsewhere", message: expect.stringContaining(`process ${owner.pid} `) });
  // Not the ten seconds for which it would wait for a host.
  expect(Date.now() - asked).toBeLessThan(9_000);
  project.write("go", "");
  await owner.ended;
});

test("CLIENT-9 a host that cannot open the directory says why, and what it says arrives whole", { timeout }, async () => {
  const project = new Project();
  mkdirSync(project.home);
  writeFileSync(join(project.home, "pawl.db"), "no database at all, but a text that somebody put here\n".repeat(200));
  await expect(realHost(project.home).status()).rejects.toMatchObject({ code: "storageDamaged", subject: expect.stringContaining(project.home) });
});

test("CLIENT-9 a host that ends before it says a word is told of with the end of its log", { timeout }, async () => {
  const project = new Project();
  vi.stubEnv(
    "NODE_OPTIONS",
    `--import ${project.write("end.mjs", `if (process.argv.includes("serve")) { process.stderr.write("a word of the engine\\n"); process.exit(7); }`)}`,
  );
  await expect(realHost(project.home).status()).rejects.toMatchObject({
    code: "hostUnavailable",
    message: expect.stringMatching(/without a word[^]*a word of the engine/),
  });
});

test("CLIENT-9 where no host is to be started none is, and nothing is made", { timeout }, async () => {
  const project = new Project();
  onTestFinished(() => endHost(project.home));
  await expect(anotherClient(project.home, false).status()).rejects.toMatchObject({
    code: "hostUnavailable",
    message: expect.stringContaining("pawl host start"),
  });
  expect(existsSync(project.home)).toBe(false);
});

test("CLIENT-9 a host does not see the variables that speak of its starter alone", { timeout }, async () => {
  const project = new Project();
  for (const name of ["PAWL_WORKER", "PAWL_EMBEDDED"]) vi.stubEnv(name, "1");
  vi.stubEnv("PAWL_TEST_KEPT", "kept");
  const { pid } = await realHost(project.home).status();
  const names = readFileSync(`/proc/${pid}/environ`, "utf8")
    .split("\0")
    .map((line) => line.split("=")[0]);
  expect(names).toContain("PAWL_TEST_KEPT");
  expect(names).not.toContain("PAWL_WORKER");
  expect(names).not.toContain("PAWL_EMBEDDED");
});
