/** What released versions have stored opens, restores and goes on. make.ts makes the set of a version, once. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { examine } from "../../src/host/maintenance/doctor.ts";
import { effectStep } from "../../src/runtime/effectRow.ts";
import { planMigration } from "../../src/runtime/migrate.ts";
import { createDefinitions } from "../../src/runtime/restore.ts";
import { createStepper } from "../../src/runtime/step.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { chartsNow, chartsThen, goldenActors, goldenDatabases, goldenDirectory, goldenEffects, goldenRegistry } from "./golden.ts";
import { openCode, person, Project } from "../host/kit.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

test("RESTORE-30 a chart of Pawl's own, and what a graph compiles to, is the one that its version had", async () => {
  const now = await chartsNow();
  const then = chartsThen();
  // A chart that changed needs a new version (a compiler, a new revision) and, for stored actors, a migration or the old one beside it.
  for (const [chart, digest] of Object.entries(now)) expect({ [chart]: then[chart] ?? "not in test/golden/charts.json" }).toEqual({ [chart]: digest });
  expect(Object.keys(now).length).toBeGreaterThanOrEqual(5);
});

describe("stored snapshots", () => {
  const definitions = createDefinitions(goldenRegistry());
  const actors = goldenActors();

  test("RESTORE-31 there are some of every machine and state", () => {
    const names = actors.map(({ name }) => name.replace(/[0-9a-f]{64}/, "DIGEST"));
    expect(names).toEqual(
      expect.arrayContaining([
        ...["queued", "starting", "running.active", "running.waiting", "running.ambiguous", "completed", "failed", "cancelled"].map(
          (state) => `pawl.run/1/${state}.json`,
        ),
        ...["open.timed", "open.untimed", "accepted", "defaulted", "stopped-open.untimed"].map((state) => `decision/1/${state}.json`),
        ...[
          "preparing",
          "working.turn.delivering+submission.open",
          "working.turn.delivering+submission.checking",
          "working.turn.backingOff+submission.open",
          "ended",
        ].map((state) => `agent/1/${state}.json`),
        ...["preparing", "working.turn.delivering+submission.open", "ended"].flatMap((state) => [`choose/1/${state}.json`, `assistantMessage/1/${state}.json`]),
        ...["preparing", "asking", "ended"].map((state) => `humanDecision/1/${state}.json`),
        ...["waiting", "ended"].flatMap((state) => [`wait/1/${state}.json`, `checkpoint/1/${state}.json`]),
        ...["preparing", "running", "ended"].map((state) => `include/1/${state}.json`),
        ...["preparing", "working", "collecting", "ended"].map((state) => `batch/1/${state}.json`),
        ...["rest", "look", "sub", "many", "ask", "yes"].map((state) => `pawl.graph/DIGEST/${state}.json`),
        ...["plan", "approve", "build", "report", "completed", "failed"].map((state) => `pawl.graph/DIGEST/${state}.json`),
      ]),
    );
  });

  test.each(actors.filter(({ content }) => content.record.status === "active"))(
    "RESTORE-31 $name restores, and takes every event as it did",
    async ({ content: { record, events } }) => {
      const definition = await definitions.definitionOf(record);
      if (definition.version !== record.machineVersion) {
        // Newer machines need not do the same: what is stored must come to them whole.
        expect(planMigration(definition, record, [])).toMatchObject({ snapshot: expect.any(String) });
        return;
      }
      const stepper = createStepper(definition.machine);
      expect(events.length).toBeGreaterThan(0);
      for (const { event, after } of events) {
        const result = stepper.step(definitions.hydrate(definition, record), event);
        const text = stepper.persist(result.next);
        const now = result.changed ? { value: JSON.parse(text.value), status: result.status, context: sha256(text.context) } : null;
        expect({ [event.type]: now }).toEqual({ [event.type]: after });
      }
      expect(JSON.parse(stepper.persist(definitions.hydrate(definition, record)).snapshot)).toEqual(JSON.parse(record.snapshot));
    },
  );

  test.each(goldenEffects())("RESTORE-31 $name moves by every event as it did", ({ content: { record, events } }) => {
    for (const { event, state } of events) expect({ [event.type]: effectStep(record, event)?.state ?? null }).toEqual({ [event.type]: state });
  });
});

describe("stored databases", () => {
  test.each(goldenDatabases())("RESTORE-32 case 114 %s opens, is sound, replays, and its runs go on", async (name) => {
    const project = new Project();
    mkdirSync(project.home, { mode: 0o700 });
    writeFileSync(path.join(project.home, "pawl.db"), gunzipSync(readFileSync(path.join(goldenDirectory, "databases", name))), { mode: 0o600 });
    const clock = fakeClock(Date.UTC(2026, 0, 1, 0, 5));
    const report = await examine({ home: project.home, clock });
    expect(report.checks.flatMap(({ findings }) => findings).filter(({ severity }) => severity === "fault")).toEqual([]);
    expect(await examine({ home: project.home, replay: "", clock })).toMatchObject({ verdict: "ok", checks: [{ findings: [] }] });

    const host = await project.open({ clock });
    const run = async (task: string) => {
      for (const { id } of (await host.runs()).items) {
        const view = await host.run(id);
        if (typeof view.input === "object" && view.input !== null && "task" in view.input && view.input.task === task) return view;
      }
      throw new Error(`the golden database has no run "${task}"`);
    };
    expect(await run("completed")).toMatchObject({
      state: "completed",
      visits: expect.arrayContaining([expect.objectContaining({ node: "report", status: "accepted" })]),
    });
    expect((await run("completed")).visits.map(({ node, case: taken }) => [node, taken])).toEqual([
      ["plan", "done"],
      ["approve", "replan"],
      ["plan", "done"],
      ["approve", "go"],
      ["build", "done"],
      ["report", "done"],
    ]);
    expect(await run("failed")).toMatchObject({ state: "failed", reason: { message: expect.stringContaining("there is no plan") } });
    expect(await run("cancelled")).toMatchObject({ state: "cancelled", decisions: [{ state: "cancelled" }] });
    expect(await run("defaulted")).toMatchObject({ state: "completed", result: { status: "stopped" }, decisions: [{ state: "defaulted" }] });

    const waiting = await run("waiting");
    expect((await host.answer({ decision: openCode(waiting), choice: "stop", source: person })).status).toBe("accepted");
    expect(await host.drive(waiting.id)).toMatchObject({ state: "completed", result: { status: "stopped" } });

    const unsure = await run("ambiguous");
    expect(unsure.state).toBe("ambiguous");
    await host.confirmEffect(unsure.ambiguous[0]?.key ?? "", { built: true });
    expect((await host.run(unsure.id)).state).toBe("running");

    const timed = await run("timed");
    clock.advance(3_600_000);
    await expect.poll(async () => (await host.run(timed.id)).state).toBe("running");
    expect(await host.drive(timed.id)).toMatchObject({ state: "completed", decisions: [{ state: "defaulted" }] });

    const moving = await run("moving");
    expect(moving.state).toBe("running");
    expect(await host.drive(moving.id)).toMatchObject({ state: "completed", result: { status: "stopped" } });

    expect(await run("included")).toMatchObject({ state: "completed", result: { sub: { asked: "yes" }, codes: [0, 3] } });
    const asking = await run("asking");
    expect(asking).toMatchObject({ state: "waiting", current: "sub/ask" });
    expect((await host.answer({ decision: openCode(asking), choice: "stop", source: person })).status).toBe("accepted");
    expect(await host.drive(asking.id)).toMatchObject({ state: "completed", result: { sub: { asked: "no" } } });
    const looking = await run("looking");
    expect(looking).toMatchObject({ awaits: { kind: "checkpoint", title: "Look at it" } });
    expect(await host.answerCheckpoint({ run: looking.id, output: { ok: false }, source: person })).toMatchObject({ status: "accepted" });
    expect(await host.drive(looking.id)).toMatchObject({ state: "waiting", current: "sub/ask" });
    // Its time has passed long since.
    const resting = await run("resting");
    await expect.poll(async () => (await host.run(resting.id)).state).toBe("running");
    expect(await host.drive(resting.id)).toMatchObject({ state: "waiting", current: "look" });

    const queued = await run("queued");
    expect(await host.drive(queued.id)).toMatchObject({ state: "waiting", current: "approve" });
    await host.close();
    expect((await examine({ home: project.home, clock })).checks.flatMap(({ findings }) => findings).filter(({ severity }) => severity === "fault")).toEqual(
      [],
    );
  });
});
