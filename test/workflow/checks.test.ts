import { describe, expect, test } from "vitest";
import { z } from "zod";
import { action, choices, compute, humanDecision, shell, text, workflow } from "../../src/workflow/authoring.ts";
import { reservedNames } from "../../src/workflow/reservedNames.ts";
import { errorOf } from "./files.ts";

/** An author without a compiler: every call is allowed. */
interface Loose {
  later(id: unknown, shape?: unknown): Loose;
  node(id: unknown, definition: unknown, next?: unknown): Loose;
  build(): {
    readonly graph: {
      readonly nodes: readonly { readonly id: string; readonly timeoutMs: unknown; readonly cases: readonly string[]; readonly routes: object }[];
      readonly maxSteps: number;
      readonly entry: string;
    };
  };
}
const loose = (options: object = { name: "w", input: z.object({}) }): Loose => (workflow as unknown as (given: object) => Loose)(options); // the point of these tests is what types would refuse
const call = <T>(factory: (options: never) => T, options: unknown): T => factory(options as never); // as above

const end = compute(() => 1);
const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" } });
const ask = humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "t", subject: 1 }) });

async function problem(build: Loose): Promise<string> {
  const error = await errorOf(() => build.build());
  expect(error.code).toBe("invalidWorkflow");
  return error.message.replace('Workflow "w" cannot be built: ', "");
}

describe("the mistakes that types find are found at build() too", () => {
  test.each<[string, () => Loose, string]>([
    [
      "missing case",
      () => loose().node("ask", ask, { go: "end" }).node("end", end),
      'node "ask" has no target for its case "stop"; add stop: "<node>" to its next.',
    ],
    [
      "extra case",
      () => loose().node("ask", ask, { go: "end", stop: "end", stopp: "end" }).node("end", end),
      'node "ask" has no case "stopp". Did you mean "stop"?',
    ],
    [
      "decision without routes",
      () => loose().node("ask", humanDecision({ audience: "o", choices: { go: { label: "Go" } }, request: () => ({ title: "t", subject: 1 }) })),
      'node "ask" has no target for its case "go"; add go: "<node>" to its next.',
    ],
    [
      "one target for a decision",
      () => loose().node("ask", ask, "end").node("end", end),
      'node "ask" has cases of its own (go, stop); give each a target: { case: "node" } in place of "end".',
    ],
    [
      "extra case of a plain node",
      () => loose().node("a", end, { done: "b", other: "b" }).node("b", end),
      'node "a" has no case "other". There are: "done", "failed", "timedOut".',
    ],
    [
      "unknown target",
      () => loose().node("fetch", end, "bulid").node("build", end, "fetch"),
      'node "fetch" goes to "bulid" (its target), but no node is named so. Did you mean "build"?',
    ],
    [
      "unknown target of failed",
      () => loose().node("a", end, { failed: "nowhere" }),
      'node "a" goes to "nowhere" (the target of "failed"), but no node is named so. There are: "a".',
    ],
    ["duplicate id", () => loose().node("a", end).node("a", end), 'two nodes are named "a"; give one of them another id.'],
    [
      "promise that never comes",
      () => loose().later("aprove", approval).node("approve", end),
      'later("aprove") promised a node that never comes; add it or take the promise away. Did you mean "approve"?',
    ],
    ["promise twice", () => loose().later("a").later("a").node("a", end), 'later("a") stands there twice; leave one.'],
    [
      "no target for a routed case",
      () =>
        loose()
          .node(
            "a",
            compute(() => 3, { route: (): "big" | "small" => "big", cases: ["big", "small"] }),
            { big: "b" },
          )
          .node("b", end),
      'node "a" has no target for its case "small"; add small: "<node>" to its next.',
    ],
    [
      "a route without targets",
      () =>
        loose().node(
          "a",
          compute(() => 3, { route: () => "big" }),
        ),
      'node "a" has a route but no targets; give each case that it may name a target.',
    ],
    [
      "input that is no schema",
      () => loose({ name: "w", input: { task: "text" } }).node("a", end),
      "its input must be a zod schema, such as z.object({ task: z.string() }).",
    ],
  ])("WF-2 %s", async (_name, build, message) => {
    expect(await problem(build())).toBe(message);
  });
});

describe("limits", () => {
  const named = (name: unknown) => loose({ name, input: z.object({}) }).node("a", end);

  test("WF-3 case 6: ids with _ and - are read back as they are; others are refused by name", async () => {
    for (const id of ["a", "_", "a-b_c-9", "x".repeat(64)]) expect(loose().node(id, end).build().graph.entry).toBe(id);
    for (const id of ["", "a.b", "9a", "-a", "x".repeat(65), "é", "a b", "__proto__", 7, undefined])
      expect(await problem(loose().node(id, end))).toMatch(/^node 1 has the id .*; an id is a letter or _/);
    const offered = (id: string) =>
      loose()
        .node("ask", call(humanDecision, { audience: "o", choices: { [id]: { label: "L" } }, request: () => ({}) }), { [id]: "end" })
        .node("end", end);
    for (const id of ["go", "_", "go-on_9", "x".repeat(64)]) expect(offered(id).build().graph.nodes[0]?.cases).toEqual([id]);
    for (const id of ["a.b", "x".repeat(65), "failed", "timedOut", "done"]) expect(await problem(offered(id))).toContain('node "ask" ');
  });

  test("WF-3 a workflow's name is text of at most 256 characters, and no command", async () => {
    expect(named("a release check, v2").build().graph.entry).toBe("a");
    expect(named("x".repeat(256)).build().graph.entry).toBe("a");
    for (const name of [undefined, "", "  ", "x".repeat(257), "a\nb", 3])
      expect((await errorOf(() => named(name).build())).message).toContain("its name must be text of 1 to 256 characters");
    for (const name of reservedNames) expect((await errorOf(() => named(name).build())).message).toContain(`the name "${name}" is that of a command`);
  });

  test("WF-3 maxSteps is a whole number of at least 1, and 100 unless set", async () => {
    const steps = (maxSteps: unknown) => loose({ name: "w", input: z.object({}), maxSteps }).node("a", end);
    expect(steps(undefined).build().graph.maxSteps).toBe(100);
    expect(steps(1).build().graph.maxSteps).toBe(1);
    for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3"])
      expect(await problem(steps(wrong))).toContain("maxSteps must be a whole number of at least 1");
  });

  test("WF-4 case 105: a deadline is milliseconds above 0, null, or a callback; anything else is refused at load", async () => {
    const timed = (timeoutMs: unknown) =>
      loose().node(
        "a",
        call((options) => action(options), { run: () => 1, timeoutMs }),
      );
    expect(timed(undefined).build().graph.nodes[0]?.timeoutMs).toBe(15 * 60_000);
    expect(timed(null).build().graph.nodes[0]?.timeoutMs).toBe(null);
    expect(timed(0.5).build().graph.nodes[0]?.timeoutMs).toBe(0.5);
    expect(timed(2 ** 40).build().graph.nodes[0]?.timeoutMs).toBe(2 ** 40);
    expect(timed(() => 3).build().graph.nodes[0]?.timeoutMs).toBe("callback");
    for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "3", {}]) expect(await problem(timed(wrong))).toContain('node "a" has timeoutMs');
    expect(loose().node("ask", ask, { go: "end", stop: "end" }).node("end", end).build().graph.nodes[0]?.timeoutMs).toBe(null);
  });

  test("WF-4 statusDetail, once and retry are checked", async () => {
    const made = (options: object) =>
      loose().node(
        "a",
        call((given) => action(given), { run: () => 1, ...options }),
      );
    expect(
      made({ statusDetail: "x".repeat(120), once: true, retry: { maxAttempts: 100, initialMs: 0, factor: 1, maxMs: 0 } }).build().graph.nodes[0],
    ).toMatchObject({ once: true, retry: { maxAttempts: 100 } });
    for (const wrong of [
      { statusDetail: "x".repeat(121) },
      { statusDetail: 3 },
      { once: "yes" },
      { retry: { maxAttempts: 0, initialMs: 1 } },
      { retry: { maxAttempts: 101, initialMs: 1 } },
      { retry: { maxAttempts: 2, initialMs: -1 } },
      { retry: { maxAttempts: 2, initialMs: 1, factor: 0.5 } },
      { retry: { maxAttempts: 2, initialMs: 1, maxMs: Number.NaN } },
    ]) {
      expect(await problem(made(wrong))).toMatch(/^node "a" has /);
    }
  });

  test("WF-5 choices: at most 20, labels of 1 to 64 units, text limits", async () => {
    const offered = (offer: { [id: string]: unknown }) =>
      loose()
        .node(
          "ask",
          call(humanDecision, { audience: "o", choices: offer, request: () => ({}) }),
          Object.fromEntries(Object.keys(offer).map((id) => [id, "end"])),
        )
        .node("end", end);
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, { label: "L" }]));
    expect(offered(many(20)).build().graph.nodes[0]?.cases).toHaveLength(20);
    expect(await problem(offered(many(21)))).toContain("21");
    for (const choice of [
      { label: "" },
      { label: "x".repeat(65) },
      {},
      "Go",
      { label: "L", input: z.string() },
      { label: "L", input: text("", {}) },
      { label: "L", input: text("Why?", { min: 5, max: 4 }) },
      { label: "L", input: text("Why?", { max: 16_001 }) },
    ]) {
      expect(await problem(offered({ go: choice }))).toMatch(/^node "ask" has /);
    }
    expect(offered({ go: { label: "L", input: text("Why?", { min: 2, max: 2 }) } }).build().graph.nodes[0]?.cases).toEqual(["go"]);
    expect(await problem(loose().node("ask", call(humanDecision, { audience: "o", request: () => ({}) })))).toMatch(/^\n? *-? *node "ask" has no choices/);
  });

  test("WF-5 callbacks and settings of the wrong kind are named", async () => {
    for (const [definition, message] of [
      [call(compute, "run"), 'node "a" has no function to run.'],
      [call((options) => action(options), { run: () => 1, output: "schema" }), 'node "a" has an output that is no zod schema.'],
      [call(shell, { command: "" }), 'node "a" has no command'],
      [call(shell, { command: "ls", args: "-l" }), 'node "a" has args that are no list of texts'],
      [call(shell, { command: "ls", env: { A: 3 } }), 'node "a" has an env whose values are not all text.'],
      [call(shell, { command: "ls", cwd: 3 }), 'node "a" has a cwd that is neither text nor a callback.'],
      [call(shell, { command: "ls", parse: "json" }), 'node "a" has a parse that is no function.'],
      [{ kind: "compute" }, 'node "a" is no node'],
      [undefined, 'node "a" is no node'],
    ] as const) {
      expect(await problem(loose().node("a", definition))).toContain(message);
    }
    expect(
      await problem(
        loose()
          .node("a", call(humanDecision, { choices: approval, request: () => ({}) }), { go: "end", stop: "end" })
          .node("end", end),
      ),
    ).toContain('node "a" has no audience');
  });
});

describe("reachability", () => {
  test("WF-6 a node that no route leads to is refused by name", async () => {
    expect(await problem(loose().node("a", end, "b").node("b", end).node("lost", end, "b"))).toBe(
      'no route leads to node "lost"; name it as the next of another node, or take it away. The first node, "a", is the entry.',
    );
  });

  test("WF-6 a cycle is allowed, failed and timedOut routes count, and all problems are told at once", async () => {
    expect(
      loose().node("a", end, { done: "b", failed: "c" }).node("b", end, { done: "a", timedOut: "d" }).node("c", end).node("d", end).build().graph.nodes,
    ).toHaveLength(4);
    expect(await problem(loose().node("a", end, "x").node("b", end, "y"))).toBe(
      'Workflow "w" cannot be built:\n  - node "a" goes to "x" (its target), but no node is named so. There are: "a", "b".\n  - node "b" goes to "y" (its target), but no node is named so. There are: "a", "b".',
    );
    expect((await errorOf(() => loose({ name: "w", input: z.object({}) }).build())).message).toContain("it has no node");
  });
});
