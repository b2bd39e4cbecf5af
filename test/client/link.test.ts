/** A client of a real embedded host over connections in memory, which are cut when the test says so. */
import { expect, test, vi } from "vitest";
import { HostClient } from "../../src/client/hostClient.ts";
import type { RunEvent } from "../../src/host/api.ts";
import type { Connection } from "../../src/host/protocol/connection.ts";
import { maxOpenRequests } from "../../src/host/protocol/limits.ts";
import { memoryPair } from "../../src/host/protocol/memory.ts";
import { fakeClock, systemClock } from "../../src/runtime/clock.ts";
import { openDaemon, patience, serverOn } from "../host/daemonKit.ts";
import { Project } from "../host/kit.ts";

/** A client whose connections can be cut; `sever` cuts the one it has. `mute` lets nothing of the host through any more. */
async function connected(project = new Project()) {
  const host = await openDaemon(project);
  const { dial, server } = serverOn(host, project.home);
  const dialled: Connection[] = [];
  let mute = false;
  const client = new HostClient({
    dial: async () => {
      const connection = dial();
      dialled.push(connection);
      return muted(connection, () => mute);
    },
    clock: systemClock,
    home: project.home,
    name: "test",
    version: "0",
  });
  return {
    project,
    host,
    server,
    client,
    dialled,
    sever: () => dialled.at(-1)?.close(),
    mute: (on: boolean) => {
      mute = on;
    },
  };
}

/** The same connection, of which nothing is heard while it is mute. */
function muted(connection: Connection, isMute: () => boolean): Connection {
  return {
    send: (line) => connection.send(line),
    get isCongested() {
      return connection.isCongested;
    },
    pause: () => connection.pause(),
    resume: () => connection.resume(),
    close: () => connection.close(),
    listen: (listener) => connection.listen({ ...listener, line: (line) => (isMute() ? undefined : listener.line(line)) }),
  };
}

const slow = `.node("a", shell({ command: "/bin/sh", args: ["-c", "echo begun; while [ ! -e go ]; do sleep 0.02; done"] }))`;

test("CLIENT-1 what was not answered is asked again over the next connection, and is done once", async () => {
  const { client, project, sever, mute, dialled, host } = await connected();
  const workflow = project.workflow(`.node("a", compute(() => mark("done")))`);
  await client.status();
  mute(true);
  const starting = project.start(client, workflow);
  await vi.waitUntil(async () => (await host.runs()).items.length === 1, patience);
  sever();
  mute(false);
  const { id, duplicate } = await starting;
  expect(duplicate).toBe(false);
  expect((await client.drive(id)).state).toBe("completed");
  expect(dialled).toHaveLength(2);
  expect((await host.runs()).items).toHaveLength(1);
  expect(project.side).toEqual(["done"]);
});

test("CLIENT-1 a wait and the events of a run outlive a lost connection, and each is told once", async () => {
  const { client, project, sever } = await connected();
  const events: RunEvent[] = [];
  client.subscribe((event) => events.push(event));
  const { id } = await project.start(client, project.workflow(slow));
  const waiting = client.drive(id);
  await vi.waitUntil(() => events.some(({ kind }) => kind === "line"), patience);
  sever();
  project.write("go", "");
  expect((await waiting).state).toBe("completed");
  await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ kind: "run", state: "completed" }), patience);
  const told = events.filter((event) => event.kind !== "line").map((event) => JSON.stringify({ ...event, at: 0 }));
  expect(new Set(told).size).toBe(told.length);
});

test("CLIENT-2 a host that is lost again and again is given up, with the way to its log", async () => {
  const client = new HostClient({
    dial: async () => {
      const [near, far] = memoryPair();
      far.listen({ line: () => far.close(), drain: () => {}, fault: () => {}, closed: () => {} });
      return near;
    },
    clock: systemClock,
    home: "/home/of/nobody",
    name: "test",
    version: "0",
  });
  await expect(client.runs()).rejects.toMatchObject({ code: "hostUnavailable", message: expect.stringContaining("pawl host logs") });
  await expect(client.runs()).rejects.toMatchObject({ code: "hostUnavailable" });
});

test("CLIENT-2 a host that takes a connection and says nothing is given up", async () => {
  const clock = fakeClock();
  const client = new HostClient({ dial: async () => memoryPair()[0], clock, home: "/home/of/nobody", name: "test", version: "0" });
  const asking = client.runs();
  await vi.waitUntil(() => clock.pending() > 0, patience);
  clock.advance(15_000);
  await expect(asking).rejects.toMatchObject({ code: "hostUnavailable", message: expect.stringContaining("has said nothing for 15 s") });
  expect(clock.pending()).toBe(0);
});

test("CLIENT-3 a host that was told to end is not started again, and what was waited for says so", async () => {
  const { client, project, server, dialled } = await connected();
  const { id } = await project.start(client, project.workflow(slow));
  const waiting = client.drive(id);
  await client.run(id);
  server.sayClosing("stopped");
  server.close();
  await expect(waiting).rejects.toMatchObject({ code: "hostUnavailable", message: expect.stringContaining("was stopped.") });
  expect(dialled).toHaveLength(1);
});

test("CLIENT-3 who only comes while a host ends finds the next one", async () => {
  const project = new Project();
  const { dial } = serverOn(await openDaemon(project), project.home);
  let dialled = 0;
  const client = new HostClient({
    dial: async () => {
      dialled += 1;
      if (dialled > 1) return dial();
      const [near, far] = memoryPair();
      far.listen({ line: () => far.close(), drain: () => {}, fault: () => {}, closed: () => {} });
      far.send(JSON.stringify({ v: 1, id: "host", kind: "closing", body: { reason: "idle" } }));
      return near;
    },
    clock: systemClock,
    home: project.home,
    name: "test",
    version: "0",
  });
  expect((await client.runs()).items).toEqual([]);
  expect(dialled).toBe(2);
});

test("CLIENT-4 a drive that is aborted only leaves: the run goes on, and its place among the open requests is free", async () => {
  const { client, project, host } = await connected();
  const { id } = await project.start(client, project.workflow(slow));
  const leave = new AbortController();
  const left = Array.from({ length: maxOpenRequests }, () => client.drive(id, { signal: leave.signal }));
  await vi.waitUntil(async () => (await host.run(id)).state === "running", patience);
  leave.abort();
  for (const view of await Promise.all(left)) expect(view.state).toBe("running");
  expect((await client.run(id)).state).toBe("running");
  project.write("go", "");
  // Nobody drives it any more.
  await vi.waitFor(async () => expect((await client.run(id)).state).toBe("completed"), patience);
});

test("CLIENT-5 more requests than a host has room for wait their turn", async () => {
  const { client, project } = await connected();
  const { id } = await project.start(client, project.workflow(slow));
  const waits = Array.from({ length: maxOpenRequests + 10 }, () => client.drive(id));
  project.write("go", "");
  for (const view of await Promise.all(waits)) expect(view.state).toBe("completed");
});

test("CLIENT-6 what was missed is told after all, once, from the run's view", async () => {
  const { client, project, mute, sever } = await connected();
  const events: RunEvent[] = [];
  client.subscribe((event) => events.push(event));
  const twoSteps = `${slow.slice(0, -1)}, "b")\n.node("b", compute(() => mark("b")))`;
  const { id } = await project.start(client, project.workflow(twoSteps));
  const waiting = client.drive(id);
  await vi.waitUntil(() => events.some(({ kind }) => kind === "line"), patience);
  mute(true);
  project.write("go", "");
  await vi.waitUntil(() => project.side.includes("b"), patience);
  sever();
  mute(false);
  expect((await waiting).state).toBe("completed");
  await vi.waitFor(() => {
    const visits = events.filter((event) => event.kind === "visit").map(({ node, status }) => `${node} ${status}`);
    expect(visits.filter((line) => line === "b accepted")).toHaveLength(1);
    expect(visits.filter((line) => line === "a running")).toHaveLength(1);
  }, patience);
});

test("CLIENT-10 an error of the host arrives as it was thrown, and one that is too large to ask is refused here", async () => {
  const { client, project } = await connected();
  await expect(client.run("nosuchrun")).rejects.toMatchObject({ code: "unknownRun", subject: "nosuchrun", kind: "usage" });
  await expect(project.start(client, "nosuch.workflow.ts")).rejects.toMatchObject({ name: "PawlError" });
  const workflow = project.workflow(`.node("a", compute(() => 1))`);
  await expect(project.start(client, workflow, { task: "x".repeat(81 * 1024 * 1024) })).rejects.toMatchObject({ code: "invalidInput" });
  // Larger than a line, but allowed.
  const { id } = await project.start(client, workflow, { task: "y".repeat(9 * 1024 * 1024) });
  expect((await client.drive(id)).input).toEqual({ task: "y".repeat(9 * 1024 * 1024) });
});

test("CLIENT-10 a client that was closed asks nothing more", async () => {
  const { client } = await connected();
  await client.status();
  await client.close();
  await client.close();
  await expect(client.runs()).rejects.toMatchObject({ code: "closed" });
});
