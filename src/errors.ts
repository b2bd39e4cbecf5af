/** Errors that a person can meet. Match on `code`, never on the class: two copies of the package may meet.
 *  A message says what happened, to which thing, and what to do; it never carries secrets or raw workflow input. */

/** How the command line ends for an error of this kind; see SPEC 14. */
export type ErrorKind = "usage" | "refused" | "environment" | "internal";

/** Every code that Pawl's own errors carry, with its kind. Stable from the first release. */
export const errorKinds = {
  // usage: the request itself is wrong, nothing was changed
  invalidInput: "usage",
  invalidWorkflow: "usage",
  unknownWorkflow: "usage",
  loadFailed: "usage",
  unknownRun: "usage",
  unknownActor: "usage",
  unknownDecision: "usage",
  unknownEffect: "usage",
  unknownMachine: "usage",
  invalidMachine: "usage",
  invalidValue: "usage",
  // refused: a right request at a wrong time or by the wrong one
  keyReused: "refused",
  refused: "refused",
  stale: "refused",
  cascadeLimit: "refused",
  alreadyDecided: "refused",
  humanOnly: "refused",
  cancelled: "refused",
  aborted: "refused",
  timedOut: "refused",
  // environment: the machine or the state directory stands in the way
  ownedElsewhere: "environment",
  storageFull: "environment",
  storageReadOnly: "environment",
  storageDamaged: "environment",
  storageForeign: "environment",
  storageNewer: "environment",
  storageFailed: "environment",
  nodeTooOld: "environment",
  restoreRefused: "environment",
  sourceUnloadable: "environment",
  workerUnavailable: "environment",
  hostUnavailable: "environment",
  configurationRefused: "environment",
  protocolMismatch: "environment",
  // internal: a bug in Pawl or in author code reached the edge
  conflict: "internal",
  stepLost: "internal",
  closed: "internal",
  protocolBroken: "internal",
  internal: "internal",
} as const satisfies Record<string, ErrorKind>;

export type PawlErrorCode = keyof typeof errorKinds;

/** An error with a stable code. `subject` is the id of the thing it happened to; `path` the wrong field of a bad input. */
export class PawlError extends Error {
  readonly code: PawlErrorCode;
  readonly subject: string | undefined;
  readonly path: string | undefined;

  constructor(code: PawlErrorCode, message: string, details: { subject?: string; path?: string; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "PawlError";
    this.code = code;
    this.subject = details.subject;
    this.path = details.path;
  }

  get kind(): ErrorKind {
    return errorKinds[this.code];
  }
}

/** True for a Pawl error of any copy of the package. */
export function isPawlError(error: unknown): error is PawlError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && Object.hasOwn(errorKinds, error.code);
}

/** Characters of a reason that are kept (SPEC 5), in UTF-16 units. */
const longestMessage = 8192;

/** The message of anything that was thrown, as text that can be stored and shown; never throws itself. */
export function messageOf(error: unknown): string {
  return storable(thrownText(error));
}

/** The message of anything that was thrown as a sentence: whoever goes on after it sets no full stop. */
export function sentenceOf(error: unknown): string {
  return asSentence(messageOf(error));
}

export const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Well-formed text without NUL, cut between characters where it is too long. */
function storable(text: string): string {
  const short = text.length > longestMessage ? `${text.slice(0, longestMessage - 40)} … (${text.length - longestMessage + 40} more characters)` : text;
  // Half of a pair at the cut, and what came in broken, becomes the replacement character.
  return short.toWellFormed().replaceAll("\0", "\\u{0}");
}

/** A thrown object that is no error: its message where it has one, else what it is made of; its values may be anybody's secrets. */
function thrownObjectText(thrown: object): string {
  if ("message" in thrown && typeof thrown.message === "string" && thrown.message !== "") return thrown.message;
  const keys = Object.keys(thrown).slice(0, 10);
  return `An object that is no Error was thrown${keys.length > 0 ? `, with ${keys.join(", ")}` : ""}.`;
}

function thrownText(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === "object" && error !== null ? thrownObjectText(error) : String(error);
    if (error.message !== "") return error.message;
    return error instanceof AggregateError && error.errors.length > 0 ? error.errors.map((each) => thrownText(each)).join("; ") : error.name;
  } catch {
    return "Something was thrown that cannot be shown.";
  }
}
