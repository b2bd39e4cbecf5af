/** Brings a release out in steps: verified, planned, approved by a person who may change the plan, left to settle, then given to more and more people.
 *  Run it: `pawl run examples/rollout/rollout.workflow.ts --input '{"release":"/path/to/a/file"}'` */
import { choices, compute, humanDecision, include, machineNode, shell, text, wait, workflow, type DecisionBlock } from "pawl";
import { z } from "zod";
import { canaryMachine } from "./canaryMachine.ts";
import verify from "./verify.workflow.ts";

const approval = choices({
  go: { label: "Go: roll it out" },
  stop: { label: "Stop: leave everything as it is" },
  replan: { label: "Change the plan", input: text("Which shares, in percent, one after the other?", { max: 200 }) },
});

const input = z.object({
  /** The release, a file. */
  release: z.string().min(1),
  sha256: z.string().optional(),
  /** How long the release rests before the first share, and each share before the next, in seconds. */
  restSeconds: z.number().positive().default(2),
});

const Plan = z.object({ shares: z.array(z.number()).min(1), asked: z.array(z.string()) });

/** The shares that a person named: whole percents, rising, the last one everybody. */
function sharesIn(remark: string): readonly number[] {
  const named = [...remark.matchAll(/\d+/g)].map(([digits]) => Number(digits)).filter((share) => share > 0 && share < 100);
  return [...new Set(named)].toSorted((a, b) => a - b);
}

const remarksOf = (asked: readonly string[]): readonly DecisionBlock[] =>
  asked.length === 0 ? [] : [{ kind: "bullets", items: asked.map((remark) => `You said: ${remark}`) }];

export default workflow({ name: "rollout", input })
  .later("approve", approval)
  .later("plan", Plan)
  .node("verify", include(verify, { input: ({ input }) => ({ release: input.release, sha256: input.sha256 }), statusDetail: "Verifying the release" }), {
    sound: "disk",
    spoilt: "refused",
  })
  .node(
    "disk",
    shell({
      command: "df",
      args: ({ input }) => ["-P", input.release],
      statusDetail: "Looking at the disk",
      parse: ({ stdout }) => ({ used: /(\d+)%/.exec(stdout)?.[1] ?? "unknown" }),
    }),
    "plan",
  )
  .node(
    "plan",
    compute(
      ({ results }) => {
        const before = results.plan?.status === "accepted" ? results.plan.output.asked : [];
        const answer = results.approve?.status === "accepted" ? results.approve.output : null;
        const remark = answer?.choice === "replan" ? answer.input : null;
        const asked = remark === null ? before : [...before, remark];
        return { shares: remark === null ? [5, 25, 100] : [...sharesIn(remark), 100], asked };
      },
      { output: Plan },
    ),
    "approve",
  )
  .node(
    "approve",
    humanDecision({
      audience: "operator",
      choices: approval,
      request: ({ input, outputs }) => ({
        title: `Roll out ${input.release}?`,
        subject: { release: outputs.verify, plan: outputs.plan },
        presentation: {
          summary: `Shares: ${outputs.plan.shares.join(" %, ")} %`,
          blocks: [
            {
              kind: "fields",
              fields: [
                { label: "Release", value: input.release },
                { label: "Disk in use", value: `${outputs.disk.used} %` },
                { label: "Rest between two shares", value: `${input.restSeconds} s` },
              ],
            },
            ...remarksOf(outputs.plan.asked),
          ],
        },
      }),
    }),
    { go: "settle", stop: "stopped", replan: "plan" },
  )
  .node("settle", wait({ forMs: ({ input }) => input.restSeconds * 1000, statusDetail: "Letting the release settle" }), "canary")
  .node(
    "canary",
    machineNode(canaryMachine, {
      input: ({ input, outputs }) => ({ shareFile: `${input.release}.share`, shares: outputs.plan.shares, watchMs: input.restSeconds * 1000 }),
      statusDetail: "Giving it to more and more people",
    }),
    "done",
  )
  .node(
    "done",
    compute(({ outputs }) => ({ status: "out", share: outputs.canary.share, steps: outputs.canary.steps })),
  )
  .node(
    "stopped",
    compute(() => ({ status: "stopped" })),
  )
  .node(
    "refused",
    compute(({ outputs }) => ({ status: "refused", verify: outputs.verify })),
  )
  .build();
