import { expect, test, vi } from "vitest";
import { progressType } from "../../machines/contracts/pace.ts";
import type { EmbeddedOptions } from "../../src/host/embedded.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { scriptedAgent } from "../../src/testing/scriptedAgent.ts";
import { Project, watch } from "./kit.ts";

const places: readonly [string, Partial<EmbeddedOptions>][] = [
  ["in process", {}],
  ["in a worker", { author: "workers" }],
];

const action = (body: string): string => `.node("work", action({ run: async ({ update, progress, input }) => { ${body} } }))`;

for (const [where, options] of places) {
  test(`UPD-3 what an action publishes ${where} is stored while it runs, shown by the run and told as it happens`, async () => {
    const project = new Project();
    const host = await project.open(options);
    const events = watch(host);
    const file = project.workflow(
      action(`
        const first = await update({ type: "ci.status", key: "build", data: { green: false } });
        const second = await update({ type: "ci.status", key: "build", data: { green: true } });
        await update({ type: "ci.status", data: null });
        return [first, second].map(({ type, key, revision }) => [type, key, revision]);`),
    );
    const view = await project.run(host, file);
    expect(view).toMatchObject({
      state: "completed",
      result: [
        ["ci.status", "build", 1],
        ["ci.status", "build", 2],
      ],
      updates: [
        { type: "ci.status", key: "build", revision: 2, data: { green: true }, node: "work", visit: `${view.id}/graph/work.1`, progress: null },
        { type: "ci.status", key: "main", revision: 1, data: null },
      ],
    });
    expect(events.flatMap((event) => (event.kind === "update" ? [[event.update.key, event.update.revision, event.update.data]] : []))).toEqual([
      ["build", 1, { green: false }],
      ["build", 2, { green: true }],
      ["main", 1, null],
    ]);
  });

  test(`UPD-4 nobody need wait for an update ${where}: what comes faster than it can be stored is merged, and the last of each key is stored`, async () => {
    const project = new Project();
    const host = await project.open(options);
    const events = watch(host);
    const file = project.workflow(
      action(
        `for (let n = 1; n <= 5000; n += 1) { void progress({ completed: n, total: 5000 }); if (n % 500 === 0) await new Promise((r) => setImmediate(r)); }`,
      ),
    );
    const view = await project.run(host, file);
    expect(view).toMatchObject({ state: "completed", updates: [{ type: progressType, key: "main", data: { completed: 5000, total: 5000 } }] });
    expect(events.filter(({ kind }) => kind === "update").length).toBeLessThan(1000);
  });

  test(`UPD-5 a wrong update ${where} is refused at once with the path of what is wrong, and changes nothing`, async () => {
    const project = new Project();
    const host = await project.open(options);
    const file = project.workflow(
      action(`
        const refused = [];
        for (const wrong of [
          { type: "Bad", data: 1 }, { type: "ok", key: "/x", data: 1 }, { type: "ok", data: "x".repeat(65 * 1024) }, { type: "ok" },
          { type: "${progressType}", data: { completed: -1 } }, { type: "${progressType}", data: { label: "a", eta: 4 } },
        ]) try { update(wrong); refused.push("taken"); } catch (error) { refused.push([error.code, error.path]); }
        return refused;`),
    );
    expect(await project.run(host, file)).toMatchObject({
      state: "completed",
      updates: [],
      result: [
        ["invalidInput", "update.type"],
        ["invalidInput", "update.key"],
        ["invalidInput", "update.data"],
        ["invalidInput", "update.data"],
        ["invalidInput", "update.data.completed"],
        ["invalidInput", "update.data"],
      ],
    });
  });

  test(`UPD-2 the 1,025th key of a run is refused ${where}, and the step goes on`, async () => {
    const project = new Project();
    const host = await project.open(options);
    const file = project.workflow(
      action(`
        await Promise.all(Array.from({ length: 1024 }, (_, n) => update({ type: "k", key: "k" + n, data: n })));
        const more = await update({ type: "k", key: "more", data: 1 }).then(() => "taken", (error) => [error.code, error.message]);
        const known = await update({ type: "k", key: "k7", data: "again" });
        return [more, known.revision];`),
    );
    const view = await project.run(host, file);
    expect(view).toMatchObject({ state: "completed", result: [["refused", expect.stringMatching(/1,024 updates.*"more"/)], 2] });
    expect(view.updates).toHaveLength(50);
    const keys = new Set<string>();
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await host.updates({ run: view.id }, cursor === undefined ? {} : { cursor });
      for (const { key } of page.items) keys.add(key);
      cursor = page.cursor;
    }
    expect(keys.size).toBe(1024);
  });
}

test("UPD-6 an agent's update is stored with its call, and the same call gets the first receipt again", async () => {
  const project = new Project();
  const clock = fakeClock();
  const receipts: unknown[] = [];
  const agent = scriptedAgent([{ submit: 1 }]);
  const publishing = {
    run: async (...[step, turn]: Parameters<typeof agent.run>) => {
      receipts.push(await turn.update({ callId: "c1", type: "note", data: "one" }));
      clock.advance(1_000);
      receipts.push(await turn.update({ callId: "c2", type: "note", data: "two" }));
      receipts.push(await turn.update({ callId: "c1", type: "note", data: "one" }));
      receipts.push(await turn.update({ callId: "c1", type: "note", data: "other" }).catch((error: unknown) => error));
      return agent.run(step, turn);
    },
  };
  const host = await project.open({ clock, agent: publishing });
  const view = await project.run(host, project.workflow(`.node("ask", agent({ prompt: "Ask" }))`, { head: `import { agent } from "pawl";` }));
  expect(view).toMatchObject({ state: "completed", updates: [{ type: "note", key: "main", revision: 2, data: "two", node: "ask" }] });
  const first = { type: "note", key: "main", revision: 1, at: expect.any(Number) };
  expect(receipts).toEqual([first, { ...first, revision: 2 }, receipts[0], expect.objectContaining({ code: "keyReused" })]);
});

test("UPD-7 an update of a step that is over is refused, and what is stored stays", async () => {
  const project = new Project();
  const host = await project.open();
  const late = project.workflow(
    `.node("work", action({ run: async ({ update }) => { await update({ type: "n", data: 1 }); globalThis.lateUpdate = () => update({ type: "n", data: 2 }); return 1; } }), "end").node("end", compute(() => "end"))`,
  );
  const view = await project.run(host, late);
  const publish: unknown = Reflect.get(globalThis, "lateUpdate");
  if (typeof publish !== "function") throw new Error("the step left nothing to call");
  await expect(publish()).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("is over") });
  expect((await host.run(view.id)).updates).toMatchObject([{ data: 1, revision: 1 }]);
});

test("UPD-8 rate and remaining time follow from what was told, go on over a restart, and are absent where facts do not allow them", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const file = project.workflow(
    `.node("work", action({ run: async ({ progress, signal }) => {
      const go = globalThis.paceOf;
      await progress({ label: "Copying", ...go() });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw new Error("stopped");
    } }))`,
  );
  let completed = 0;
  Object.assign(globalThis, { paceOf: () => ({ completed, total: 100, unit: "files" }) });
  const { id } = await project.start(host, file);
  const once = async (opened: typeof host): Promise<unknown> => {
    const before = (await opened.run(id)).updates[0]?.revision ?? 0;
    void opened.drive(id).catch(() => undefined);
    await vi.waitFor(async () => expect((await opened.run(id)).updates[0]?.revision).toBe(before + 1), { timeout: 10_000 });
    const { updates } = await opened.run(id);
    await opened.close();
    return updates[0]?.progress;
  };
  expect(await once(host)).toEqual({ label: "Copying", completed: 0, total: 100, unit: "files", perSecond: null, remainingMs: null });
  completed = 20;
  clock.advance(10_000);
  expect(await once(await project.open({ clock }))).toMatchObject({ completed: 20, perSecond: 2, remainingMs: 40_000 });
  completed = 60;
  clock.advance(10_000);
  expect(await once(await project.open({ clock }))).toMatchObject({ completed: 60, perSecond: 3, remainingMs: 13_333 });
});
