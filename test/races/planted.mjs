/** Preloaded into real hosts: changes the text of Pawl's own modules as they are loaded, so that the host has the fault that RACE_PLANT names. A place that is
 *  not found ends the host. `blocking` throws as a machine with a bug would, at the decision's deadline and at the graph's pause, while the file
 *  RACE_PLANTING is there. */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const thrown = `if (process.getBuiltinModule("node:fs").existsSync(process.env["RACE_PLANTING"])) throw new Error("a fault planted by a test");`;
const verdicts = "/machines/decisionVerdicts.ts";
const decision = "/machines/decisionMachine.ts";

const faults = {
  blocking: [
    [decision, "Partial<DecisionContext> {\n  const audit = ", `Partial<DecisionContext> {\n  ${thrown}\n  const audit = `],
    ["/src/workflow/graphSetup.ts", "pause: assign({ paused: true })", `pause: assign(() => { ${thrown} return { paused: true }; })`],
  ],
  secondIsToldAccepted: [[verdicts, "  return winnerReply(resolution);", `  return { code: "accepted", message: "Accepted.", receipt };`]],
  sameIsRefused: [[verdicts, "if (winner && isSameAnswer(winner, event))", `if (winner && event.choice === "")`]],
  pauseIsForgotten: [["/src/workflow/graphSetup.ts", "pause: assign({ paused: true })", "pause: assign({})"]],
  cancelledIsToldAccepted: [
    [
      verdicts,
      `if (state === "cancelled" || resolution === null) return`,
      `if (state === "cancelled") return { code: "accepted", message: "Accepted.", receipt: null };\n  if (resolution === null) return`,
    ],
  ],
  lateWins: [[verdicts, "timeOf(context, event) > context.deadlineAt)", "timeOf(context, event) > context.deadlineAt + 60_000)"]],
  timelyLoses: [[verdicts, "timeOf(context, event) > context.deadlineAt)", "timeOf(context, event) > context.deadlineAt - 60_000)"]],
  defaultComesEarly: [[decision, "context.deadlineAt + 1 - context.openedAt", "context.deadlineAt - 2 - context.openedAt"]],
  stepRunsTwice: [
    [
      "/src/host/executors.ts",
      "outcome(await author.execute(call, task))))",
      "(await author.execute(call, task), outcome(await author.execute(call, task)))))",
    ],
  ],
  goesWhereTheLoserSays: [[decision, "return { case: resolution.response.choice, value", `return { case: "stop", value`]],
  rowNamesAnother: [["/machines/decisionProjection.ts", "choice: resolution?.response.choice ?? null", `choice: resolution === null ? null : "stop"`]],
  auditForgetsTheLoser: [["/src/runtime/outside.ts", `event: receipt.status === "applied" ? null : draft.storeText(text)`, "event: null"]],
  auditForgetsTheWinner: [
    [decision, `audit: [...context.audit, candidate(context, event, "won"), ...losingTimer(context, event)] }`, "audit: context.audit }"],
  ],
};

if (process.env["RACE_PLANT"] !== undefined && process.argv.includes("serve")) {
  const places = faults[process.env["RACE_PLANT"]];
  registerHooks({
    load(url, context, next) {
      const here = places.filter(([file]) => url.endsWith(file));
      if (here.length === 0) return next(url, context);
      let source = readFileSync(new URL(url), "utf8");
      for (const [, from, to] of here) {
        if (!source.includes(from)) throw new Error(`${url} does not hold what a fault is planted into: ${from}`);
        source = source.replace(from, () => to);
      }
      return { ...next(url, context), source };
    },
  });
}
