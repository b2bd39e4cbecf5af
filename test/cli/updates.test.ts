/** How what steps publish and tell is shown: live, in a log, and on a run's page. */
import { expect, test } from "vitest";
import type { ProgressView, RunEvent, UpdateView } from "../../src/host/api.ts";
import { frameLines } from "../../src/cli/progress/frame.ts";
import { jsonReporter } from "../../src/cli/progress/jsonReporter.ts";
import { liveReporter } from "../../src/cli/progress/liveReporter.ts";
import { calm, plainReporter } from "../../src/cli/progress/plainReporter.ts";
import { advance, progressOf } from "../../src/cli/progress/progress.ts";
import { progressLine, updateLine } from "../../src/cli/progress/update.ts";
import { nextCommands } from "../../src/cli/render/next.ts";
import { outcomeLines } from "../../src/cli/render/outcome.ts";
import { runPage } from "../../src/cli/render/runPage.ts";
import { noPaint } from "../../src/cli/render/style.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { cellWidth } from "../../src/text/cells.ts";
import { hostile, now, run, runView, visit } from "./samples.ts";

const command = (...words: readonly string[]): string => ["pawl", ...words].join(" ");
const copying: ProgressView = { label: "Copying", phase: "photos", completed: 30, total: 120, unit: "files", perSecond: 2.5, remainingMs: 36_000 };

const update = (given: Partial<UpdateView> = {}): UpdateView => ({
  type: "pawl.progress.v1",
  key: "main",
  visit: `${run}/graph/copy.4`,
  node: "copy",
  revision: 1,
  data: {},
  progress: copying,
  createdAt: now - 60_000,
  updatedAt: now - 2_000,
  ...given,
});

const running = runView({ state: "running", visits: [visit("copy", { id: `${run}/graph/copy.4`, status: "running", endedAt: null, case: null })] });

test("UPD-9 progress is a line with its bar, count, rate and the time that is left; where there is no room the end gives way first", () => {
  expect(progressLine(copying, 100)).toBe("Copying: photos  [#####...............]  30/120 files  2.5 files/s  36s left");
  expect(progressLine(copying, 60)).toBe("Copying: photos  [#####...............]  30/120 files");
  expect(progressLine(copying, 42)).toBe("Copying: photos  [##......]  30/120 files");
  expect(progressLine(copying, 35)).toBe("Copying: photos  30/120 files");
  for (let width = 1; width <= 100; width += 1) expect(cellWidth(progressLine(copying, width)), String(width)).toBeLessThanOrEqual(width);
});

test.each<[ProgressView, string]>([
  [{ completed: 3, perSecond: null, remainingMs: null }, "3"],
  [{ label: "Waiting", perSecond: null, remainingMs: null }, "Waiting"],
  [{ label: "Done", completed: 4, total: 4, status: "completed", perSecond: null, remainingMs: null }, "Done  [####################]  4/4  completed"],
  [{ label: "Slow", completed: 5, total: 10, perSecond: 0.01, remainingMs: 500_000 }, "Slow  [##########..........]  5/10  36/h  8m 20s left"],
  [{ label: "Over", completed: 12, total: 10, perSecond: 1.25, remainingMs: null }, "Over  [####################]  12/10  1.3/s"],
  [{ label: "Minutes", completed: 5, perSecond: 0.5, unit: "pages", remainingMs: null }, "Minutes  5 pages  30 pages/min"],
])("UPD-9 %j reads %s", (progress, line) => {
  expect(progressLine(progress, 120)).toBe(line);
});

test("UPD-9 another update is its name and the beginning of its data", () => {
  expect(updateLine(update({ type: "ci.status", key: "build", progress: null, data: { green: true } }), 60)).toBe('ci.status build  {"green":true}');
  expect(updateLine(update({ type: "ci.status", progress: null, data: "x".repeat(500) }), 20)).toHaveLength(20);
});

test("UPD-9 a live picture shows the latest updates below their running step, and none below a finished one", () => {
  const event: RunEvent = { kind: "update", run, update: update(), at: now };
  const picture = advance(progressOf(running), event);
  expect(frameLines(picture, now, { width: 100, height: 20 }, noPaint).at(-1)).toBe(
    "    Copying: photos  [#####...............]  30/120 files  2.5 files/s  36s left",
  );
  const later = advance(picture, { ...event, update: update({ revision: 2, progress: { ...copying, completed: 60 } }) });
  const lines = frameLines(later, now, { width: 100, height: 20 }, noPaint);
  expect(lines.filter((line) => line.includes("Copying"))).toHaveLength(1);
  const ended = advance(later, { kind: "visit", run, visit: `${run}/graph/copy.4`, node: "copy", nodeKind: "action", status: "accepted", attempt: 1, at: now });
  expect(frameLines(ended, now, { width: 100, height: 20 }, noPaint).join()).not.toContain("Copying");
});

test("UPD-9 a log tells of one key at most once a second, and of its end", () => {
  const isTold = calm();
  const at = (ms: number, completed: number, key = "main"): boolean =>
    isTold({ kind: "update", run, update: update({ key, progress: { ...copying, completed } }), at: now + ms });
  expect([at(0, 1), at(10, 2), at(20, 3, "other"), at(999, 4), at(1_000, 5), at(1_001, 6), at(1_002, 120)]).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
  const out: string[] = [];
  const reporter = plainReporter(
    (text) => out.push(text),
    () => undefined,
  );
  reporter.event({ kind: "update", run, update: update(), at: now });
  reporter.event({ kind: "notification", run, visit: `${run}/graph/say.2`, node: "say", as: "final", text: "All is done.", at: now });
  expect(out.map((line) => line.replace(/^\S+ /, ""))).toEqual([
    "copy Copying: photos  [#####...............]  30/120 files  2.5 files/s  36s left\n",
    "say reports: All is done.\n",
  ]);
});

test("UPD-9 as JSON every update is whole, with its data", () => {
  const out: string[] = [];
  jsonReporter(
    (text) => out.push(text),
    () => undefined,
  ).event({ kind: "update", run, update: update(), at: now });
  expect(out.map((line): unknown => JSON.parse(line))).toEqual([{ kind: "update", run, update: update(), at: now }]);
});

test("NOTE-5 a notification stands above the live picture for good", () => {
  let written = "";
  const screen = { write: (text: string) => (written += text), columns: 80, rows: 24 };
  const reporter = liveReporter(screen, fakeClock(now), noPaint);
  reporter.begin(running);
  reporter.event({ kind: "notification", run, visit: `${run}/graph/say.2`, node: "say", as: "progress", text: "Half is done.", at: now });
  reporter.end(running);
  expect(written.split("say: Half is done.")).toHaveLength(2);
});

test("case 164 UPD-9 what steps publish and tell cannot steer the terminal, at any width", () => {
  const nasty = [
    update({ node: hostile, progress: { ...copying, label: hostile, phase: hostile, unit: hostile } }),
    update({ type: hostile, key: hostile, node: hostile, progress: null, data: { [hostile]: hostile } }),
  ];
  const view = { ...running, updates: nasty };
  for (const width of [5, 10, 20, 40, 80, 200])
    for (const line of [...runPage(view, { now, width, paint: noPaint, command }), ...frameLines(progressOf(view), now, { width, height: 40 }, noPaint)]) {
      expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u200B\u202A-\u202E\u2066-\u2069]/);
      if (!line.startsWith("  pawl ")) expect(cellWidth(line), line).toBeLessThanOrEqual(width);
    }
});

test("AGENT-6 a run that waits for an agent is told with the reason, and no command is offered that would not help", () => {
  const waiting = runView({ state: "waiting", decisions: [], reason: { code: "noAgent", message: 'No agent is connected: node "copy" waits for one.' } });
  const lines = outcomeLines(waiting, { now, width: 80, paint: noPaint, command, stopped: false });
  expect(lines.join("\n")).toContain('noAgent: No agent is connected: node "copy" waits for one.');
  expect(lines.join("\n")).not.toContain("pawl resume");
  expect(nextCommands({ ...waiting, pausedAt: now }, command)).toEqual([{ command: `pawl resume ${run}`, when: "" }]);
});
