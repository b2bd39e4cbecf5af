/** What node machines read from the events that the runtime gives them. */
import type { NodeFailure } from "../define.ts";

/** Epoch ms. The first transition has no event that is stamped: its time is in the input. */
export function timeOf(event: object): number {
  const stamped = "input" in event && typeof event.input === "object" && event.input !== null ? event.input : event;
  return "at" in stamped && typeof stamped.at === "number" ? stamped.at : 0;
}

/** What the end of a child or effect gave; undefined for other events. */
export const outputIn = (event: object): unknown => ("output" in event ? event.output : undefined);

/** Why the visit failed, by what its child or effect ended with; `otherwise` where that says nothing. */
export function failureIn(event: object, otherwise: string): NodeFailure {
  const error = "error" in event ? event.error : undefined;
  const has = typeof error === "object" && error !== null;
  const message = has && "message" in error ? error.message : error;
  return {
    failed: {
      reason: has && "reason" in error && typeof error.reason === "string" ? error.reason : "nodeFailed",
      message: typeof message === "string" && message !== "" ? message : otherwise,
    },
  };
}
