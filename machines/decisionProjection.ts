/** A decision's snapshot as its index row, and what it answers once it is settled. Shaped for the runtime's definitions. */
import { judgeSettled, winnerReply, fixedReply, type DecisionReply, type SettledState } from "./decisionVerdicts.ts";
import { DecisionEvent } from "./decisionMachine.ts";
import { decisionContext, decisionState, type DecisionViewLike } from "./decisionView.ts";

/** One row of the table `decisions`. */
export interface DecisionRowWrite {
  readonly table: "decisions";
  readonly row: {
    readonly id: string;
    readonly run: string;
    readonly node: string;
    readonly visit: string;
    readonly state: "open" | SettledState;
    readonly code: string;
    readonly title: string;
    readonly audience: string;
    readonly deadlineAt: number | null;
    readonly defaultChoice: string | null;
    readonly choice: string | null;
    readonly createdAt: number;
    readonly settledAt: number | null;
  };
}

/** The index row of a decision; its id is the actor's. */
export function projectDecision(view: DecisionViewLike): readonly DecisionRowWrite[] {
  const { request, code, deadlineAt, defaultResponse, resolution, ended } = decisionContext(view);
  const state = decisionState(view);
  return [
    {
      table: "decisions",
      row: {
        id: view.record.id,
        run: request.run,
        node: request.node,
        visit: request.visit,
        state,
        code,
        title: request.title,
        audience: request.audience,
        deadlineAt,
        defaultChoice: defaultResponse?.choice ?? null,
        choice: resolution?.response.choice ?? null,
        createdAt: request.createdAt,
        settledAt: state === "open" ? null : (resolution?.at ?? ended?.at ?? view.record.updatedAt),
      },
    },
  ];
}

/** The answer to an event that reaches a settled decision: the saved result, who won, or why there is none. Nothing changes by it. */
export function answerWhenFinished(
  view: DecisionViewLike,
  event: { readonly type: string; readonly [key: string]: unknown },
): { readonly code: string; readonly reply: DecisionReply } {
  const reply = settledReply(view, event);
  return { code: reply.code, reply };
}

function settledReply(view: DecisionViewLike, { id: _envelope, ...content }: { readonly type: string; readonly [key: string]: unknown }): DecisionReply {
  const known = DecisionEvent.safeParse(content);
  if (!known.success) return { code: "invalid", message: "A decision understands no such event.", receipt: null };
  const event = known.data;
  const context = decisionContext(view);
  const state = decisionState(view);
  if (event.type === "decision.denied") return fixedReply("unauthorised");
  if (state === "open") return fixedReply("blocked");
  switch (event.type) {
    case "decision.submit":
      return judgeSettled(context, state, event);
    case "decision.cancel":
      return context.resolution ? winnerReply(context.resolution) : fixedReply(state === "expired" ? "expired" : "cancelled");
  }
}
