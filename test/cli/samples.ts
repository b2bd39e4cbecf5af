/** Views as the host gives them, ordinary and hostile, for tests of what is shown. */
import type { DecisionView, EffectView, RunView, VisitView } from "../../src/host/api.ts";

export const now = Date.UTC(2030, 0, 1, 12, 0, 0);

/** Everything that must not reach a terminal as it is: clears, titles, links, C1, bidi, zero width, carriage returns. */
export const hostile = "\u001b[2J\u001b]0;owned\u0007\u001b]8;;http://x\u001b\\link\u009b31m\u202Eevil\u200B\r\nnext\ttab";

export const run = "r_01JZ8Q4D2M6T3W9X5Y7A8B9C0D";

export function visit(node: string, given: Partial<VisitView> = {}): VisitView {
  return {
    id: `${run}/graph/${node}.1`,
    node,
    kind: "shell",
    status: "accepted",
    attempt: 1,
    case: "done",
    output: null,
    error: null,
    startedAt: now - 60_000,
    endedAt: now - 48_000,
    ...given,
  };
}

export function decision(given: Partial<DecisionView> = {}): DecisionView {
  const id = `${run}/graph/approve.2/decision`;
  const asked = { decision: id, run, node: "approve", visit: `${run}/graph/approve.2` };
  return {
    id,
    run,
    node: "approve",
    visit: asked.visit,
    state: "open",
    code: "7K3M9Q2",
    title: "Approve the plan",
    audience: "operator",
    deadlineAt: now + 598_000,
    defaultChoice: "stop",
    choice: null,
    createdAt: now - 2_000,
    settledAt: null,
    request: {
      schema: "pawl.human-decision-channel-request.v1",
      ...asked,
      title: "Approve the plan",
      presentation: {
        schema: "pawl.decision-presentation.v1",
        summary: "Release 1.4.0 of the library to everybody who asked for it.",
        blocks: [
          { kind: "section", title: "Findings" },
          {
            kind: "fields",
            fields: [
              { label: "Branch", value: "main" },
              { label: "Tests", value: "312 passed" },
            ],
          },
          { kind: "bullets", items: ["Add a dark mode", "Fix the clock 🕰️ for 日本語 users"] },
          { kind: "preformatted", text: "abc1234  Fix the clock\ndef5678  Add a dark mode" },
        ],
      },
      revision: 1,
      audience: "operator",
      choices: [
        { id: "go", label: "Release it", input: null },
        { id: "stop", label: "Stop here", input: null },
        { id: "replan", label: "Change the plan", input: { kind: "text", label: "What should change?", min: 1, max: 4000 } },
      ],
      createdAt: now - 2_000,
      expiresAt: null,
      default: { response: { choice: "stop" }, at: now + 598_000 },
      digests: { subject: "0".repeat(64), presentation: "0".repeat(64), request: "0".repeat(64) },
    },
    delivery: { local: true, deliver: "any", channels: [], isDelivered: true, problem: null },
    settlement: null,
    ...given,
  };
}

export function effect(given: Partial<EffectView> = {}): EffectView {
  return {
    key: `${run}/graph@7:1`,
    visit: `${run}/graph/publish.3`,
    type: "pawl.action",
    run,
    state: "ambiguous",
    attempt: 1,
    once: true,
    error: null,
    ambiguousSince: now - 90_000,
    createdAt: now - 95_000,
    ...given,
  };
}

export function runView(given: Partial<RunView> = {}): RunView {
  return {
    id: run,
    workflow: "release-check",
    state: "waiting",
    createdAt: now - 62_000,
    updatedAt: now - 2_000,
    endedAt: null,
    input: { task: "Add a dark mode" },
    result: undefined,
    since: null,
    pausedAt: null,
    reason: null,
    updates: [],
    current: "approve",
    awaits: null,
    visits: [
      visit("status", { output: { clean: true, branch: "main" } }),
      visit("tests", { attempt: 2, startedAt: now - 48_000, endedAt: now - 3_000, output: { passed: 312 } }),
      visit("approve", { id: `${run}/graph/approve.2`, kind: "humanDecision", status: "waiting", case: null, startedAt: now - 2_000, endedAt: null }),
    ],
    decisions: [decision()],
    ambiguous: [],
    ...given,
  };
}

/** The same run with hostile text wherever text of a workflow can stand. */
export function hostileRun(text = hostile): RunView {
  const view = runView();
  const asked = decision();
  return {
    ...view,
    workflow: text,
    state: "ambiguous",
    input: { [text]: text },
    current: text,
    reason: { code: "nodeFailed", message: text },
    visits: [
      ...view.visits,
      visit(text, { status: "failed", error: { reason: text, message: text }, output: null }),
      visit("spoken", { output: text, case: text }),
      visit(`long${"x".repeat(80)}`, { status: "running", endedAt: null, case: null }),
    ],
    decisions: [
      {
        ...asked,
        title: text,
        audience: text,
        node: text,
        defaultChoice: text,
        request: {
          ...asked.request,
          choices: [{ id: "go", label: text, input: { kind: "text", label: text, min: 1, max: 9 } }],
          presentation: { ...asked.request.presentation, summary: text },
        },
      },
    ],
    ambiguous: [effect({ error: { reason: "effectFailed", message: text } })],
  };
}
