/** An agent's answer, brought to its step, and the step's word brought back. */
import { agentLimits, type SubmitAnswer } from "../../../machines/contracts/agent.ts";
import type { AgentNodeContext } from "../../../machines/nodes/agentTurns.ts";
import { PawlError } from "../../errors.ts";
import { jsonText } from "../../json.ts";
import type { ActorView } from "../../runtime/definition.ts";
import { isAgentKind } from "../../workflow/kinds.ts";
import type { Change, Receipt } from "../../runtime/runtime.ts";

export interface SubmitWays {
  readonly send: (actor: string, event: { readonly type: string; readonly [field: string]: unknown }, eventId: string) => Promise<Receipt>;
  readonly view: (actor: string) => Promise<ActorView | null>;
  readonly subscribe: (listener: (change: Change) => void) => () => void;
}

/** @throws unknownActor for a visit that is none of an agent; invalidInput for a call id or an output that is none; aborted when nobody waits any more, and then the output may have been accepted */
export async function submitTo(
  ways: SubmitWays,
  visit: string,
  call: { readonly callId: string; readonly output: unknown },
  signal: AbortSignal,
): Promise<SubmitAnswer> {
  // An agent's program may have no compiler.
  if (typeof call !== "object" || call === null || typeof call.callId !== "string")
    throw new PawlError("invalidInput", "A submit is { callId, output }: the id of the call, a text, and what the step gives.", { path: "callId" });
  const { callId, output } = call;
  if (callId === "" || callId.length > agentLimits.callIdUnits)
    throw new PawlError("invalidInput", `A call id has 1 to ${agentLimits.callIdUnits} characters, this one ${callId.length}.`, { path: "callId" });
  jsonText(output, "submitted output");
  const step = await ways.view(visit);
  if (step === null || !isAgentKind(step.record.machineId))
    throw new PawlError("unknownActor", `There is no agent step "${visit}". Name the visit that the message is about; nothing was submitted.`, {
      subject: visit,
    });
  const stops: (() => void)[] = [];
  const answered = new Promise<SubmitAnswer>((resolve, reject) => {
    stops.push(
      ways.subscribe((change) => {
        if (change.kind !== "actor" || change.view.record.id !== visit) return;
        const answer = answerIn(change.view, callId);
        if (answer) resolve(answer);
      }),
    );
    const givenUp = (): void => reject(new PawlError("aborted", `Nobody waits any more for the answer to call "${callId}".`, { subject: visit }));
    // An accepted output ends the step, and with it this turn: its answer is there all the same.
    const abort = (): void =>
      void ways.view(visit).then((view) => {
        const answer = view === null ? undefined : answerIn(view, callId);
        if (answer) resolve(answer);
        else givenUp();
      }, givenUp);
    stops.push(() => signal.removeEventListener("abort", abort));
    signal.addEventListener("abort", abort, { once: true });
  });
  answered.catch(() => undefined);
  try {
    const receipt = await ways.send(visit, { type: "agent.submit", callId, output: output ?? null }, `submit:${callId}`);
    const view = await ways.view(visit);
    const known = view === null ? undefined : answerIn(view, callId);
    if (known) return known;
    if (receipt.code === "keyReused") return { status: "refused", text: `Call "${callId}" was made before with another output. Submit under a new call id.` };
    const reply = replyOf(receipt);
    if (reply) return reply;
    if (receipt.status === "refused" || receipt.status === "ignored") return over(visit);
    return await answered;
  } finally {
    for (const stop of stops) stop();
  }
}

/** What the step has said to this call: while it is open, and after its end. */
function answerIn({ record, context }: ActorView, callId: string): SubmitAnswer | undefined {
  const { answers, checking } = context as AgentNodeContext; // only visits of agent kinds are submitted to
  const given = answers.find((answer) => answer.callId === callId);
  if (given) return { status: given.status, text: given.text };
  return record.status === "active" || checking !== callId ? undefined : over(record.id);
}

const over = (visit: string): SubmitAnswer => ({ status: "over", text: `The step "${visit}" is over; this output was not used. Do not submit it again.` });

function replyOf({ reply }: Receipt): SubmitAnswer | undefined {
  if (typeof reply !== "object" || reply === null || !("status" in reply) || !("text" in reply)) return undefined;
  const { status, text } = reply as SubmitAnswer; // emitted by the step's own machine
  return { status, text };
}
