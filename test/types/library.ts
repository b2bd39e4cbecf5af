/** What must not compile of the library: one line for each mistake that `openPawl`'s types find. Checked by tsc; never run. */
import { setup } from "xstate";
import { effect, effectAction, executor, openPawl } from "../../src/index.ts";
import { counterMachine, mailMachine, parentMachine, sendMail } from "../library/kit.ts";

const pawl = await openPawl({ path: "state", machines: [counterMachine, parentMachine] });
const counter = await pawl.start(counterMachine, { input: { from: 1 } });
const parent = await pawl.start(parentMachine);

// What is right needs no cast.
const snapshot = await pawl.get(counter);
const n: number | undefined = snapshot?.context.n;
const value: "on" | "off" | undefined = snapshot?.value;
if (snapshot?.status === "done") void (snapshot.output.total satisfies number);
if (snapshot?.status === "faulted") void (snapshot.error.message satisfies string);
await pawl.send(counter, { type: "add", by: 1 }, { eventId: "e", expectedRevision: 1 });
await pawl.send(counter.id, { type: "anything", goes: true });
await pawl.waitFor(counter, ({ context, hasTag }) => context.n > 1 && hasTag("counting"), { timeoutMs: 1, signal: AbortSignal.timeout(1) });
await pawl.waitFor(pawl.actor(parentMachine, "p"), ({ value: at }) => at === "after");
const page = await pawl.query({ machine: counterMachine, parent });
void page.items.map(({ context }) => context.n satisfies number);
pawl.subscribe({ actor: counter }, (change) => {
  if (change.kind === "emitted" && change.event.type === "added") void (change.event.by satisfies number);
  if (change.kind === "snapshot") void (change.snapshot.context.n satisfies number);
});
await openPawl({ path: "state", machines: [{ machine: counterMachine }], inspect: (event) => void event.rootId }).then((one) =>
  one.start(counterMachine, { input: { from: 1 } }),
);
void executor(sendMail, async ({ input }) => ({ sent: input.to }), { observe: async ({ input }) => ({ happened: true, output: { sent: input.to } }) });
void [n, value];

// @ts-expect-error API-16 an input of the wrong type
await pawl.start(counterMachine, { input: { from: "one" } });
// @ts-expect-error API-16 an input that is missing
await pawl.start(counterMachine, { id: "c" });
// @ts-expect-error API-16 no options where an input is asked for
await pawl.start(counterMachine);
// @ts-expect-error API-16 a machine that was not opened
await pawl.start(mailMachine, { input: { to: "x" } });
// @ts-expect-error API-16 a ref of a machine that was not opened
pawl.actor(mailMachine, "m");
// @ts-expect-error API-16 an event that the machine does not know
await pawl.send(counter, { type: "subtract", by: 1 });
// @ts-expect-error API-16 an event of another machine
await pawl.send(parent, { type: "add", by: 1 });
// @ts-expect-error API-16 an event whose payload is missing
await pawl.send(counter, { type: "add" });
// @ts-expect-error API-16 an event whose payload has the wrong type
await pawl.send(counter, { type: "add", by: "1" });
// @ts-expect-error API-16 an event without a type
await pawl.send(counter.id, { by: 1 });
// @ts-expect-error API-16 a context that the machine does not have
await pawl.waitFor(counter, ({ context }) => context.total > 1);
// @ts-expect-error API-16 a state that the machine does not have
await pawl.waitFor(counter, ({ value: at }) => at === "after");
// @ts-expect-error API-16 a tag that the machine does not have
await pawl.waitFor(counter, (at) => at.hasTag("parked"));
// @ts-expect-error API-16 a state to match that the machine does not have
await pawl.waitFor(counter, (at) => at.matches("after"));
// @ts-expect-error API-16 an output before the end
void snapshot?.output.total;
// @ts-expect-error API-16 a list of a machine that was not opened
await pawl.query({ machine: mailMachine });
// @ts-expect-error API-16 a status that there is not
await pawl.query({ status: ["running"] });
pawl.subscribe({ actor: counter }, (change) => {
  // @ts-expect-error API-16 an emitted event that the machine does not emit
  if (change.kind === "emitted" && change.event.type === "subtracted") return;
});
// @ts-expect-error API-16 neither path nor store
await openPawl({ machines: [counterMachine] });
// @ts-expect-error API-16 something that is no machine
await openPawl({ path: "state", machines: [effect("x")] });
// @ts-expect-error API-16 an executor that reads another input
void executor(sendMail, async ({ input }) => ({ sent: input.from }));
// @ts-expect-error API-16 an executor that gives another output
void executor(sendMail, async () => ({ received: "x" }));
// @ts-expect-error API-16 an observer that gives another output
void executor(sendMail, async () => ({ sent: "x" }), { observe: async () => ({ happened: true, output: 1 }) });
// @ts-expect-error API-16 an action's executor that reads other params
void executor(effectAction<{ text: string }>("note"), async ({ input }) => void input.title);
// @ts-expect-error API-16 an effect invoked with another input
setup({ actors: { sendMail } }).createMachine({ invoke: { src: "sendMail", input: { from: "x" } } });
