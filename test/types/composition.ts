/** Waits, checkpoints, included workflows and batches for the compiler: what must compile without a cast, and one line for each mistake. Never run. */
import { z } from "zod";
import { batch, checkpoint, compute, include, wait, workflow, type BatchResult, type Workflow } from "../../src/workflow/authoring.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proven = <_Proof extends true>(): void => {};

const end = compute(() => 1);
const one = workflow({ name: "one", input: z.object({}) })
  .node(
    "only",
    compute(() => "only" as const),
  )
  .build();
const child = workflow({ name: "child", input: z.object({ n: z.number(), more: z.string().default("m") }) })
  .node(
    "pick",
    compute(({ input }) => input.n, { route: (n) => (n > 1 ? "big" : "small") }),
    { big: "large", small: "little" },
  )
  .node(
    "large",
    compute(() => ({ size: 2 as const })),
  )
  .node(
    "little",
    compute(() => ({ size: 1 as const, why: "small" })),
  )
  .build();

export const outer = workflow({ name: "outer", input: z.object({ n: z.number(), at: z.string() }) })
  .later("look", z.object({ ok: z.boolean() }))
  .node("rest", wait({ forMs: ({ input }) => input.n * 1000, timeoutMs: ({ input }) => input.n }), { done: "until", timedOut: "until" })
  .node("until", wait({ until: ({ input, outputs }) => (outputs.rest.dueAt > 1 ? new Date(input.at) : 5) }), "sub")
  .node(
    "sub",
    include(child, {
      input: ({ input, results, outputs }) => {
        proven<Same<typeof outputs.until, { readonly dueAt: number }>>();
        return { n: results.look?.status === "accepted" && results.look.output.ok ? 1 : input.n };
      },
    }),
    { large: "look", little: "look", failed: "end" },
  )
  .node(
    "look",
    checkpoint({
      prompt: ({ outputs }) => {
        proven<Same<typeof outputs.sub, { size: 2 } | { size: 1; why: string }>>();
        return "why" in outputs.sub ? outputs.sub.why : `size ${outputs.sub.size}`;
      },
      output: z.object({ ok: z.coerce.boolean() }),
      route: ({ ok }) => (ok ? "good" : "bad"),
    }),
    { good: "many", bad: "sub" },
  )
  .node(
    "many",
    batch({
      commands: ({ outputs }) => [{ command: "echo", args: [String(outputs.look.ok)], env: { A: undefined } }],
      route: (results) => (results.every(({ status }) => status === "ok") ? "fine" : "broken"),
    }),
    { fine: "again", broken: "end" },
  )
  .node("again", include(one, { input: {} }), { only: "last" })
  .node(
    "last",
    compute(({ outputs }) => {
      proven<Same<typeof outputs.many, readonly BatchResult[]>>();
      proven<Same<typeof outputs.again, "only">>();
      proven<Same<typeof outputs.look, { ok: boolean }>>();
      return outputs.many.map(({ exitCode }) => exitCode);
    }),
  )
  .node("end", end)
  .build();

type ExitsOf<W> = W extends Workflow<never, infer Exits> ? Exits : never;
proven<Same<ExitsOf<typeof outer>["exit"], "last" | "end">>();

const start = workflow({ name: "wrong", input: z.object({ n: z.number() }) });

start
  // @ts-expect-error INC-13 a missing case of an include
  .node("sub", include(child, { input: { n: 1 } }), { large: "end" });
start
  // @ts-expect-error INC-13 a case that the included workflow does not end with
  .node("sub", include(child, { input: { n: 1 } }), { large: "end", little: "end", pick: "end" });
start
  // @ts-expect-error INC-13 an include without routes
  .node("sub", include(child, { input: { n: 1 } }));
start
  // @ts-expect-error INC-13 an include with one target
  .node("sub", include(one, { input: {} }), "end");
// @ts-expect-error INC-13 a wrong input
start.node("sub", include(child, { input: { n: "1" } }), { large: "end", little: "end" });
// @ts-expect-error INC-13 a callback that gives a wrong input
start.node("sub", include(child, { input: ({ input }) => ({ n: String(input.n) }) }), { large: "end", little: "end" });
// @ts-expect-error INC-13 no input
start.node("sub", include(child, {}), { large: "end", little: "end" });
// @ts-expect-error INC-13 what is no workflow
start.node("sub", include({ name: "x" }, { input: {} }), { end: "end" });
start.node("sub", include(child, { input: { n: 1 } }), { large: "end", little: "end" }).node(
  "end",
  // @ts-expect-error INC-13 an output that only one end node gives
  compute(({ outputs }) => outputs.sub.why),
);
// @ts-expect-error INC-13 a wait without a time
start.node("rest", wait({}), "end");
// @ts-expect-error INC-13 a wait with two times
start.node("rest", wait({ forMs: 1, until: 2 }), "end");
// @ts-expect-error INC-13 a wait for a text
start.node("rest", wait({ forMs: "1" }), "end");
// @ts-expect-error INC-13 a checkpoint without a schema
start.node("look", checkpoint({ prompt: "?" }));
start.node("look", checkpoint({ output: z.object({ ok: z.boolean() }) }), "end").node(
  "end",
  // @ts-expect-error INC-13 an answer's field that the schema does not have
  compute(({ outputs }) => outputs.look.fine),
);
start
  // @ts-expect-error INC-13 a checkpoint that routes, without targets
  .node("look", checkpoint({ output: z.boolean(), route: (ok) => (ok ? "good" : "bad") }));
// @ts-expect-error INC-13 a command without a program
start.node("many", batch({ commands: [{ args: ["x"] }] }));
// @ts-expect-error INC-13 a setting that commands do not have
start.node("many", batch({ commands: [{ command: "x", timeout: 1 }] }));
start.node("many", batch({ commands: [] }), "end").node(
  "end",
  // @ts-expect-error INC-13 a result that is none
  compute(({ outputs }) => outputs.many.stdout),
);
