/** A shipment: packed, then handed over. Each step takes its time, and none is lost. */
import { setup } from "xstate";

export const shipmentMachine = setup({
  types: {} as {
    context: { order: string };
    input: { order: string };
    output: { tracking: string };
  },
  delays: { packing: 1_000, handingOver: 1_000 },
}).createMachine({
  id: "shipment",
  version: "1",
  context: ({ input }) => ({ order: input.order }),
  initial: "packing",
  states: {
    packing: { after: { packing: "handingOver" } },
    handingOver: { after: { handingOver: "handedOver" } },
    handedOver: { type: "final" },
  },
  output: ({ context }) => ({ tracking: `track-${context.order}` }),
});
