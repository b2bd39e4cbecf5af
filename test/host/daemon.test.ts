/** Real hosts in processes of their own. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { keptFiles, olderLog, openLog, rotateBytes } from "../../src/host/daemon/log.ts";
import { watchIdle } from "../../src/host/daemon/idle.ts";
import { socketPath } from "../../src/host/protocol/address.ts";
import { maxLineBytes } from "../../src/host/protocol/limits.ts";
import type { Standing } from "../../src/host/standing.ts";
import { commandFile } from "../../src/packageRoot.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { anotherClient, isAlive, patience, rawSocket, realHost } from "./daemonKit.ts";
import { askNode, Project } from "./kit.ts";

const timeout = 60_000;

const logOf = (project: Project): string => {
  const path = join(project.home, "host.log");
  return [path, olderLog(path, 1), olderLog(path, 2)].map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "")).join("");
};

const gone = (pid: number): Promise<boolean> => vi.waitUntil(() => !isAlive(pid), patience);

test("HOST-51 the socket is the owner's alone, and so is what the host writes", { timeout }, async () => {
  const project = new Project();
  await realHost(project.home).status();
  const path = join(project.home, "host.sock");
  expect(socketPath(project.home)).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(project.home, "host.log")).mode & 0o777).toBe(0o600);
  expect(statSync(project.home).mode & 0o777).toBe(0o700);
});

test("HOST-51 a state directory with a long path is served at a short one that every client finds", { timeout }, async () => {
  const project = new Project();
  const home = join(project.directory, "x".repeat(100), "home");
  const { pid } = await realHost(home).status();
  const path = socketPath(home);
  expect(path.length).toBeLessThan(100);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect((await anotherClient(home, false).status()).pid).toBe(pid);
  await anotherClient(home, false).stop({ ifIdle: false });
  await gone(pid);
  expect(existsSync(path)).toBe(false);
});

test("HOST-52 the socket of a killed host is taken over", { timeout }, async () => {
  const project = new Project();
  const { pid } = await realHost(project.home).status();
  process.kill(pid, "SIGKILL");
  await gone(pid);
  expect(existsSync(socketPath(project.home))).toBe(true);
  await expect(anotherClient(project.home, false).status()).rejects.toMatchObject({ code: "hostUnavailable" });
  const next = await anotherClient(project.home).status();
  expect(next.pid).not.toBe(pid);
});

test("HOST-53 a second host ends at once with the number of the first one", { timeout }, async () => {
  const project = new Project();
  const { pid } = await realHost(project.home).status();
  const second = spawnSync(process.execPath, [commandFile(), "host", "serve", "--home", project.home], { encoding: "utf8" });
  expect(second.status).toBe(4);
  expect(second.stderr).toContain(`process ${pid} (pawl host`);
  expect(second.stderr).toContain("pawl host stop");
  expect((await anotherClient(project.home, false).status()).pid).toBe(pid);
});

test(
  "HOST-55 whatever comes over a socket, the host serves others: no JSON, half a line, too long a line, no UTF-8, a client that is killed",
  { timeout },
  async () => {
    const project = new Project();
    const client = realHost(project.home);
    const { pid } = await client.status();
    const path = socketPath(project.home);
    const text = await rawSocket(path);
    text.write("GET / HTTP/1.1\n");
    await text.closed();
    expect(text.heard[0]).toMatchObject({ kind: "refused", body: { code: "protocolBroken" } });
    const bytes = await rawSocket(path);
    bytes.write(Buffer.from([0xff, 0xfe, 10]));
    await bytes.closed();
    const long = await rawSocket(path);
    long.write(Buffer.alloc(maxLineBytes + 1, "x"));
    await long.closed();
    expect(long.heard[0]).toMatchObject({ kind: "refused", body: { message: expect.stringContaining(String(maxLineBytes)) } });
    const old = await rawSocket(path);
    old.say("hello", "hello", { versions: { min: 0, max: 0 }, client: { id: "client-old", name: "old", version: "0" } }, 0);
    await old.closed();
    expect(old.heard[0]).toMatchObject({ kind: "refused", body: { code: "protocolMismatch", message: expect.stringContaining("older") } });
    // Killed in the middle of a request, with half a line under way.
    const half = spawn(process.execPath, [
      "-e",
      `const s = require("node:net").connect(${JSON.stringify(path)}); s.write(JSON.stringify({ v: 1, id: "hello", kind: "hello", body: { versions: { min: 1, max: 1 }, client: { id: "client-half", name: "half", version: "0" } } }) + "\\n" + JSON.stringify({ v: 1, id: "a", kind: "runs", body: { filter: {}, page: {} } }) + "\\n" + '{"v":1,"id":"b","ki', () => process.stdout.write("sent"));`,
    ]);
    await new Promise<void>((resolve) => half.stdout.once("data", () => resolve()));
    half.kill("SIGKILL");
    await vi.waitFor(async () => expect((await client.status()).clients).toBe(1), patience);
    expect((await client.status()).pid).toBe(pid);
  },
);

const nothing: Standing = { open: 0, moving: 0, asks: false, waits: false };

test.each<[string, number, Standing]>([
  ["a client is connected", 1, nothing],
  ["a run is not final", 0, { ...nothing, open: 1 }],
  ["a decision is open", 0, { ...nothing, asks: true }],
  ["a timer is pending", 0, { ...nothing, waits: true }],
])("HOST-56 a host stays while %s, and goes its time after the last of it", async (_what, clients, standing) => {
  const clock = fakeClock();
  let now = { clients, standing };
  let ended = 0;
  const watch = watchIdle({
    clock,
    idleMs: 1_000,
    clients: () => now.clients,
    standing: async () => now.standing,
    isInPlace: () => true,
    onIdle: () => (ended += 1),
    onDisplaced: () => {},
  });
  for (let n = 0; n < 5; n += 1) {
    clock.advance(1_000);
    await new Promise((done) => setImmediate(done));
  }
  expect(ended).toBe(0);
  now = { clients: 0, standing: nothing };
  watch.touch();
  clock.advance(999);
  await new Promise((done) => setImmediate(done));
  expect(ended).toBe(0);
  clock.advance(1);
  await new Promise((done) => setImmediate(done));
  expect(ended).toBe(1);
  expect(clock.pending()).toBe(0);
});

test("HOST-58 the log holds what happened to which ids, and nothing of input, output, answers, variables or errors", { timeout }, async () => {
  const project = new Project();
  vi.stubEnv("PAWL_TEST_TOKEN", "s3cret-variable");
  const client = realHost(project.home);
  const workflow = project.workflow(
    `.later("ask", approval).node("print", shell({ command: "/bin/sh", args: ["-c", "echo s3cret-printed; echo s3cret-error >&2"], parse: ({ stdout }) => { console.log("s3cret-log"); console.error("s3cret-err"); return stdout; } }), "ask")
${askNode('{ go: "after", stop: "after", replan: "after" }')}
.node("after", compute(() => { throw new Error("s3cret-thrown"); }))`,
  );
  const { id } = await project.start(client, workflow, { task: "s3cret-input" });
  const { decisions } = await client.drive(id);
  await client.answer({
    decision: decisions[0]?.code ?? "",
    choice: "replan",
    text: "s3cret-answer",
    idempotencyKey: "k",
    source: { kind: "human", channel: "test", actor: "tester" },
  });
  expect((await client.drive(id)).state).toBe("failed");
  await client.stop({ ifIdle: false });
  await vi.waitFor(() => expect(logOf(project)).toContain('"host.ended"'), patience);
  const log = logOf(project);
  expect(log).toContain(`"run":"${id}","state":"failed"`);
  for (const line of log.trimEnd().split("\n")) expect(Object.keys(JSON.parse(line) as object).slice(0, 3)).toEqual(["at", "level", "event"]); // an object, or keys() says so
  expect(log).not.toContain("s3cret");
});

test("HOST-59 the log is rotated by size: three private files, the newest lines in the first", () => {
  const project = new Project();
  mkdirSync(project.home);
  writeFileSync(join(project.home, "host.log"), "", { mode: 0o644 });
  const log = openLog(project.home, fakeClock());
  const lines = 4 * Math.ceil(rotateBytes / 1_000);
  for (let n = 0; n < lines; n += 1) log.write("info", "test", { n, fill: "x".repeat(5_000) });
  log.close();
  const files = readdirSync(project.home).sort();
  expect(files).toEqual(["host.log", "host.log.1", "host.log.2"]);
  expect(files).toHaveLength(keptFiles);
  for (const file of files) {
    expect(statSync(join(project.home, file)).size).toBeLessThanOrEqual(rotateBytes);
    expect(statSync(join(project.home, file)).mode & 0o777).toBe(0o600);
  }
  expect(readFileSync(join(project.home, "host.log"), "utf8")).toContain(`"n":${lines - 1},`);
});

test("HOST-63 a host loads no author code and holds nothing that could: neither loader nor compiler of workflow files", { timeout }, () => {
  const seen = `import { registerHooks } from "node:module";
const seen = [];
registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
await import(${JSON.stringify(new URL("../../src/host/daemon/serve.ts", import.meta.url).href)});
console.log(JSON.stringify(seen));`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", seen], { encoding: "utf8" });
  const modules = JSON.parse(child.stdout) as readonly string[]; // what the line above prints
  expect(modules.filter((url) => url.includes("/src/host/")).length).toBeGreaterThan(20);
  expect(modules.filter((url) => /node_modules\/(jiti|typescript)\/|\/src\/workflow\/(load|find)|inProcess/.test(url))).toEqual([]);
});
