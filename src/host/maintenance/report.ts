/** What `pawl doctor` finds, as data. */

/** `fault`: something is wrong. `stuck`: it stands still until somebody acts. `note`: good to know. */
export type Severity = "note" | "stuck" | "fault";

export interface Finding {
  readonly severity: Severity;
  /** Id of the thing; null for the state directory as a whole. */
  readonly subject: string | null;
  /** Sentences for a person. */
  readonly what: string;
  /** What frees it, each the words behind `pawl`; empty when the sentences say what to do. */
  readonly commands: readonly (readonly string[])[];
}

export type CheckName = "directory" | "channels" | "integrity" | "rows" | "index" | "blobs" | "restore" | "runs" | "replay";

export interface Check {
  readonly name: CheckName;
  /** What was looked at: `12 runs`. */
  readonly looked: string;
  readonly findings: readonly Finding[];
}

export interface DoctorReport {
  /** State directory. */
  readonly home: string;
  /** Process that owns it now; null when none does. */
  readonly owner: number | null;
  readonly checks: readonly Check[];
  /** The worst of all findings; `ok` when there are none, or notes only. */
  readonly verdict: "ok" | "stuck" | "fault";
}

export const finding = (severity: Severity, subject: string | null, what: string, ...commands: readonly (readonly string[])[]): Finding => ({
  severity,
  subject,
  what,
  commands,
});

/** `1 run`, `3 runs`. */
export const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

export function verdictOf(checks: readonly Check[]): DoctorReport["verdict"] {
  const severities = new Set(checks.flatMap(({ findings }) => findings).map(({ severity }) => severity));
  return severities.has("fault") ? "fault" : severities.has("stuck") ? "stuck" : "ok";
}
