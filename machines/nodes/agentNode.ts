/** A step that an agent works on: its message is prepared and delivered, its submits are checked, its turns watched over.
 *  AGENT-1 a submit is checked by the node's schema and rules, and ends the visit when they accept it. AGENT-2 a refusal goes back to the agent, ten at most.
 *  AGENT-3 a turn without submit is reminded of, twice at most. AGENT-4 a provider's error is waited out. AGENT-5 a call is answered once. */
import { and, assign, emit, enqueueActions, not, sendParent, setup } from "xstate";
import { agentLimits, type AgentEvent, type DeliveryReason, type SubmitAnswer } from "../contracts/agent.ts";
import { effect, type NodeFailure, type NodeInput, type NodeOutput } from "../define.ts";
import {
  answerTo,
  backoffMs,
  checkedBy,
  endOf,
  failureOf,
  freshTurn,
  messageOutcome,
  refusalOf,
  type AgentNodeContext,
  type CheckInput,
  type Checked,
  type DeliverInput,
  type Prepared,
  type Turn,
} from "./agentTurns.ts";

/** Runs the author's callbacks. The same name as `graphEffects.prepareAgent`. */
const prepare = effect<Prepared, NodeInput>("pawl.agent.prepare", { timeoutMs: 15 * 60_000, maxInterrupted: 3 });
/** Brings the message to an agent, and gives how its turn ended. An attempt after the first takes up what was lost with a host. */
const deliver = effect<Turn, DeliverInput>("pawl.agent.deliver", { visit: ({ delivery }) => `deliver.${delivery}` });
/** The node's own schema and rules. Its row keeps the output that was accepted, by the visit's name. */
const check = effect<Checked, CheckInput>("pawl.agent.check", { visit: ({ check: number }) => `check.${number}`, timeoutMs: 15 * 60_000, maxInterrupted: 3 });

type NodeEvent =
  | AgentEvent
  /** The graph's word: nothing is said to the agent while the run is paused, held, ambiguous or blocked. */
  | { readonly type: "node.held"; readonly held: boolean }
  | { readonly type: "xstate.done.actor.prepare"; readonly output: Prepared }
  | { readonly type: "xstate.done.actor.deliver"; readonly output: Turn }
  | { readonly type: "xstate.done.actor.check"; readonly output: Checked }
  | { readonly type: "xstate.error.actor.prepare" | "xstate.error.actor.deliver" | "xstate.error.actor.check"; readonly error: unknown };

/** What the kinds differ in. */
export interface AgentKind {
  readonly id: "agent" | "choose" | "assistantMessage";
  /** False: the turn's own end is the node's, whatever it was. */
  readonly submits: boolean;
}

export function agentNode({ id, submits }: AgentKind) {
  return setup({
    types: {} as {
      context: AgentNodeContext;
      input: NodeInput;
      events: NodeEvent;
      emitted: { readonly type: "pawl.reply" } & SubmitAnswer;
      output: NodeOutput | NodeFailure;
    },
    actors: { prepare, deliver, check },
    delays: { backoff: ({ context }) => backoffMs(context), idle: agentLimits.idleMs },
    guards: {
      isHeld: ({ context }) => context.held,
      isChecking: ({ context }) => context.checking !== null,
      isUnattended: ({ context }) => context.turn?.outcome === "unattended",
      isCompleted: ({ context }) => context.turn?.outcome === "completed",
      isError: ({ context }) => context.turn?.outcome === "error",
      isAborted: ({ context }) => context.turn?.outcome === "aborted",
      isChatting: ({ context }) => context.turn?.outcome === "completed" && context.turn.chatting === true,
      isReminding: ({ context }) => context.reminding,
      isOutOfReminders: ({ context }) => context.reminders >= agentLimits.reminders,
      isMessage: () => !submits,
      isGivenUp: ({ context }) => context.errors > agentLimits.messageErrors,
      isThisDelivery: ({ context, event }) => "delivery" in event && event.delivery === context.delivery,
      isReleased: ({ event }) => event.type === "node.held" && !event.held,
      /** A new call, while none is looked at. */
      isNewCall: ({ context, event }) => submits && event.type === "agent.submit" && context.checking === null && answerTo(context, event.callId) === undefined,
      isAccepted: ({ event }) => event.type === "xstate.done.actor.check" && "case" in event.output,
      isLastRefusal: ({ context }) => context.answers.length + 1 >= agentLimits.refusals,
    },
    actions: {
      tellDeadline: enqueueActions(({ event, enqueue }) => {
        const timeoutMs = event.type === "xstate.done.actor.prepare" ? event.output.timeoutMs : null;
        if (timeoutMs !== null) enqueue(sendParent({ type: "node.deadline", ms: timeoutMs }));
      }),
      /** The step's time goes from the first proof that its message arrived, while somebody carries messages, and nobody put it aside. */
      tellClock: sendParent(({ context }) => ({ type: context.sent && context.attended && !context.aside ? "node.clockStarted" : "node.clockStopped" })),
      tellWaiting: sendParent(({ context }) => ({ type: "node.waiting", node: context.node })),
      /** A run of a session keeps it: whoever serves that comes back. */
      tellUnattended: enqueueActions(({ context, enqueue }) => {
        if (context.turn?.outcome === "unattended" && context.turn.parks) enqueue(sendParent({ type: "node.waiting", node: context.node }));
      }),
      tellActive: sendParent({ type: "node.active" }),
      noteHeld: assign({ held: ({ context, event }) => (event.type === "node.held" ? event.held : context.held) }),
      beginDelivery: assign({ delivery: ({ context }) => context.delivery + 1, reminding: false, turn: null }),
      noteSent: assign({ sent: true }),
      attend: assign({ attended: true }),
      unattend: assign({ attended: false }),
      putAside: assign({ aside: true }),
      takeUp: assign({ aside: false }),
      noteTurn: assign({ turn: ({ event, context }) => endOf(event) ?? context.turn }),
      /** Counted once, however long it then waits for its run, or for a verdict. */
      remind: assign({ reminders: ({ context }) => context.reminders + 1, reminding: true, errors: 0, reason: (): DeliveryReason => "reminder" }),
      countError: assign({ errors: ({ context }) => context.errors + 1, reason: (): DeliveryReason => "resume" }),
      resume: assign({ reason: (): DeliveryReason => "resume" }),
      beginCheck: assign({
        checks: ({ context }) => context.checks + 1,
        errors: 0,
        checking: ({ event }) => (event.type === "agent.submit" ? event.callId : null),
      }),
      accept: assign({
        outcome: ({ context, event }) => checkedBy(event, context.checks),
        answers: ({ context }) => [...context.answers, { callId: context.checking ?? "", status: "accepted" as const, text: "Accepted: this step is done." }],
        checking: null,
      }),
      refuse: assign({ answers: ({ context, event }) => [...context.answers, refusalOf(context, event)], checking: null }),
      reply: emit(({ context, event }) => ({
        type: "pawl.reply" as const,
        ...(event.type === "agent.submit" ? replyTo(context, event, submits) : { status: "busy" as const, text: "" }),
      })),
      failRefused: assign({
        outcome: ({ context }): NodeFailure => ({
          failed: { reason: "invalidOutput", message: `${agentLimits.refusals} outputs were refused, the last one so: ${context.answers.at(-1)?.text ?? ""}` },
        }),
      }),
      failSilent: assign({
        outcome: ({ context }): NodeFailure => ({
          failed: { reason: "noSubmit", message: `The agent ended its turn without a submit, and again after ${context.reminders} reminders.` },
        }),
      }),
      failWith: assign({ outcome: ({ event }): NodeFailure => failureOf(event) }),
      endMessage: assign({ outcome: ({ context }) => messageOutcome(context.turn) }),
    },
  }).createMachine({
    id,
    version: "1",
    context: ({ input }) => ({ ...input, ...freshTurn }),
    output: ({ context }) => context.outcome ?? failureOf({}),
    initial: "preparing",
    on: { "node.held": { actions: "noteHeld" } },
    states: {
      preparing: {
        entry: "tellClock",
        invoke: {
          id: "prepare",
          src: "prepare",
          input: ({ context: { run, node, visit, once } }) => ({ run, node, visit, once }),
          onDone: { target: "working", actions: ["tellDeadline", "tellClock"] },
          onError: { target: "ended", actions: "failWith" },
        },
      },
      working: {
        type: "parallel",
        on: {
          "agent.sent": { guard: "isThisDelivery", actions: ["noteSent", "tellClock"] },
          "agent.disconnected": { actions: ["unattend", "tellClock"] },
          "agent.connected": { actions: ["attend", "tellClock"] },
        },
        states: {
          turn: {
            initial: "next",
            states: {
              /** Nothing is said while the run is held, or while a submit is looked at that may end the step. */
              next: {
                always: [
                  { guard: "isHeld", target: "aside" },
                  { guard: not("isChecking"), target: "delivering" },
                ],
              },
              delivering: {
                entry: "beginDelivery",
                invoke: {
                  id: "deliver",
                  src: "deliver",
                  input: ({ context: { run, node, visit, once, delivery, reason, reminders } }) => ({
                    run,
                    node,
                    visit,
                    once,
                    delivery,
                    reason,
                    reminder: reason === "reminder" ? reminders : 0,
                  }),
                  onDone: { target: "over", actions: "noteTurn" },
                  onError: { target: "over", actions: "noteTurn" },
                },
                on: { "agent.turnEnded": { guard: "isThisDelivery", target: "over", actions: "noteTurn" } },
              },
              over: {
                always: [
                  // What the submit comes to decides first.
                  { guard: "isChecking", target: "settling" },
                  { guard: "isUnattended", target: "unattended" },
                  { guard: and(["isMessage", "isCompleted"]), target: "#ended", actions: "endMessage" },
                  { guard: "isError", target: "backingOff", actions: "countError" },
                  { guard: "isAborted", target: "aside", actions: "resume" },
                  { guard: "isHeld", target: "aside" },
                  { guard: "isOutOfReminders", target: "#ended", actions: "failSilent" },
                  { guard: "isChatting", target: "resting" },
                  { target: "next", actions: "remind" },
                ],
              },
              settling: { always: { guard: not("isChecking"), target: "over" } },
              /** The person is writing: the agent is reminded when that has rested. */
              resting: { on: { "agent.chatting": { target: "resting", reenter: true } }, after: { idle: { target: "next", actions: "remind" } } },
              backingOff: {
                always: { guard: and(["isMessage", "isGivenUp"]), target: "#ended", actions: "endMessage" },
                after: { backoff: "next" },
              },
              /** Put aside by a person, or with its run: nothing is said to the agent. */
              aside: {
                entry: ["putAside", "tellClock", "tellWaiting"],
                exit: ["takeUp", "tellClock", "tellActive"],
                on: {
                  "agent.takeUp": { target: "next", actions: "resume" },
                  "node.held": [{ guard: "isReleased", target: "released", actions: "noteHeld" }, { actions: "noteHeld" }],
                },
              },
              released: {
                always: [{ guard: "isReminding", target: "next" }, { guard: "isCompleted", target: "over" }, { target: "next" }],
              },
              /** There is no agent to deliver to. */
              unattended: {
                entry: ["unattend", "tellClock", "tellUnattended"],
                exit: ["attend", "tellActive"],
                on: { "agent.connected": "next" },
              },
            },
          },
          submission: {
            initial: "open",
            states: {
              open: { on: { "agent.submit": [{ guard: "isNewCall", target: "checking", actions: "beginCheck" }, { actions: "reply" }] } },
              checking: {
                invoke: {
                  id: "check",
                  src: "check",
                  input: ({ context: { run, node, visit, once, checks }, event }) => ({
                    run,
                    node,
                    visit,
                    once,
                    check: checks,
                    output: event.type === "agent.submit" ? event.output : null,
                  }),
                  onDone: [
                    { guard: "isAccepted", target: "#ended", actions: "accept" },
                    { guard: "isLastRefusal", target: "#ended", actions: ["refuse", "failRefused"] },
                    { target: "open", actions: "refuse" },
                  ],
                  onError: { target: "#ended", actions: "failWith" },
                },
                on: { "agent.submit": { actions: "reply" } },
              },
            },
          },
        },
      },
      ended: { id: "ended", type: "final" },
    },
    options: { maxIterations: 1000 },
  });
}

/** What a call is told that begins nothing. */
function replyTo(context: AgentNodeContext, event: Extract<NodeEvent, { type: "agent.submit" }>, submits: boolean): SubmitAnswer {
  if (!submits) return { status: "over", text: "This step asks for a plain answer; there is nothing to submit." };
  return answerTo(context, event.callId) ?? { status: "busy", text: "Another output of this step is being checked. Wait for its answer." };
}

export const agentStepNode = agentNode({ id: "agent", submits: true });
export const chooseNode = agentNode({ id: "choose", submits: true });
export const assistantMessageNode = agentNode({ id: "assistantMessage", submits: false });
