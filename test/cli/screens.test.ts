/** What is shown, at the widths that terminals have, with ordinary and with hostile text. */
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { frameLines } from "../../src/cli/progress/frame.ts";
import { advance, progressOf } from "../../src/cli/progress/progress.ts";
import { decisionScreen } from "../../src/cli/prompt/decisionScreen.ts";
import { auditLines } from "../../src/cli/render/audit.ts";
import { decisionLines, effectLines, runLines } from "../../src/cli/render/lists.ts";
import { outcomeLines } from "../../src/cli/render/outcome.ts";
import { runPage } from "../../src/cli/render/runPage.ts";
import { noPaint, paintFor } from "../../src/cli/render/style.ts";
import { cellWidth } from "../../src/text/cells.ts";
import { visibleLine } from "../../src/text/visible.ts";
import type { DecisionAudit, DecisionView, RunView } from "../../src/host/api.ts";
import { deliveryView } from "../../src/host/channels/deliveryView.ts";
import { decision, effect, hostile, hostileRun, now, run, runView, visit } from "./samples.ts";

process.env["TZ"] = "UTC";

const widths = [20, 40, 80, 200] as const;
const command = (...words: readonly string[]): string => ["pawl", ...words].join(" ");

function busy(view: RunView) {
  const started = advance(progressOf(view), {
    kind: "visit",
    run,
    visit: `${run}/graph/build.4`,
    node: "build",
    nodeKind: "shell",
    status: "running",
    attempt: 2,
    at: now - 12_400,
  });
  return ["npm test", "312 passed", `a very long line ${"of output ".repeat(30)}`, hostile].reduce(
    (progress, text) => advance(progress, { kind: "line", run, visit: `${run}/graph/build.4`, node: "build", text, at: now }),
    started,
  );
}

const undelivered = (one: DecisionView): DecisionView => ({
  ...one,
  delivery: deliveryView(one.audience, { channels: ["telegram:ops"], deliver: "any", local: false, isNamed: true }, [
    { channel: "telegram:ops", state: "failed", problem: { code: "blocked", message: one.title } },
  ]),
});

/** A model, a stranger, a person who mistyped and one who won. */
function auditOf({ id, code, title }: DecisionView): DecisionAudit {
  const nobody = { source: null, idempotencyKey: null, choice: null, input: null, requestDigest: null, revision: null, reason: null };
  const by = (kind: "human" | "model", channel: string) => ({ kind, channel, actor: title });
  return {
    decision: id,
    code,
    title,
    state: "accepted",
    unlisted: 3,
    candidates: [
      { ...nobody, kind: "channel", outcome: "humanOnly", at: now - 9_000, source: by("model", "pi"), choice: "go" },
      { ...nobody, kind: "channel", outcome: "unauthorised", at: now - 8_000, source: by("human", "telegram:ops") },
      { ...nobody, kind: "human", outcome: "invalid", at: now - 5_000, source: by("human", "terminal"), choice: "replan" },
      { ...nobody, kind: "human", outcome: "won", at: now - 1_000, source: by("human", "terminal"), choice: "replan", input: `${title} and a longer text` },
      { ...nobody, kind: "policy", outcome: "lost", at: now - 1_000, choice: "stop" },
      { ...nobody, kind: "control", outcome: "alreadyDecided", at: now, reason: "cancelled by a person" },
    ],
  };
}

/** Every screen, by name. */
const screens: Readonly<Record<string, (view: RunView, width: number) => readonly string[]>> = {
  progress: (view, width) => frameLines(busy(view), now, { width, height: 40 }, noPaint),
  decision: (view, width) => view.decisions.flatMap((one) => decisionScreen(one, now, width, noPaint)),
  outcome: (view, width) => outcomeLines(view, { now, width, paint: noPaint, command, stopped: false }),
  runs: (view, width) =>
    runLines(
      { items: [view, { ...view, state: "completed", endedAt: now, decisions: [], ambiguous: [] }], cursor: "c1" },
      { now, width, paint: noPaint, command, again: ["runs"] },
    ),
  decisions: (view, width) => decisionLines({ items: view.decisions, cursor: null }, { now, width, paint: noPaint, command, again: ["decisions"] }),
  effects: (view, width) => effectLines({ items: view.ambiguous, cursor: null }, { now, width, paint: noPaint, command, again: ["effect", "list"] }),
  show: (view, width) => runPage(view, { now, width, paint: noPaint, command }),
  undelivered: (view, width) =>
    decisionLines({ items: view.decisions.map(undelivered), cursor: null }, { now, width, paint: noPaint, command, again: ["decisions"] }),
  audit: (view, width) => view.decisions.flatMap((one) => auditLines(auditOf(one), { now, width, paint: noPaint })),
};

/** Commands are printed whole, since people copy them. */
const isCommand = (line: string): boolean => line.startsWith("  pawl ");

const ordinary = runView({ ambiguous: [effect()], since: now - 90_000, pausedAt: now - 60_000 });

for (const [name, screen] of Object.entries(screens)) {
  for (const width of widths) {
    test(`CLI-7 ${name} at ${width} columns`, async () => {
      await expect(`${screen(ordinary, width).join("\n")}\n`).toMatchFileSnapshot(`screens/${name}-${width}.txt`);
    });

    test(`case 164 ${name} at ${width} columns lets no text of a workflow steer the terminal`, () => {
      const lines = screen(hostileRun(), width);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) {
        expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u200B\u202A-\u202E\u2066-\u2069]/);
        if (!isCommand(line)) expect(cellWidth(line), JSON.stringify(line)).toBeLessThanOrEqual(width);
      }
    });
  }
}

test("CLI-7 case 165 whatever text of any script stands in them, no screen exceeds any width from 1 to 200, steers the terminal, or loses a word of what is decided on", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
    fc
      .array(fc.constantFrom("日本", "👨‍👩‍👧‍👦", "\u202E", "\u200B", "\t", "e\u0301", "🇩🇪", "ﷺ", "word ", "\r\n", "\uD800", "\u009b", "…"), {
        minLength: 1,
        maxLength: 30,
      })
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 200 }), (text, width) => {
      const view = hostileRun(text);
      for (const [name, screen] of Object.entries(screens))
        for (const line of screen(view, width)) {
          expect(line, name).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069\p{Cs}]/u);
          if (!isCommand(line)) expect(cellWidth(line), `${name}: ${JSON.stringify(line)}`).toBeLessThanOrEqual(width);
        }
      const bare = (words: string): string => words.replace(/\s+/g, "");
      // A width of one cell writes wide characters out: there it is another text.
      if (width >= 40) expect(bare((screens["decision"]?.(view, width) ?? []).join(""))).toContain(bare(visibleLine(text)));
    }),
    { numRuns: 150 },
  );
});

test("case 161 no screen exceeds a terminal of 5 or 10 columns", () => {
  for (const width of [5, 10]) {
    for (const [name, screen] of Object.entries(screens)) {
      for (const line of screen(ordinary, width)) if (!isCommand(line)) expect(cellWidth(line), `${name}: ${line}`).toBeLessThanOrEqual(width);
    }
  }
});

test("CLI-8 the decision screen shows every part of a long presentation, in order", () => {
  const paragraphs = Array.from({ length: 200 }, (_, index) => `paragraph-${index} ${"word ".repeat(20)}end-${index}`);
  const asked = decision();
  const shown = decisionScreen(
    {
      ...asked,
      request: { ...asked.request, presentation: { ...asked.request.presentation, blocks: paragraphs.map((text) => ({ kind: "paragraph", text })) } },
    },
    now,
    40,
    noPaint,
  ).join(" ");
  let from = 0;
  for (const index of paragraphs.keys()) {
    for (const mark of [`paragraph-${index} `, `end-${index}`]) {
      from = shown.indexOf(mark, from);
      expect(from, mark).toBeGreaterThan(-1);
    }
  }
  expect(shown).not.toContain("…");
});

test("CLI-9 progress that does not fit the height keeps the newest and counts the rest", () => {
  const many = progressOf(runView({ visits: Array.from({ length: 30 }, (_, index) => visit(`step${index}`)) }));
  const lines = frameLines(many, now, { width: 80, height: 10 }, noPaint);
  expect(lines).toHaveLength(10);
  expect(lines[1]).toBe("  … 22 earlier");
  expect(lines.at(-1)).toContain("step29");
});

test("CLI-10 colours add nothing to the words, and NO_COLOR and TERM=dumb switch them off", () => {
  const painted = frameLines(busy(ordinary), now, { width: 80, height: 40 }, paintFor(true, {}));
  expect(painted.join("\n")).toContain("\u001b[");
  expect(painted.map((line) => stripVTControlCharacters(line))).toEqual(frameLines(busy(ordinary), now, { width: 80, height: 40 }, noPaint));
  expect(paintFor(true, { NO_COLOR: "1" })("bad", "failed")).toBe("failed");
  expect(paintFor(true, { TERM: "dumb" })("bad", "failed")).toBe("failed");
  expect(paintFor(false, {})("bad", "failed")).toBe("failed");
});
