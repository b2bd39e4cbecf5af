/** The server of a host over connections in memory, on a real embedded host. */
import { expect, test, vi } from "vitest";
import { fakeClock } from "../../src/runtime/clock.ts";
import { newRunId } from "../../src/ids.ts";
import type { HostServer } from "../../src/host/daemon/server.ts";
import type { Connection } from "../../src/host/protocol/connection.ts";
import { memoryPair } from "../../src/host/protocol/memory.ts";
import { helloMs, maxClients, maxOpenRequests } from "../../src/host/protocol/limits.ts";
import { openDaemon, RawClient, patience, serverOn } from "./daemonKit.ts";
import { askNode, Project, person } from "./kit.ts";

const endNodes = `.node("after", compute(() => mark("after"))).node("end", compute(() => "stopped"))`;
const asking = `${askNode()}\n${endNodes}`.replace('.node("ask"', `.later("ask", approval).node("ask"`);

async function opened(project = new Project()) {
  const host = await openDaemon(project);
  return { project, host, ...serverOn(host, project.home) };
}

function serverEnd(server: HostServer): Connection {
  const [near, far] = memoryPair();
  server.accept(far);
  return near;
}

const start = (project: Project, workflow: string, id = newRunId(Date.now())) => ({ id, workflow, input: {}, cwd: project.directory });
const valueOf = (body: Record<string, unknown>): unknown => body["value"];

test("HOST-45 a client that says nothing is told so and closed after its time; one that said hello stays", async () => {
  const project = new Project();
  const clock = fakeClock();
  const { client, server } = serverOn(await openDaemon(project), project.home, clock);
  const silent = client();
  const polite = await client().hello();
  clock.advance(helloMs - 1);
  expect(server.clients).toBe(2);
  clock.advance(1);
  await silent.closed();
  expect(silent.heard.at(-1)).toMatchObject({ kind: "refused", body: { code: "protocolBroken", message: expect.stringContaining("Nothing was said") } });
  expect(polite.isClosed).toBe(false);
  expect(server.clients).toBe(1);
});

test.each([
  ["no JSON", "{"],
  ["a key too many", '{"v":1,"id":"a","kind":"runs","body":{},"more":1}'],
  ["another version than was agreed on", '{"v":2,"id":"a","kind":"runs","body":{"filter":{},"page":{}}}'],
  ["a part inside of nothing", '{"v":1,"id":"a","kind":"part","body":{"index":1,"last":true,"text":""}}'],
])("HOST-46 %s closes that connection with the reason, and no other", async (_what, line) => {
  const { client } = await opened();
  const [bad, good] = [await client().hello("client-bad"), await client().hello("client-good")];
  bad.connection.send(line);
  await bad.closed();
  expect(bad.heard.at(-1)).toMatchObject({ kind: "refused", body: { code: "protocolBroken" } });
  expect((await good.ask("a", "runs", { filter: {}, page: {} })).kind).toBe("reply");
});

test("HOST-46 a wrong request is answered with its path, does nothing, and its connection goes on", async () => {
  const { client, host, project } = await opened();
  const one = await client().hello();
  const wrong = await one.ask("a", "start", { ...start(project, "nosuch.workflow.ts"), admin: true });
  expect(wrong).toMatchObject({ kind: "failed", body: { error: { code: "invalidInput", path: "body.admin" } } });
  expect((await one.ask("b", "shout", {})).body["error"]).toMatchObject({ code: "invalidInput", path: "kind" });
  expect((await host.runs()).items).toEqual([]);
  expect((await one.ask("c", "status")).kind).toBe("reply");
});

test("HOST-47 one client more than there is room for is refused, and comes in when another has gone", async () => {
  const { client, server } = await opened();
  const all = Array.from({ length: maxClients }, () => client());
  const late = client();
  await late.closed();
  expect(late.heard[0]).toMatchObject({ kind: "refused", body: { code: "hostUnavailable", message: expect.stringContaining(`${maxClients} clients`) } });
  all[0]?.connection.close();
  await vi.waitUntil(() => server.clients < maxClients, patience);
  await client().hello("client-new");
});

test("HOST-47 one request more than may be open is refused, and an abandoned one makes room", async () => {
  const { client, project, host } = await opened();
  const { id } = await project.start(host, project.workflow(asking));
  await vi.waitUntil(async () => (await host.run(id)).state === "waiting", patience);
  const paused = await host.pause(id);
  expect(paused.pausedAt).not.toBeNull();
  // A wait for a run that goes on: a step that sleeps.
  const slow = (await project.start(host, project.workflow(`.node("a", shell({ command: "sleep", args: ["30"] }))`, { name: "slow" }))).id;
  const one = await client().hello();
  for (let n = 0; n < maxOpenRequests; n += 1) one.say(`w:${n}`, "wait", { id: slow });
  expect((await one.ask("more", "runs", { filter: {}, page: {} })).body["error"]).toMatchObject({ code: "refused" });
  one.say("x", "abandon", { request: "w:0" });
  await one.answer("w:0");
  expect((await one.ask("again", "runs", { filter: {}, page: {} })).kind).toBe("reply");
  await host.cancel(slow, "user");
  await one.answer("w:63");
});

test("HOST-48 a subscriber that reads too slowly is told that it lagged, and nothing is kept for it meanwhile", async () => {
  const { project, host, server } = await opened();
  const [near, far] = memoryPair();
  server.accept(far);
  const slow = await new RawClient(near).hello("client-slow");
  await slow.ask("s", "subscribe");
  const sent = vi.spyOn(far, "send");
  near.pause();
  const lines = project.workflow(`.node("a", shell({ command: "/bin/sh", args: ["-c", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"] }))`, {
    name: "lines",
  });
  const { id } = await project.start(host, lines);
  await vi.waitUntil(async () => (await host.run(id)).state === "completed", patience);
  expect(sent.mock.calls.length).toBeLessThan(200);
  expect(sent.mock.calls.length).toBeGreaterThan(10);
  near.resume();
  await vi.waitFor(() => expect(slow.heard.some(({ kind }) => kind === "lagged")).toBe(true), patience);
  // From here on it hears everything again.
  const before = slow.heard.length;
  const next = await project.start(host, project.workflow(`.node("a", compute(() => 1))`, { name: "quick" }));
  await vi.waitFor(
    () => expect(slow.heard.slice(before).map(({ body }) => body["event"])).toContainEqual(expect.objectContaining({ run: next.id, state: "completed" })),
    patience,
  );
});

test("HOST-48 a client that takes no answers is asked nothing more of, until it takes them", async () => {
  const { server } = await opened();
  const [near, far] = memoryPair();
  server.accept(far);
  const greedy = await new RawClient(near).hello("client-greedy");
  const sent = vi.spyOn(far, "send");
  near.pause();
  const asked = 1_000;
  for (let n = 0; n < asked; n += 1) greedy.say(`q:${n}`, "status");
  const other = await new RawClient(serverEnd(server)).hello("client-other");
  expect((await other.ask("a", "status")).kind).toBe("reply");
  await vi.waitUntil(() => sent.mock.calls.length > maxOpenRequests, patience);
  for (let tick = 0; tick < 500; tick += 1) await new Promise((done) => setImmediate(done));
  expect(sent.mock.calls.length).toBeLessThan(asked / 2);
  near.resume();
  await vi.waitUntil(() => greedy.heard.length === asked + 1, patience);
});

test("HOST-49 of two clients that answer one decision one wins, and the other is told so", async () => {
  const { project, host, client } = await opened();
  const { id } = await project.start(host, project.workflow(asking));
  const view = await host.drive(id);
  const code = view.decisions[0]?.code ?? "";
  const clients = [await client().hello("client-aa"), await client().hello("client-bb")];
  const answers = await Promise.all(
    clients.map((one, n) => one.ask("a", "answer", { decision: code, choice: n === 0 ? "go" : "stop", idempotencyKey: `key-${n}`, source: person })),
  );
  const values = answers.map(({ body }) => valueOf(body));
  expect(values.filter((value) => JSON.stringify(value).includes('"status":"accepted"'))).toHaveLength(1);
  expect(values).toContainEqual(expect.objectContaining({ status: "refused", code: "alreadyDecided" }));
  expect((await host.drive(id)).state).toBe("completed");
});

test("HOST-50 a request that comes again over a new connection gets the same answer and does nothing twice", async () => {
  const { project, host, client } = await opened();
  const workflow = project.workflow(asking);
  const request = start(project, workflow);
  const first = await client().hello("client-same");
  const begun = await first.ask("start:1", "start", request);
  first.connection.close();
  const second = await client().hello("client-same");
  expect((await second.ask("start:1", "start", request)).body).toEqual(begun.body);
  expect((await host.runs()).items).toHaveLength(1);
  const { code = "" } = (await host.drive(request.id)).decisions[0] ?? {};
  const answer = { decision: code, choice: "go", idempotencyKey: "answer-key", source: person };
  const said = await second.ask("answer:2", "answer", answer);
  const third = await client().hello("client-same");
  expect((await third.ask("answer:2", "answer", answer)).body).toEqual(said.body);
  await host.drive(request.id);
  expect(project.side.filter((line) => line === "after")).toHaveLength(1);
  const cancelled = await third.ask("cancel:3", "cancel", { id: request.id, by: "user" });
  const fourth = await client().hello("client-same");
  expect((await fourth.ask("cancel:3", "cancel", { id: request.id, by: "user" })).body).toEqual(cancelled.body);
});

test("HOST-50 the same id for another request is refused, and nothing is done", async () => {
  const { project, host, client } = await opened();
  const workflow = project.workflow(`.node("a", compute(() => 1))`);
  const first = await client().hello("client-same");
  await first.ask("start:1", "start", start(project, workflow));
  const second = await client().hello("client-same");
  expect((await second.ask("start:1", "start", start(project, workflow))).body["error"]).toMatchObject({ code: "keyReused", subject: "start:1" });
  expect((await host.runs()).items).toHaveLength(1);
});

test("HOST-50 a host that came after another one does not do again what that one did", async () => {
  const project = new Project();
  const workflow = project.workflow(asking);
  const request = start(project, workflow);
  const answer = { decision: "", choice: "go", idempotencyKey: "answer-key", source: person };
  {
    const host = await openDaemon(project);
    const one = await serverOn(host, project.home).client().hello("client-same");
    await one.ask("start:1", "start", request);
    answer.decision = (await host.drive(request.id)).decisions[0]?.id ?? "";
    expect(valueOf((await one.ask("answer:2", "answer", answer)).body)).toMatchObject({ status: "accepted" });
    await host.drive(request.id);
    await host.close();
  }
  const host = await openDaemon(project);
  const one = await serverOn(host, project.home).client().hello("client-same");
  expect(valueOf((await one.ask("start:1", "start", request)).body)).toEqual({ id: request.id, duplicate: false });
  expect(valueOf((await one.ask("answer:2", "answer", answer)).body)).toMatchObject({ status: "duplicate" });
  expect((await host.runs()).items).toHaveLength(1);
  expect(project.side.filter((line) => line === "after")).toHaveLength(1);
});

test("HOST-50 a person's retry that comes again after the retried attempt is in doubt, too, does not do it a third time", async () => {
  const project = new Project();
  const cut = `.node("a", action({ once: true, run: async ({ signal }) => { mark("begun"); await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut off")))); } }))`;
  const workflow = project.workflow(cut);
  const begunTimes = (times: number) => vi.waitUntil(() => project.side.length === times, patience);
  const first = await openDaemon(project);
  const { id } = await project.start(first, workflow);
  await begunTimes(1);
  await first.close();
  const second = await openDaemon(project);
  const effect = await vi.waitFor(
    async () => (await second.effects({ run: id, state: ["ambiguous"] })).items[0] ?? Promise.reject(new Error("not yet")),
    patience,
  );
  const request = { key: effect.key, attempt: effect.attempt };
  const one = await serverOn(second, project.home).client().hello("client-same");
  await one.ask("retryEffect:1", "retryEffect", request);
  await begunTimes(2);
  await second.close();
  const third = await openDaemon(project);
  await vi.waitFor(async () => expect((await third.effect(effect.key)).state).toBe("ambiguous"), patience);
  const again = await serverOn(third, project.home).client().hello("client-same");
  expect(valueOf((await again.ask("retryEffect:1", "retryEffect", request)).body)).toMatchObject({ state: "ambiguous", attempt: effect.attempt + 1 });
  expect(project.side).toHaveLength(2);
  // Who speaks of an attempt that is long past is told.
  const stale = await again.ask("confirmEffect:2", "confirmEffect", { ...request, output: null });
  expect(stale.body["error"]).toMatchObject({ code: "stale" });
  await third.cancel(id, "user");
});
