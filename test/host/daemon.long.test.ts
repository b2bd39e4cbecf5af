/** Real hosts in processes of their own: what takes its time. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { olderLog } from "../../src/host/daemon/log.ts";
import { socketPath } from "../../src/host/protocol/address.ts";
import { anotherClient, isAlive, ownerOf, patience, realHost } from "./daemonKit.ts";
import { canMount, remount, smallFileSystem } from "../persistence/places.ts";
import { askNode, Project } from "./kit.ts";

const timeout = 60_000;
const slow = `.node("a", shell({ command: "/bin/sh", args: ["-c", "trap '' TERM; echo begun; while [ ! -e go ]; do sleep 0.05; done"] }))`;
const asking = `.later("ask", approval)\n${askNode()}\n.node("after", compute(() => mark("after"))).node("end", compute(() => "stopped"))`;
const isRoot = process.getuid?.() === 0;

/** A program of a few lines, run as another user of this machine. */
function asUser(uid: number, program: string) {
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { uid, gid: uid, encoding: "utf8", cwd: "/" });
}

const logOf = (project: Project): string => {
  const path = join(project.home, "host.log");
  return [path, olderLog(path, 1), olderLog(path, 2)].map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("");
};

const gone = (pid: number): Promise<boolean> => vi.waitUntil(() => !isAlive(pid), patience);

test.runIf(isRoot)("HOST-51 another user is kept out by the socket's own mode", { timeout }, async () => {
  const project = new Project();
  await realHost(project.home).status();
  for (const folder of [project.directory, project.home]) chmodSync(folder, 0o755);
  const program = `import { connect } from "node:net"; connect(${JSON.stringify(socketPath(project.home))}).on("connect", () => console.log("in")).on("error", (error) => console.log(error.code));`;
  const other = asUser(65534, program);
  expect(other.stdout.trim()).toBe("EACCES");
});

test.runIf(isRoot)("HOST-51 a short directory that is not this user's own is not used", { timeout }, () => {
  const uid = 54_321;
  const folder = `/tmp/pawl-${uid}`;
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => void spawnSync("rmdir", [folder]));
  const address = fileURLToPath(new URL("../../src/host/protocol/address.ts", import.meta.url));
  const program = `import { checkSocketDirectory, socketPath } from ${JSON.stringify(address)}; try { checkSocketDirectory(socketPath("/${"x".repeat(120)}"), true); console.log("used"); } catch (error) { console.log(error.code, error.message); }`;
  expect(asUser(uid, program).stdout).toMatch(/^storageFailed .*pawl-54321/);
});

test("HOST-51 a state directory that others can write is refused, and the client says why", { timeout }, async () => {
  const project = new Project();
  mkdirSync(project.home, { mode: 0o777 });
  chmodSync(project.home, 0o777);
  await expect(realHost(project.home).status()).rejects.toMatchObject({
    code: "storageFailed",
    message: expect.stringContaining("can be written by other users"),
  });
});

test("HOST-54 a new host begins what is queued and takes up what was interrupted, without anybody asking", { timeout }, async () => {
  const project = new Project();
  const client = realHost(project.home);
  const { id } = await project.start(client, project.workflow(slow));
  await vi.waitUntil(async () => (await client.run(id)).visits[0]?.status === "running", patience);
  const { pid } = await client.status();
  await client.close();
  process.kill(pid, "SIGKILL");
  await gone(pid);
  // Saved by an embedded owner that drives nothing.
  const embedded = await project.open();
  const queued = (await project.start(embedded, project.workflow(`.node("a", compute(() => 1))`, { name: "quick" }))).id;
  expect((await embedded.run(queued)).state).toBe("queued");
  await embedded.close();
  project.write("go", "");
  const next = anotherClient(project.home);
  for (const run of [id, queued]) await vi.waitFor(async () => expect((await next.run(run)).state).toBe("completed"), patience);
});

test("HOST-54 a run that is started goes on although whoever started it has gone", { timeout }, async () => {
  const project = new Project();
  const client = realHost(project.home);
  const { id } = await project.start(client, project.workflow(`.node("a", compute(() => mark("done")))`));
  await client.close();
  const other = anotherClient(project.home, false);
  await vi.waitFor(async () => expect((await other.run(id)).state).toBe("completed"), patience);
});

test("HOST-57 SIGTERM ends a host within 5 s at its last commit, with all that its steps started; the next one goes on", { timeout }, async () => {
  const project = new Project();
  const client = realHost(project.home);
  const { id } = await project.start(client, project.workflow(slow));
  await vi.waitUntil(async () => (await client.run(id)).visits[0]?.status === "running", patience);
  const { pid } = await client.status();
  const waiting = client.drive(id);
  const asked = Date.now();
  process.kill(pid, "SIGTERM");
  await expect(waiting).rejects.toMatchObject({ code: "hostUnavailable", message: expect.stringContaining("was stopped (SIGTERM)") });
  await gone(pid);
  expect(Date.now() - asked).toBeLessThan(5_000);
  const steps = spawnSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .stdout.split("\n")
    .filter((line) => line.includes(`cd ${project.directory}`));
  expect(steps).toEqual([]);
  project.write("go", "");
  expect((await anotherClient(project.home).drive(id)).state).toBe("completed");
});

test("HOST-60 an error that nothing caught is logged by its place, not its words, and ends the host; clients find the next one", { timeout }, async () => {
  const project = new Project();
  const fault = project.write(
    "fault.mjs",
    `import { existsSync, rmSync } from "node:fs"; if (process.argv.includes("serve")) setInterval(() => { if (existsSync(${JSON.stringify(project.file("throw"))})) { rmSync(${JSON.stringify(project.file("throw"))}); throw new TypeError("s3cret words"); } }, 20);`,
  );
  vi.stubEnv("NODE_OPTIONS", `--import ${fault}`);
  const client = realHost(project.home);
  const { pid } = await client.status();
  project.write("throw", "");
  await gone(pid);
  const log = logOf(project);
  expect(log).toMatch(/"level":"error","event":"uncaught","code":"internal","name":"TypeError","where":"at .*fault\.mjs/);
  expect(log).not.toContain("s3cret");
  expect((await client.status()).pid).not.toBe(pid);
});

test("HOST-61 a host whose state directory is moved away ends", { timeout }, async () => {
  const project = new Project();
  const { pid } = await realHost(project.home).status();
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
  renameSync(project.home, project.file("aside"));
  await gone(pid);
  expect(readFileSync(join(project.file("aside"), "host.log"), "utf8")).toContain('"reason":"displaced"');
});

test(
  "HOST-56 a real host goes when it has nothing to do, removes its socket and frees the directory; with an open decision it stays",
  { timeout },
  async () => {
    const project = new Project();
    const client = realHost(project.home, 200);
    const { id } = await project.start(client, project.workflow(asking));
    await client.drive(id);
    const { pid } = await client.status();
    await client.close();
    await new Promise((done) => setTimeout(done, 1_000));
    expect(isAlive(pid)).toBe(true);
    const other = anotherClient(project.home, false);
    await other.cancel(id, "user");
    await other.close();
    await gone(pid);
    expect(existsSync(socketPath(project.home))).toBe(false);
    expect(ownerOf(project.home)).toBeNull();
    expect(logOf(project)).toContain('"reason":"idle"');
  },
);

test.runIf(canMount)("HOST-62 a full disk is told to whoever waits and ends the host; the next one goes on when there is space", { timeout }, async () => {
  const project = new Project();
  const small = smallFileSystem(2_048);
  const home = `${small}/home`;
  const client = realHost(home);
  const workflow = project.workflow(
    `.node("first", compute(() => { mark("first"); return "kept"; }), "big").node("big", compute(() => "x".repeat(4_000_000)), "last").node("last", compute(({ outputs }) => outputs.first))`,
  );
  const { id } = await project.start(client, workflow);
  const { pid } = await client.status();
  await expect(client.drive(id)).rejects.toMatchObject({ code: "storageFull" });
  await gone(pid);
  remount(small, "size=32m");
  const view = await anotherClient(home).drive(id);
  expect(view).toMatchObject({ state: "completed", result: "kept" });
  expect(project.side).toEqual(["first"]);
});
