import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fakeClock } from "../../src/runtime/clock.ts";
import {
  action,
  choices,
  compute,
  humanDecision,
  NotApplied,
  RetryableError,
  shell,
  TerminalError,
  text,
  workflow,
  type ShellResult,
} from "../../src/workflow/authoring.ts";
import { buildDecision, withCode } from "../../src/workflow/decisionStep.ts";
import { acceptOutput, executeNode } from "../../src/workflow/execute.ts";
import type { AnyWorkflow } from "../../src/workflow/definition.ts";
import type { NodeDefinition } from "../../src/workflow/nodes/node.ts";
import type { AnyContext, ContextFacts } from "../../src/workflow/context.ts";
import { parseShell, shellSpec } from "../../src/workflow/shellStep.ts";
import { contextFor } from "./contexts.ts";
import { errorOf } from "./files.ts";

/** A workflow whose node `a` is this one; `b` and `c` are there to route to. */
function withNode(definition: NodeDefinition<never, unknown, string>, next?: unknown): AnyWorkflow {
  const node = { ...definition };
  const builder = workflow({ name: "w", input: z.object({}) }) as unknown as {
    node(id: string, definition: unknown, next?: unknown): typeof builder;
    build(): AnyWorkflow;
  }; // any node of these tests fits
  return builder
    .node("a", node, next ?? "b")
    .node(
      "b",
      compute(() => 1),
      "c",
    )
    .node(
      "c",
      compute(() => 1),
    )
    .build();
}
const run = (definition: AnyWorkflow, facts: Partial<ContextFacts> = {}, clock = fakeClock()) =>
  executeNode(definition, "a", contextFor(definition, "a", facts), clock);
const failure = (definition: AnyWorkflow, facts: Partial<ContextFacts> = {}) => errorOf(() => run(definition, facts));

describe("compute and action", () => {
  test("WF-10 the callback gets input, outputs, results, signal, visit, attempt, key and time", async () => {
    const seen: unknown[] = [];
    const definition = withNode(action({ run: (context: AnyContext) => void seen.push(context) }));
    const { signal } = new AbortController();
    await run(definition, {
      input: { task: "x" },
      results: { b: { status: "accepted", output: 3, visit: "v" } },
      signal,
      attempt: 2,
      idempotencyKey: "k",
      visit: "r/graph/a.4",
      now: 5,
    });
    expect(seen[0]).toMatchObject({
      input: { task: "x" },
      outputs: { b: 3 },
      results: { b: { status: "accepted", output: 3, visit: "v" } },
      signal,
      attempt: 2,
      idempotencyKey: "k",
      visit: "r/graph/a.4",
      now: 5,
    });
  });

  test("WF-11 the output is validated and typed by the schema; nothing given is null", async () => {
    expect(await run(withNode(compute(() => ({ n: "3", more: 1 }), { output: z.object({ n: z.coerce.number() }) })))).toEqual({
      case: "done",
      value: { n: 3 },
    });
    expect(await run(withNode(action({ run: () => {} })))).toEqual({ case: "done", value: null });
    expect(
      await failure(withNode(compute((): { list: number[] } => ({ list: [1, "two" as never] }), { output: z.object({ list: z.array(z.number()) }) }))),
    ).toMatchObject({
      code: "invalidOutput",
      message: 'Node "a" gave an output that does not fit its schema: list.1: Invalid input: expected number, received string.',
    });
  });

  test.each<[string, unknown, string]>([
    ["a Date", { a: { when: new Date(0) } }, "a.when"],
    ["NaN", { a: [1, Number.NaN] }, "a[1]"],
    ["a BigInt", 3n, ""],
    ["a Map", { m: new Map() }, "m"],
    ["a function", { f: () => 1 }, "f"],
    ["undefined in a list", { l: [undefined] }, "l[0]"],
  ])("WF-11 an output that JSON cannot carry is refused with its path: %s", async (_name, value, path) => {
    const error = await failure(withNode(compute(() => value as never))); // typed as what it is, the compiler would let some of these pass
    expect(error).toMatchObject({ code: "invalidOutput" });
    expect(error.message).toContain(`at "${path || "(root)"}"`);
  });

  test("WF-11 case 122: an output over 64 MiB fails with size and limit", async () => {
    const error = await failure(withNode(compute(() => "x".repeat(64 * 1024 * 1024))));
    expect(error).toMatchObject({
      code: "outputTooLarge",
      message: 'Node "a" gave an output of 67108866 bytes of JSON; the limit is 67108864. Write it to a file and return its path.',
    });
  });

  test("WF-12 route names the case; a case that is not there, or a throw, fails the visit as routing", async () => {
    const routed = (route: (n: number) => string) =>
      withNode(compute(() => 4, { route, cases: ["big", "small"] }) as NodeDefinition<never, unknown, string>, { big: "b", small: "c" });
    expect(await run(routed((n) => (n > 3 ? "big" : "small")))).toEqual({ case: "big", value: 4 });
    expect(await failure(routed(() => "huge"))).toMatchObject({
      code: "routing",
      message: 'Node "a" was routed to the case "huge"; its cases are: big, small.',
    });
    expect(await failure(routed(() => "failed"))).toMatchObject({ code: "routing" });
    expect(
      await failure(
        routed(() => {
          throw new Error("lost");
        }),
      ),
    ).toMatchObject({ code: "routing", message: 'Node "a" has a route that threw: lost' });
  });

  test("WF-13 what a compute node throws is nodeFailed; errors with a meaning pass as they are; an action's own errors too", async () => {
    expect(
      await failure(
        withNode(
          compute(() => {
            throw new Error("broken");
          }),
        ),
      ),
    ).toMatchObject({ reason: "nodeFailed", message: 'Node "a" threw: broken' });
    const meant = [
      new TerminalError("stop", "acme"),
      new RetryableError("busy", { retryAfterMs: 5 }),
      new NotApplied("never sent"),
      Object.assign(new Error("x"), { reason: "acme.code" }),
    ];
    for (const error of meant)
      for (const definition of [
        compute(() => {
          throw error;
        }),
        action({
          run: () => {
            throw error;
          },
        }),
      ])
        expect(await failure(withNode(definition))).toBe(error);
    const plain = new Error("plain");
    expect(await failure(withNode(action({ run: () => Promise.reject(plain) })))).toBe(plain);
  });

  test("WF-14 a deadline given by a callback ends the visit as nodeTimedOut, aborts its signal, and ignores late output", async () => {
    const clock = fakeClock();
    let aborted: unknown;
    let finish: (value: string) => void = () => undefined;
    const definition = withNode(
      action({
        timeoutMs: ({ attempt }: AnyContext) => attempt * 1000,
        run: ({ signal }: AnyContext) => {
          signal.addEventListener("abort", () => (aborted = signal.reason));
          return new Promise<string>((resolve) => (finish = resolve));
        },
      }),
    );
    const failed = errorOf(() => run(definition, { attempt: 3 }, clock));
    await settled();
    clock.advance(2999);
    await settled();
    expect(aborted).toBe(undefined);
    clock.advance(1);
    finish("late");
    expect(await failed).toMatchObject({ code: "nodeTimedOut", message: 'Node "a" took longer than 3000 ms.' });
    expect([aborted, clock.pending()]).toEqual(["timedOut", 0]);
    expect(await run(withNode(action({ timeoutMs: () => null, run: () => 1 })), {}, clock)).toEqual({ case: "done", value: 1 });
    expect(clock.pending()).toBe(0);
  });

  test.each<[string, () => unknown, string]>([
    ["0", () => 0, "gave 0; give milliseconds above 0, or null for no deadline."],
    ["NaN", () => Number.NaN, "gave NaN; give milliseconds above 0"],
    ["text", () => "3", "gave a string; give"],
    [
      "a throw",
      () => {
        throw new Error("no config");
      },
      "gave nothing: no config.",
    ],
  ])("WF-14 a timeoutMs callback that gives %s fails the visit before anything happened", async (_name, timeoutMs, message) => {
    const node = (once: boolean) =>
      withNode(
        action({
          run: () => {
            throw new Error("it must not run");
          },
          timeoutMs: timeoutMs as () => number,
          once,
        }),
      );
    expect(await failure(node(false))).toMatchObject({
      code: "nodeFailed",
      name: "TerminalError",
      message: expect.stringContaining(`Node "a" has a timeoutMs callback that ${message}`),
    });
    expect(await failure(node(true))).toMatchObject({ reason: "nodeFailed", name: "NotApplied" });
  });

  test("WF-14 a timeoutMs callback has 30 seconds", async () => {
    const clock = fakeClock();
    const failed = errorOf(() => run(withNode(action({ run: () => 1, timeoutMs: () => new Promise<number>(() => {}) })), {}, clock));
    await settled();
    clock.advance(30_000);
    expect(await failed).toMatchObject({ code: "nodeFailed", message: 'Node "a" has a timeoutMs callback that gave nothing: it took longer than 30000 ms.' });
  });

  test("WF-15 what a person confirms in place of a lost result is validated and routed the same way", async () => {
    const definition = withNode(
      action({
        run: () => ({ id: "x" }),
        output: z.object({ id: z.string() }),
        once: true,
        route: ({ id }) => (id === "x" ? "known" : "new"),
      }) as NodeDefinition<never, unknown, string>,
      { known: "b", new: "c" },
    );
    expect(await acceptOutput(definition, "a", { id: "y" })).toEqual({ case: "new", value: { id: "y" } });
    expect(await errorOf(() => acceptOutput(definition, "a", { id: 3 }))).toMatchObject({ code: "invalidOutput" });
  });
});

describe("outputs and results", () => {
  const definition = workflow({ name: "w", input: z.object({}) })
    .node(
      "first",
      compute(() => 1),
      "second",
    )
    .node(
      "second",
      compute(() => 2),
    )
    .build();
  const context = (results: ContextFacts["results"]) => contextFor(definition, "second", { results });

  test("WF-16 an output of a node that has not run, has failed, or does not exist throws an error that says so", () => {
    expect(() => context({}).outputs["first"]).toThrow(
      'Node "second" read outputs.first, but "first" has not run yet. Route through "first" first, or read results.first, which is undefined until then.',
    );
    expect(() => context({ first: { status: "timedOut", error: { reason: "nodeTimedOut", message: "m" }, visit: "v" } }).outputs["first"]).toThrow(
      'Node "second" read outputs.first, but the latest visit of "first" timed out (nodeTimedOut). Read results.first and look at its status.',
    );
    expect(() => context({}).outputs["frist"]).toThrow('Node "second" read outputs.frist, but no node is named "frist". Did you mean "first"?');
    expect(() => Reflect.get(context({}).results, "frist")).toThrow('read results.frist, but no node is named "frist"');
    expect(Reflect.get(context({}).results, "first")).toBe(undefined);
    expect(context({ first: { status: "accepted", output: { n: 1 }, visit: "v" } }).outputs["first"]).toEqual({ n: 1 });
  });

  test("WF-16 outputs can be awaited, printed, spread and turned to JSON like any object, and not be changed", async () => {
    const { outputs } = context({ first: { status: "accepted", output: 1, visit: "v" } });
    expect([await Promise.resolve(outputs), JSON.stringify(outputs), { ...outputs }, `${Object.keys(outputs).join()}`]).toEqual([
      outputs,
      '{"first":1}',
      { first: 1 },
      "first",
    ]);
    expect(() => Object.assign(outputs, { first: 2 })).toThrow(TypeError);
  });
});

describe("shell", () => {
  const result: ShellResult = { exitCode: 0, signal: null, stdout: '{"n":1}', stderr: "", truncated: { stdout: false, stderr: false } };
  const spec = (definition: AnyWorkflow) => shellSpec(definition, "a", contextFor(definition, "a", { input: { dir: "/x" } }), fakeClock());
  type WithDir = { readonly input: { readonly dir: string } };

  test("WF-17 every setting may be a value or a callback", async () => {
    expect(await spec(withNode(shell({ command: "git" })))).toEqual({
      command: "git",
      args: [],
      cwd: undefined,
      env: {},
      stdin: undefined,
      timeoutMs: null,
      allowNonZeroExit: false,
    });
    const called = shell({
      command: () => "git",
      args: async ({ input }: WithDir) => ["-C", input.dir],
      cwd: ({ input }: WithDir) => input.dir,
      env: () => ({ A: "1", B: undefined }),
      stdin: () => "text",
      timeoutMs: () => 7,
      allowNonZeroExit: true,
    });
    expect(await spec(withNode(called))).toEqual({
      command: "git",
      args: ["-C", "/x"],
      cwd: "/x",
      env: { A: "1", B: undefined },
      stdin: "text",
      timeoutMs: 7,
      allowNonZeroExit: true,
    });
    expect(await spec(withNode(shell({ command: "echo $1 | wc", args: ["a b"], shell: true })))).toMatchObject({
      command: "/bin/sh",
      args: ["-c", "echo $1 | wc", "sh", "a b"],
    });
  });

  test("WF-17 a setting that is wrong fails the visit before anything ran, and is named", async () => {
    const wrong: readonly [Parameters<typeof shell>[0], string][] = [
      [{ command: () => "" }, "has a setting command that is not text"],
      [{ command: () => undefined as never }, "has a command callback that gave nothing"],
      [{ command: "ls", args: () => ["a\0b"] }, "has a setting args that is not a list of texts"],
      [{ command: "ls", env: () => ({ "A=B": "1" }) }, "has a setting env that is not an object of texts"],
      [{ command: "ls", stdin: () => 3 as never }, "has a setting stdin that is not text"],
      [
        {
          command: "ls",
          cwd: () => {
            throw new Error("no dir");
          },
        },
        "has a cwd callback that threw: no dir",
      ],
    ];
    for (const [options, message] of wrong) {
      expect(await errorOf(() => spec(withNode(shell(options))))).toMatchObject({
        code: "nodeFailed",
        message: expect.stringContaining(`Node "a" ${message}`),
      });
      expect(await errorOf(() => spec(withNode(shell({ ...options, once: true }))))).toMatchObject({ name: "NotApplied", reason: "nodeFailed" });
    }
  });

  test("WF-17 the output is what parse makes of the result, else the result itself", async () => {
    const parsed = async (definition: AnyWorkflow) => parseShell(definition, "a", contextFor(definition, "a"), result);
    expect(await parsed(withNode(shell({ command: "x" })))).toEqual({ case: "done", value: result });
    expect(
      await parsed(
        withNode(
          shell({ command: "x", parse: ({ stdout }) => JSON.parse(stdout) as { n: number }, route: ({ n }) => (n === 1 ? "one" : "other") }) as NodeDefinition<
            never,
            unknown,
            string
          >,
          { one: "b", other: "c" },
        ),
      ),
    ).toEqual({ case: "one", value: { n: 1 } });
    expect(
      await errorOf(() =>
        parsed(
          withNode(
            shell({
              command: "x",
              parse: () => {
                throw new Error("no JSON");
              },
            }),
          ),
        ),
      ),
    ).toMatchObject({ reason: "nodeFailed", message: 'Node "a" threw: no JSON' });
  });
});

describe("human decision", () => {
  const offered = choices({ go: { label: "Go" }, replan: { label: "Plan again", input: text("What should change?", { max: 10 }) } });
  type Plan = { readonly input: { readonly plan: string } };
  const decision = (options: object = {}) =>
    withNode(
      humanDecision({
        audience: ({ input }: Plan) => `team-${input.plan}`,
        choices: offered,
        request: async ({ input }: Plan) => ({ title: "Approve", subject: { plan: input.plan }, presentation: { summary: input.plan, blocks: [] } }),
        ...options,
      }) as NodeDefinition<never, unknown, string>,
      { go: "b", replan: "c" },
    );
  const now = Date.UTC(2030, 0, 1);
  const prepare = async (definition: AnyWorkflow, openCodes: string[] = []) =>
    withCode(await buildDecision(definition, "a", contextFor(definition, "a", { input: { plan: "x" }, now }), "r_1"), async (code) => openCodes.includes(code));

  test("WF-18 the request is made of what the callbacks gave; the event carries no subject, the row does", async () => {
    const { output, value } = await prepare(
      decision({ onTimeout: ({ input }: Plan) => ({ afterMs: 1000, response: { choice: "replan", input: input.plan } }) }),
    );
    expect(output).toMatchObject({
      request: {
        title: "Approve",
        audience: "team-x",
        node: "a",
        run: "r_1",
        visit: "r_00000000000000000000000001/graph/a.1",
        decision: "r_00000000000000000000000001/graph/a.1/decision",
      },
      deadlineAt: now + 1000,
      defaultResponse: { choice: "replan", input: "x" },
    });
    expect(output.request).not.toHaveProperty("subject");
    expect(value.subject).toEqual({ plan: "x" });
    expect(value.choices.map(({ id }) => id)).toEqual(["go", "replan"]);
    const again = await prepare(decision(), [output.code]);
    expect([again.output.deadlineAt, again.output.defaultResponse]).toEqual([null, null]);
  });

  test("WF-18 a code that is taken by an open decision is not given again", async () => {
    const first = await prepare(decision());
    expect((await prepare(decision(), [first.output.code])).output.code).not.toBe(first.output.code);
  });

  test.each<[string, object, string]>([
    ["an invalid default", { onTimeout: { afterMs: 1, response: { choice: "later" } } }, "onTimeout.response.choice"],
    ["a default text over its limit", { onTimeout: { afterMs: 1, response: { choice: "replan", input: "x".repeat(11) } } }, "onTimeout.response.input"],
    ["afterMs 0", { onTimeout: { afterMs: 0, response: { choice: "go" } } }, "afterMs"],
    [
      "expiry beside a default",
      { onTimeout: { afterMs: 1, response: { choice: "go" } }, request: () => ({ title: "t", subject: 1, expiresAt: now + 1 }) },
      "expiresAt",
    ],
    ["a subject that is no JSON", { request: () => ({ title: "t", subject: { at: new Date(0) } }) }, "subject.at"],
    ["a title over 256", { request: () => ({ title: "x".repeat(257), subject: 1 }) }, "title"],
  ])("WF-18 %s makes no request and names the path", async (_name, options, path) => {
    const error = await errorOf(() => prepare(decision(options)));
    expect([error.code, `${error.message} ${String(error.path)}`]).toEqual(["invalidValue", expect.stringContaining(path)]);
  });

  test.each(["audience", "request", "onTimeout"])("WF-18 a %s callback that throws fails the visit as nodeFailed", async (name) => {
    expect(
      await errorOf(() =>
        prepare(
          decision({
            [name]: () => {
              throw new Error("lost");
            },
          }),
        ),
      ),
    ).toMatchObject({ code: "nodeFailed", message: `Node "a" has a ${name} callback that threw: lost` });
  });
});

/** Lets everything that is already resolved run. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};
