/** How an executor says why a visit failed: reasons of SPEC 5 on the errors that the runtime knows. */
import { NotApplied, TerminalError } from "../../machines/define.ts";
import { messageOf } from "../errors.ts";

/** Closed reasons that running a node's callbacks can end with. */
export type NodeReason = "nodeFailed" | "nodeTimedOut" | "invalidInput" | "invalidOutput" | "outputTooLarge" | "routing";

/** A throw of a callback without outside effect, which a retry policy may try again. */
class CallbackFailed extends Error {
  override readonly name = "CallbackFailed";
  readonly reason: NodeReason = "nodeFailed";
}

/** A failure before the node's own work began: nothing happened outside. */
class NotBegun extends NotApplied {
  readonly reason: NodeReason;
  constructor(message: string, reason: NodeReason) {
    super(message);
    this.reason = reason;
  }
}

/** The visit failed for good; on a `once` node the runtime holds it for ambiguous. */
export const visitFailed = (node: string, reason: NodeReason, what: string): Error => new TerminalError(`Node "${node}" ${what}`, reason);

class OutputRefused extends TerminalError {
  readonly path: string;
  constructor(message: string, path: string) {
    super(message, "invalidOutput");
    this.path = path;
  }
}

/** Told by its reason alone: as a code it would be one of Pawl's own errors. */
class InputRefused extends Error {
  override readonly name = "TerminalError";
  readonly reason: NodeReason = "invalidInput";
}

/** What an included workflow is to begin with does not fit. */
export const inputRefused = (node: string, what: string): Error => new InputRefused(`Node "${node}" ${what}`);

/** An output does not fit; `path` is its first wrong field. */
export const outputRefused = (node: string, path: string, what: string): Error => new OutputRefused(`Node "${node}" ${what}`, path);

/** As `visitFailed`, before anything happened outside: a `once` node fails too, and is not ambiguous. */
export const notBegun = (node: string, once: boolean, reason: NodeReason, what: string): Error =>
  once ? new NotBegun(`Node "${node}" ${what}`, reason) : visitFailed(node, reason, what);

/** True for errors whose meaning the author chose: they reach the runtime as they are. */
export const hasMeaning = (error: unknown): boolean =>
  error instanceof Error && (["TerminalError", "RetryableError", "NotApplied"].includes(error.name) || ("reason" in error && typeof error.reason === "string"));

/** The throw of a function without outside effect. */
export function callbackFailed(node: string, error: unknown): unknown {
  return hasMeaning(error) ? error : new CallbackFailed(`Node "${node}" threw: ${messageOf(error)}`, { cause: error });
}
