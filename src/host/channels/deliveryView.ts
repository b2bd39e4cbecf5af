/** Whom an open decision is shown to, and what stands in the way; pure. DEC-26. */
import type { DecisionDelivery } from "../../../machines/contracts/delivery.ts";
import type { AudiencePolicy } from "./audiences.ts";

export interface DeliveryView {
  /** Terminals of this machine may answer it. */
  readonly local: boolean;
  readonly deliver: "any" | "all";
  readonly channels: readonly { readonly channel: string; readonly state: DecisionDelivery["state"] }[];
  /** As many of the channels show it as must; true where there are none. */
  readonly isDelivered: boolean;
  /** What is missing, and what to do; null when nothing is. */
  readonly problem: string | null;
}

/** `deliveries`: how far each channel has come with this decision; one that is not listed has not begun. */
export function deliveryView(
  audience: string,
  policy: AudiencePolicy,
  deliveries: readonly Pick<DecisionDelivery, "channel" | "state" | "problem">[],
): DeliveryView {
  const { local, deliver, isNamed } = policy;
  const channels = policy.channels.map((channel) => {
    const found = deliveries.find((delivery) => delivery.channel === channel);
    return { channel, state: found?.state ?? "unsent", problem: found?.problem ?? null };
  });
  const shown = channels.filter(({ state }) => state === "delivered").length;
  const isDelivered = channels.length === 0 || (deliver === "all" ? shown === channels.length : shown > 0);
  return {
    local,
    deliver,
    channels: channels.map(({ channel, state }) => ({ channel, state })),
    isDelivered,
    problem: problemOf(),
  };

  function problemOf(): string | null {
    if (!isNamed) return `Audience "${audience}" is not in channels.json: only a terminal of this machine can answer. Add it there.`;
    if (isDelivered) return null;
    const open = channels.filter(({ state }) => state !== "delivered");
    const why = open.map(({ channel, state, problem }) => `${channel} (${problem?.message.replace(/\.$/, "") ?? state})`).join(", ");
    return local
      ? `Not delivered: ${why}. It can be answered at a terminal of this machine meanwhile.`
      : `Nobody can answer: not delivered by ${why}, and audience "${audience}" takes no answer from a terminal here. See that the channel works, or set "local": true for it in channels.json.`;
  }
}

/** While the configuration cannot be used. */
export const unusable = (problem: string): DeliveryView => ({ local: false, deliver: "any", channels: [], isDelivered: false, problem });
