/** An order as a plain XState machine: a payment, a reminder after a delay, and a shipment that is a machine of its own.
 *  What Pawl adds are the versions, the policy of the payment, and the named effect that sends mail. */
import { durable, effectAction } from "pawl";
import { assign, setup } from "xstate";
import { bank } from "./outside.ts";
import { shipmentMachine } from "./shipmentMachine.ts";

export const sendMail = effectAction<{ readonly to: string; readonly text: string }>("mail.send");

interface Payment {
  readonly order: string;
  readonly amount: number;
}

export const orderMachine = setup({
  types: {} as {
    context: { order: string; customer: string; amount: number; reminders: number; receipt: string | null; tracking: string | null };
    input: { order: string; customer: string; amount: number };
    events: { type: "order.pay" } | { type: "order.cancel" };
    output: { receipt: string | null; tracking: string | null };
  },
  actors: {
    shipment: shipmentMachine,
    // The bank knows no idempotency keys, but it can be asked: with `once` and `observe` nobody is charged twice.
    charge: durable(({ input, idempotencyKey }: { input: Payment; idempotencyKey: string }) => bank.charge(idempotencyKey, input.amount), {
      once: true,
      retry: { maxAttempts: 5, initialMs: 500 },
      observe: ({ idempotencyKey }) => bank.find(idempotencyKey),
    }),
  },
  actions: {
    sendMail,
    countReminder: assign({ reminders: ({ context }) => context.reminders + 1 }),
  },
  delays: { reminderDelay: 1_000 },
}).createMachine({
  id: "order",
  version: "1",
  context: ({ input }) => ({ ...input, reminders: 0, receipt: null, tracking: null }),
  initial: "awaitingPayment",
  states: {
    awaitingPayment: {
      on: { "order.pay": "charging", "order.cancel": "cancelled" },
      after: {
        reminderDelay: {
          target: "awaitingPayment",
          reenter: true,
          actions: [
            "countReminder",
            {
              type: "sendMail",
              params: ({ context }) => ({ to: context.customer, text: `Reminder ${context.reminders}: ${context.order} is not paid yet.` }),
            },
          ],
        },
      },
    },
    charging: {
      invoke: {
        id: "charge",
        src: "charge",
        input: ({ context }) => ({ order: context.order, amount: context.amount }),
        onDone: { target: "shipping", actions: assign({ receipt: ({ event }) => event.output }) },
        onError: "awaitingPayment",
      },
    },
    shipping: {
      invoke: {
        id: "shipment",
        src: "shipment",
        input: ({ context }) => ({ order: context.order }),
        onDone: { target: "completed", actions: assign({ tracking: ({ event }) => event.output.tracking }) },
      },
    },
    completed: {
      type: "final",
      entry: { type: "sendMail", params: ({ context }) => ({ to: context.customer, text: `${context.order} is on its way: ${context.tracking}.` }) },
    },
    cancelled: { type: "final" },
  },
  output: ({ context }) => ({ receipt: context.receipt, tracking: context.tracking }),
});
