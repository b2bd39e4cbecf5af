/** What must compile: the whole authoring API without a cast, loops included. Checked by tsc; never run. */
import { z } from "zod";
import { action, choices, compute, humanDecision, planPresentation, shell, text, workflow, type Workflow } from "../../src/workflow/authoring.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proven = <_Proof extends true>(): void => {};

const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Plan again", input: text("What should change?", { max: 4000 }) } });
const Plan = z.object({ steps: z.array(z.string()) });

export const ship = workflow({ name: "ship", input: z.object({ task: z.string(), rounds: z.number().default(3) }), maxSteps: 50 })
  .later("approve", approval)
  .later("verify", z.object({ passed: z.boolean() }))
  .node(
    "propose",
    compute(
      ({ input, results }) => {
        proven<Same<typeof input, { task: string; rounds: number }>>();
        const last = results.approve;
        if (last?.status === "accepted" && last.output.choice === "replan") return { steps: [last.output.input.trim()] };
        return { steps: [input.task, results.verify?.status === "accepted" && results.verify.output.passed ? "again" : "first"] };
      },
      { output: Plan, timeoutMs: ({ input }) => input.rounds * 1000 },
    ),
    { done: "approve", failed: "stopped", timedOut: "stopped" },
  )
  .node(
    "approve",
    humanDecision({
      audience: ({ input }) => (input.rounds > 3 ? "lead" : "operator"),
      choices: approval,
      request: ({ outputs }) => ({ title: "Approve the plan", subject: outputs.propose, presentation: planPresentation(outputs.propose.steps) }),
      onTimeout: ({ input }) => (input.rounds > 1 ? { afterMs: 600_000, response: { choice: "stop" } } : undefined),
    }),
    { go: "status", stop: "stopped", replan: "propose", timedOut: "stopped" },
  )
  .node(
    "status",
    shell({
      command: "git",
      args: ["status", "--porcelain"],
      cwd: ({ input }) => input.task,
      parse: ({ stdout }) => ({ clean: stdout === "" }),
      route: (output) => (output.clean ? "clean" : "dirty"),
    }),
    { clean: "log", dirty: "stopped" },
  )
  .node("log", shell({ command: "git", args: ({ outputs }) => ["log", ...outputs.propose.steps], allowNonZeroExit: true }), "verify")
  .node(
    "verify",
    compute(({ outputs }) => ({ passed: outputs.log.exitCode === 0 && outputs.log.stdout.length > 0 && outputs.status.clean })),
    "weigh",
  )
  .node(
    "weigh",
    compute(({ outputs }) => outputs.verify.passed, { route: (passed) => (passed ? "good" : "bad") }),
    { good: "build", bad: "propose" },
  )
  .node(
    "build",
    action({
      run: async ({ outputs, idempotencyKey, signal, attempt, visit, now }) => {
        proven<Same<typeof attempt, number>>();
        const answer = outputs.approve;
        return { id: `${idempotencyKey}${visit}${now}`, aborted: signal.aborted, text: answer.choice === "replan" ? answer.input : answer.choice };
      },
      once: true,
      timeoutMs: null,
      retry: { maxAttempts: 3, initialMs: 100 },
      statusDetail: "Building",
    }),
    "silent",
  )
  .node("silent", action({ run: () => {} }), "sized")
  .node(
    "sized",
    action({
      run: () => ({ size: "3" }),
      output: z.object({ size: z.coerce.number() }),
      route: ({ size }) => (size > 2 ? "big" : "small"),
      cases: ["big", "small"],
    }),
    { big: "stopped", small: "finished" },
  )
  .node(
    "stopped",
    compute(async ({ results }) => ({ status: "stopped" as const, last: results.verify?.status })),
  )
  .node(
    "finished",
    compute(({ outputs }) => outputs.silent ?? outputs.sized.size),
    { failed: "stopped" },
  )
  .build();

type Exits = typeof ship extends Workflow<infer _Input, infer Ends> ? Ends : never;
type Input = typeof ship extends Workflow<infer In, infer _Ends> ? In : never;
proven<Same<Exits["exit"], "stopped" | "finished">>();
proven<Same<Input, { task: string; rounds?: number | undefined }>>();
proven<Same<Extract<Exits, { exit: "finished" }>["output"], number>>();

export const alone = workflow({ name: "alone", input: z.string() })
  .node(
    "only",
    compute(({ input }) => input.length),
  )
  .build();
