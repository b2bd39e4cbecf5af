/** Runs one order to its end, and goes on with it after any interruption:
 *
 *    npm exec -- node --conditions=pawl-source examples/durable-machine/run.ts [folder]
 *
 *  In a clone the condition means Pawl's sources; with Pawl installed `node run.ts` is enough. Press Ctrl-C or kill it at any moment and type the same
 *  again: the order goes on where it stood. The customer is charged once. The folder (`.pawl-order` unless you name one) holds the state, and what the
 *  bank and the post office were told. */
import { join } from "node:path";
import { executor, openPawl } from "pawl";
import { orderMachine, sendMail } from "./orderMachine.ts";
import { folder, postOffice } from "./outside.ts";

const pawl = await openPawl({
  path: join(folder, "state"),
  machines: [orderMachine],
  executors: executor(sendMail, async ({ input }) => postOffice.send(input.to, input.text)),
});

pawl.subscribe({ root: "order-1" }, (change) => {
  if (change.kind === "snapshot") console.log(`${change.snapshot.id}: ${JSON.stringify(change.snapshot.value)} (${change.event.type})`);
});

process.once("SIGINT", () => void pawl.close().then(() => process.exit(130)));

// All of this may be said again after a restart: ids make repeats harmless.
const order = await pawl.start(orderMachine, { id: "order-1", input: { order: "order-1", customer: "ann@example.invalid", amount: 42 } });
console.log(`order-1 stands at ${JSON.stringify((await pawl.get(order))?.value)}`);
await pawl.waitFor(order, ({ context, value }) => context.reminders >= 1 || value !== "awaitingPayment");
await pawl.send(order, { type: "order.pay" }, { eventId: "pay" });
const completed = await pawl.waitFor(order, ({ status }) => status === "done", { timeoutMs: 60_000 });
console.log(`completed: ${JSON.stringify(completed.output)}`);
await pawl.settled();
await pawl.close();
