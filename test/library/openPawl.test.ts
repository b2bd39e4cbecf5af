import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setup, type InspectionEvent } from "xstate";
import { memoryStore, openStore } from "../../persistence/index.ts";
import { executor, isPawlError, openPawl, type PawlChange } from "../../src/index.ts";
import { fakeClock } from "../../src/testing.ts";
import { afterwards, childMachine, counterMachine, grandchildMachine, mailMachine, newHome, parentMachine, promiseMachine, sendMail, turns } from "./kit.ts";

/** What a call was refused with. */
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => (isPawlError(error) ? [error.code, error.message] : error),
  );

async function openCounter() {
  const pawl = await openPawl({ path: newHome(), machines: [counterMachine] });
  afterwards(() => pawl.close());
  return pawl;
}

describe("opening", () => {
  test("API-1 embedded use needs nothing else: started, sent to, closed, opened again, and all is there", async () => {
    const path = newHome();
    const first = await openPawl({ path, machines: [counterMachine] });
    const counter = await first.start(counterMachine, { input: { from: 1 } });
    expect(await first.send(counter, { type: "add", by: 2 }, { eventId: "e" })).toEqual({ status: "applied", actor: counter.id, revision: 2, reply: { n: 3 } });
    await first.close();
    const second = await openPawl({ path, machines: [counterMachine] });
    afterwards(() => second.close());
    const again = second.actor(counterMachine, counter.id);
    expect(await second.send(again, { type: "add", by: 2 }, { eventId: "e" })).toMatchObject({ status: "duplicate", revision: 2, reply: { n: 3 } });
    expect(await second.get(again)).toMatchObject({ value: "on", status: "active", context: { n: 3 }, revision: 2, machine: "counter", version: "1" });
  });

  test("API-2 a machine whose effect nothing executes is refused with machine, effect and mend, and the directory stays free", async () => {
    const path = newHome();
    const said = await refusal(openPawl({ path, machines: [mailMachine], executors: { "mail.sent": async () => ({ output: 1 }) } }));
    expect(said).toEqual([
      "invalidMachine",
      expect.stringMatching(/Machine "mail" names the effect "mail\.send".*executors: \{ "mail\.send".*beside "mail\.sent"/),
    ]);
    const pawl = await openPawl({ path, machines: [mailMachine], executors: executor(sendMail, async () => ({ sent: "x" })) });
    await pawl.close();
  });

  test("API-3, case 45 a second one is told who owns the directory, and the first is not touched", async () => {
    const path = newHome();
    const pawl = await openPawl({ path, machines: [counterMachine] });
    afterwards(() => pawl.close());
    expect(await refusal(openPawl({ path, machines: [counterMachine] }))).toEqual(["ownedElsewhere", expect.stringContaining(String(process.pid))]);
    const counter = await pawl.start(counterMachine, { input: { from: 0 } });
    expect((await pawl.send(counter, { type: "add", by: 1 })).status).toBe("applied");
  });

  test("API-4 child machines come with the machine that names them, at any depth", async () => {
    const pawl = await openPawl({ path: newHome(), machines: [parentMachine] });
    afterwards(() => pawl.close());
    const parent = await pawl.start(parentMachine);
    const grandchild = pawl.actor(grandchildMachine as never, `${parent.id}/kid/kid`);
    expect((await pawl.get(grandchild.id))?.machine).toBe("grandchild");
    await pawl.send(grandchild.id, { type: "end" });
    expect(await pawl.get(parent)).toMatchObject({ status: "done", value: "after" });
    expect((await pawl.get(`${parent.id}/kid`))?.status).toBe("done");
  });

  test("API-4 a child that is given itself can be a root too, and two versions stand side by side", async () => {
    const old = setup({ types: {} as { events: { type: "end" } } }).createMachine({ id: "child", version: "0", initial: "old", states: { old: {} } });
    const pawl = await openPawl({ path: newHome(), machines: [old, childMachine, parentMachine] });
    afterwards(() => pawl.close());
    expect((await pawl.get(await pawl.start(old)))?.value).toBe("old");
    expect((await pawl.get(await pawl.start(childMachine)))?.value).toBe("on");
  });

  test("API-4 a parent of an older version starts the child that it was written with", async () => {
    const family = (version: string) => {
      const child = setup({}).createMachine({ id: "child", version, initial: `of ${version}`, states: { [`of ${version}`]: {} } });
      return setup({ actors: { child } }).createMachine({ id: "parent", version, invoke: { id: "kid", src: "child" } });
    };
    const [old, young] = [family("1"), family("2")];
    const pawl = await openPawl({ path: newHome(), machines: [old, young] });
    afterwards(() => pawl.close());
    const kids = await Promise.all([old, young].map(async (machine) => pawl.get(`${(await pawl.start(machine)).id}/kid`)));
    expect(kids.map((kid) => [kid?.version, kid?.value])).toEqual([
      ["1", "of 1"],
      ["2", "of 2"],
    ]);
  });

  test("API-5 a store of one's own is used, and is not closed", async () => {
    const store = memoryStore();
    afterwards(() => store.close());
    const pawl = await openPawl({ store, machines: [counterMachine] });
    await pawl.start(counterMachine, { id: "c", input: { from: 1 } });
    await pawl.close();
    expect((await store.load(["c"])).length).toBe(1);
    expect(await refusal(pawl.get("c"))).toEqual(["closed", expect.any(String)]);
  });

  test("API-5 what the directory holds stays as it is when opening fails", async () => {
    const path = newHome();
    const opened = await openStore({ home: path, mode: "owner" });
    await opened.release();
    const bare = setup({}).createMachine({ id: "bare" });
    expect(await refusal(openPawl({ path, machines: [bare] }))).toEqual(["invalidMachine", expect.stringContaining("version")]);
    await (await openPawl({ path, machines: [counterMachine] })).close();
  });
});

describe("versions", () => {
  test("API-19 stored actors are taken to a newer machine by its migration, after a backup; without one the actor is refused by name and the rest goes on", async () => {
    const path = newHome();
    const old = setup({ types: {} as { events: { type: "go" } } }).createMachine({
      id: "versioned",
      version: "1",
      initial: "a",
      states: { a: { on: { go: "b" } }, b: {} },
    });
    const renamed = setup({ types: {} as { events: { type: "go" } } }).createMachine({
      id: "versioned",
      version: "2",
      initial: "first",
      states: { first: { on: { go: "second" } }, second: {} },
    });
    const first = await openPawl({ path, machines: [old, counterMachine] });
    await first.start(old, { id: "v" });
    await first.start(counterMachine, { id: "c", input: { from: 0 } });
    await first.close();
    const without = await openPawl({ path, machines: [renamed, counterMachine] });
    expect(await refusal(without.send("v", { type: "go" }))).toEqual(["restoreRefused", expect.stringMatching(/"v".*"versioned" version 1/)]);
    expect((await without.send("c", { type: "add", by: 1 })).status).toBe("applied");
    await without.close();
    const migrated = await openPawl({
      path,
      machines: [
        {
          machine: renamed,
          migrations: [{ from: "1", to: "2", migrate: (persisted) => ({ ...persisted, value: persisted.value === "a" ? "first" : "second" }) }],
        },
      ],
      onError: () => {},
    });
    afterwards(() => migrated.close());
    const ref = migrated.actor(renamed, "v");
    expect(await migrated.get(ref)).toMatchObject({ value: "first", version: "2" });
    await migrated.send(ref, { type: "go" });
    expect((await migrated.get(ref))?.value).toBe("second");
    expect(readdirSync(join(path, "backups"))).toEqual([expect.stringMatching(/^before-migration-.*\.db$/)]);
  });
});

describe("starting and sending", () => {
  test("API-6, case 42 the same start again gives the same actor; another one under its id is refused", async () => {
    const pawl = await openCounter();
    const first = await pawl.start(counterMachine, { id: "c", input: { from: 1 } });
    await pawl.send(first, { type: "add", by: 1 });
    expect(await pawl.start(counterMachine, { id: "c", input: { from: 1 } })).toEqual(first);
    expect((await pawl.get(first))?.context).toEqual({ n: 2 });
    expect(await refusal(pawl.start(counterMachine, { id: "c", input: { from: 2 } }))).toEqual(["keyReused", expect.stringContaining('"c"')]);
    const byEvent = await pawl.start(counterMachine, { eventId: "order-7", input: { from: 1 } });
    expect((await pawl.start(counterMachine, { eventId: "order-7", input: { from: 1 } })).id).toBe(byEvent.id);
    expect((await pawl.query({ machine: counterMachine })).items.length).toBe(2);
  });

  test("API-7 timers, results and ends cannot be forged from outside", async () => {
    const pawl = await openPawl({ path: newHome(), machines: [parentMachine] });
    afterwards(() => pawl.close());
    const parent = await pawl.start(parentMachine);
    for (const type of ["xstate.after.60000.parent.with", "xstate.done.actor.kid", "pawl.childFaulted"])
      expect(await refusal(pawl.send(parent.id, { type }))).toEqual(["invalidInput", expect.stringContaining(parent.id)]);
    expect((await pawl.get(parent))?.revision).toBe(1);
  });

  test("API-7 an event does not reach an actor of another machine than the ref says", async () => {
    const pawl = await openPawl({ path: newHome(), machines: [counterMachine, parentMachine] });
    afterwards(() => pawl.close());
    const parent = await pawl.start(parentMachine, { id: "p" });
    expect(await refusal(pawl.send(pawl.actor(counterMachine, "p"), { type: "stop" }))).toEqual([
      "invalidInput",
      expect.stringMatching(/"p".*"parent".*"counter"/),
    ]);
    expect(await refusal(pawl.get(pawl.actor(counterMachine, "p")))).toEqual(["invalidInput", expect.any(String)]);
    expect((await pawl.get(parent))?.status).toBe("active");
  });

  test("API-8 snapshots know their state as XState's do: matches, tags, output", async () => {
    const pawl = await openCounter();
    const counter = await pawl.start(counterMachine, { input: { from: 4 } });
    const open = await pawl.get(counter);
    expect([open?.matches("on"), open?.matches("off"), open?.hasTag("counting"), open?.output]).toEqual([true, false, true, undefined]);
    await pawl.send(counter, { type: "stop" });
    const done = await pawl.get(counter);
    expect([done?.status, done?.hasTag("counting"), done?.output]).toEqual(["done", false, { total: 4 }]);
    expect(await pawl.get("nobody")).toBeNull();
  });
});

describe("reading", () => {
  test("API-9 lists are filtered and come page by page, fifty unless a limit up to 500 is given", async () => {
    const clock = fakeClock();
    const pawl = await openPawl({ path: newHome(), machines: [counterMachine, parentMachine], clock });
    afterwards(() => pawl.close());
    for (let i = 0; i < 60; i += 1) {
      clock.advance(1);
      await pawl.start(counterMachine, { id: `c${String(i).padStart(2, "0")}`, input: { from: i } });
    }
    const parent = await pawl.start(parentMachine, { id: "p" });
    const first = await pawl.query({ machine: counterMachine });
    expect([first.items.length, first.items[0]?.id, first.items[0]?.context.n]).toEqual([50, "c00", 0]);
    const second = await pawl.query({ machine: counterMachine }, { limit: 500, ...(first.cursor === null ? {} : { cursor: first.cursor }) });
    expect([second.items.length, second.items[0]?.id, second.cursor]).toEqual([10, "c50", null]);
    expect((await pawl.query({ root: parent })).items.map(({ id }) => id)).toEqual(["p", "p/kid", "p/kid/kid"]);
    expect((await pawl.query({ parent })).items.map(({ id }) => id)).toEqual(["p/kid"]);
    expect((await pawl.query({ status: ["done"] })).items).toEqual([]);
    for (const limit of [0, 501, 1.5]) expect(await refusal(pawl.query({}, { limit }))).toEqual(["invalidInput", expect.stringContaining("limit")]);
    expect(await refusal(pawl.effects({}, { limit: 501 }))).toEqual(["invalidInput", expect.stringContaining("limit")]);
  });

  test("API-10 changes are told after their commit, in order, to whom they concern", async () => {
    const pawl = await openPawl({ path: newHome(), machines: [counterMachine, parentMachine] });
    afterwards(() => pawl.close());
    const counter = await pawl.start(counterMachine, { id: "c", input: { from: 0 } });
    const seen: PawlChange<typeof counterMachine>[] = [];
    const tree: string[] = [];
    const stop = pawl.subscribe({ actor: counter }, (change) => seen.push(change));
    pawl.subscribe({ root: "p" }, (change) => change.kind === "snapshot" && tree.push(`${change.snapshot.id} ${change.event.type}`));
    await pawl.send(counter, { type: "add", by: 2 });
    const parent = await pawl.start(parentMachine, { id: "p" });
    await pawl.send(parent, { type: "leave" });
    expect(
      seen.map((change) =>
        change.kind === "snapshot"
          ? [change.event.type, change.event["by"], change.snapshot.context.n]
          : [change.kind, change.kind === "emitted" && change.event.type],
      ),
    ).toEqual([
      ["emitted", "added"],
      ["add", 2, 2],
    ]);
    expect(tree).toEqual(["p/kid/kid xstate.init", "p/kid xstate.init", "p xstate.init", "p/kid/kid xstate.stop", "p/kid xstate.stop", "p leave"]);
    stop();
    await pawl.send(counter, { type: "add", by: 2 });
    expect(seen.length).toBe(2);
  });
});

describe("waiting", () => {
  test("API-11 waitFor gives the first fitting snapshot, the present one included", async () => {
    const pawl = await openCounter();
    const counter = await pawl.start(counterMachine, { input: { from: 0 } });
    expect((await pawl.waitFor(counter, ({ context }) => context.n === 0)).revision).toBe(1);
    const waiting = pawl.waitFor(counter, ({ context }) => context.n >= 3);
    for (let i = 0; i < 5; i += 1) await pawl.send(counter, { type: "add", by: 1 });
    expect((await waiting).context.n).toBe(3);
    expect((await pawl.waitFor(counter.id, ({ revision }) => revision > 5)).revision).toBe(6);
  });

  test("API-11, case 93 every waiting ends: by its time, its signal, the actor's end, or 30 s when nothing was said", async () => {
    const clock = fakeClock();
    const pawl = await openPawl({ path: newHome(), machines: [counterMachine], clock });
    afterwards(() => pawl.close());
    const counter = await pawl.start(counterMachine, { id: "c", input: { from: 0 } });
    const never = (): boolean => false;
    const bounded = refusal(pawl.waitFor(counter, never, { timeoutMs: 1000 }));
    const unbounded = refusal(pawl.waitFor(counter, never));
    const abort = new AbortController();
    const aborted = refusal(pawl.waitFor(counter, never, { signal: abort.signal }));
    await turns();
    clock.advance(1000);
    expect(await bounded).toEqual(["timedOut", expect.stringMatching(/"c".*state "on".*1000 ms/)]);
    abort.abort();
    expect(await aborted).toEqual(["aborted", expect.stringContaining('"c"')]);
    clock.advance(29_000);
    expect(await unbounded).toEqual(["timedOut", expect.stringContaining("30000 ms")]);
    const ending = refusal(pawl.waitFor(counter, never));
    await turns();
    await pawl.send(counter, { type: "stop" });
    expect(await ending).toEqual(["refused", expect.stringMatching(/"c" is done/)]);
    expect(await refusal(pawl.waitFor("nobody", never))).toEqual(["unknownActor", expect.any(String)]);
    expect(clock.pending()).toBe(0);
  });

  test("API-11, case 93 settled is bounded too, with an effect that heeds nothing", async () => {
    const pawl = await openPawl({ path: newHome(), machines: [promiseMachine(() => new Promise<never>(() => {}))] });
    afterwards(() => pawl.close());
    await pawl.start(
      promiseMachine(async () => 1),
      { id: "stuck" },
    );
    expect(await refusal(pawl.settled({ timeoutMs: 20 }))).toEqual(["timedOut", expect.stringContaining("20 ms")]);
  });
});

describe("inspection", () => {
  test("API-12 an XState inspection observer is fed after the commit: actors, parents first, then events and snapshots", async () => {
    const seen: InspectionEvent[] = [];
    const pawl = await openPawl({ path: newHome(), machines: [parentMachine], inspect: (event) => seen.push(event) });
    afterwards(() => pawl.close());
    await pawl.start(parentMachine, { id: "p" });
    await turns();
    const short = seen.map((event) => `${event.type} ${event.actorRef.sessionId}${event.type === "@xstate.event" ? ` ${event.event.type}` : ""}`);
    expect(short).toEqual([
      "@xstate.actor p",
      "@xstate.actor p/kid",
      "@xstate.actor p/kid/kid",
      "@xstate.event p/kid/kid xstate.init",
      "@xstate.snapshot p/kid/kid",
      "@xstate.event p/kid xstate.init",
      "@xstate.snapshot p/kid",
      "@xstate.event p xstate.init",
      "@xstate.snapshot p",
    ]);
    expect(seen.every((event) => event.rootId === "p")).toBe(true);
    expect(seen[1]?.actorRef).toMatchObject({ id: "kid", logic: childMachine, _parent: { sessionId: "p" } });
    expect(seen[1]?.actorRef.getSnapshot()).toMatchObject({ value: "on", status: "active" });
  });

  test("API-12 an observer that is too slow, or throws, slows and breaks nothing; what it missed is counted", async () => {
    const errors: unknown[] = [];
    let told = 0;
    const pawl = await openPawl({
      store: memoryStore(),
      machines: [counterMachine],
      onError: (error) => errors.push(error),
      inspect: {
        next: () => {
          told += 1;
          throw new Error("no");
        },
      },
    });
    afterwards(() => pawl.close());
    await Promise.all(Array.from({ length: 5000 }, (_, i) => pawl.start(counterMachine, { id: `c${i}`, input: { from: i } })));
    await turns(200);
    expect((await pawl.query({}, { limit: 500 })).items.length).toBe(500);
    expect(told).toBeGreaterThan(0);
    expect(errors.length).toBe(told);
    expect(told + pawl.inspectDropped).toBe(5000);
  });
});
