/** The live display, read back from what a terminal would show. */
import { expect, test } from "vitest";
import { livePainter } from "../../src/cli/progress/livePainter.ts";
import { liveReporter } from "../../src/cli/progress/liveReporter.ts";
import { plainLine } from "../../src/cli/progress/plainReporter.ts";
import { noPaint } from "../../src/cli/render/style.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import type { RunEvent } from "../../src/host/api.ts";
import { emulator } from "./emulator.ts";
import { hostile, now, run, runView, visit } from "./samples.ts";

function screen(columns = 80, rows = 24) {
  const terminal = emulator(columns, rows);
  const writes: string[] = [];
  return {
    terminal,
    writes,
    target: {
      columns,
      rows,
      write(text: string) {
        writes.push(text);
        terminal.write(text);
      },
    },
  };
}

const shown = (lines: readonly string[]): readonly string[] => lines.filter((line) => line !== "");

test("CLI-9 a frame takes the place of the one before, shorter or longer, in one write", () => {
  const { terminal, writes, target } = screen();
  const painter = livePainter(target);
  target.write("$ pawl run\n");
  painter.draw(["one", "two", "three"]);
  painter.draw(["ONE, longer"]);
  expect(shown(terminal.lines())).toEqual(["$ pawl run", "ONE, longer"]);
  painter.draw(["1", "2"]);
  painter.above(["said meanwhile"]);
  expect(shown(terminal.lines())).toEqual(["$ pawl run", "said meanwhile", "1", "2"]);
  painter.release();
  painter.draw(["next block"]);
  expect(shown(terminal.lines())).toEqual(["$ pawl run", "said meanwhile", "1", "2", "next block"]);
  expect(writes).toHaveLength(6);
});

test("CLI-9 the cursor is never hidden and the screen never cleared", () => {
  const { writes, target } = screen();
  const painter = livePainter(target);
  painter.draw(["one", "two"]);
  painter.draw(["one"]);
  expect(writes.join("")).not.toMatch(/\u001b\[\?25l|\u001b\[2J|\u001b\[H/);
});

test("CLI-9 a terminal made narrower is redrawn over the lines it has wrapped", () => {
  const { writes, target } = screen(80);
  const painter = livePainter(target);
  painter.draw(["x".repeat(70), "short"]);
  target.columns = 30;
  painter.draw(["x"]);
  expect(writes.at(-1)?.startsWith("\u001b[4A\r")).toBe(true);
});

const visitEvent = (node: string, n: number, status: "running" | "accepted", at: number): RunEvent => ({
  kind: "visit",
  run,
  visit: `${run}/graph/${node}.${n}`,
  node,
  nodeKind: "shell",
  status,
  attempt: 1,
  at,
});

test("CLI-9 time passes on the screen, and a burst of events becomes one frame", () => {
  const clock = fakeClock(now);
  const { terminal, writes, target } = screen();
  const reporter = liveReporter(target, clock, noPaint);
  reporter.begin(runView({ state: "running", visits: [], createdAt: now }));
  reporter.event(visitEvent("build", 1, "running", now));
  for (let index = 0; index < 500; index += 1)
    reporter.event({ kind: "line", run, visit: `${run}/graph/build.1`, node: "build", text: `line ${index}`, at: now });
  clock.advance(60);
  expect(writes).toHaveLength(2);
  expect(shown(terminal.lines())).toEqual([
    `release-check  ${run}  running  0.1s`,
    "  ▸ build  running    0.1s",
    "    | line 497",
    "    | line 498",
    "    | line 499",
  ]);
  clock.advance(12_000);
  expect(terminal.lines()[1]).toBe("  ▸ build  running    12s");
  reporter.end(runView({ state: "running" }));
  expect(clock.pending()).toBe(0);
});

test("CLI-9 events that never stop do not keep the picture from changing", () => {
  const clock = fakeClock(now);
  const { writes, target } = screen();
  const reporter = liveReporter(target, clock, noPaint);
  reporter.begin(runView({ state: "running", visits: [], createdAt: now }));
  for (let index = 0; index < 200; index += 1) {
    reporter.event(visitEvent("build", 1, "running", now));
    clock.advance(10);
  }
  expect(writes.length).toBeGreaterThan(20);
});

test("CLI-9 a second block tells only what the first did not", () => {
  const clock = fakeClock(now);
  const { terminal, target } = screen();
  const reporter = liveReporter(target, clock, noPaint);
  const first = runView();
  reporter.begin(first);
  reporter.end(first);
  reporter.begin({ ...first, state: "running" });
  reporter.event(visitEvent("build", 4, "running", now));
  reporter.end({
    ...first,
    state: "completed",
    visits: [...first.visits.slice(0, 2), visit("approve", { id: `${run}/graph/approve.2`, case: "go" }), visit("build", { id: `${run}/graph/build.4` })],
  });
  const text = terminal.lines().join("\n");
  expect(text.match(/✓ status/g)).toHaveLength(1);
  expect(text).toContain("-> go");
  expect(text).toContain("✓ build");
});

test("CLI-17 what comes while a question is asked is told afterwards", () => {
  const { terminal, target } = screen();
  const reporter = liveReporter(target, fakeClock(now), noPaint);
  reporter.begin(runView());
  reporter.end(runView());
  const before = terminal.lines();
  reporter.note("printed by a step");
  reporter.event(visitEvent("build", 4, "running", now));
  expect(terminal.lines()).toEqual(before);
  reporter.begin(runView());
  expect(terminal.lines().join("\n")).toContain("printed by a step");
});

test("CLI-25 piped progress is one line a state change, with time and node", () => {
  const at = Date.UTC(2030, 0, 1, 12, 4, 31, 999);
  expect(plainLine({ kind: "run", run, state: "timedOut", at })).toBe(`2030-01-01T12:04:31Z run ${run} timed out`);
  expect(plainLine({ kind: "visit", run, visit: "v", node: "build", nodeKind: "shell", status: "running", attempt: 2, at })).toBe(
    "2030-01-01T12:04:31Z build running (attempt 2)",
  );
  expect(plainLine({ kind: "decision", run, decision: "d", state: "defaulted", at })).toBe("2030-01-01T12:04:31Z decision d defaulted");
  expect(plainLine({ kind: "line", run, visit: "v", node: "build", text: "x", at })).toBeNull();
  expect(plainLine({ kind: "visit", run, visit: "v", node: hostile, nodeKind: "shell", status: "running", attempt: 1, at })).not.toMatch(/\u001b|\n/);
});
