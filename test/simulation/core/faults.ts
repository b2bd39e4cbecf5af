/** Everything that goes wrong in simulated worlds, by name: each must really have happened, often, or holding all rules proves nothing. */
export const faultKinds = [
  "crash",
  "crash before a commit",
  "crash after a commit",
  "graceful stop",
  "directory taken over",
  "disk full",
  "disk write error",
  "disk sync error",
  "store answers out of order",
  "clock set back",
  "clock set forward",
  "request sent again",
  "answer lost",
  "effect fails",
  "effect fails for good",
  "effect wants to be tried later",
  "effect says that nothing happened",
  "effect ends after it was told to stop",
  "nobody can tell whether it happened",
  "looking whether it happened fails",
  "start repeated",
  "decision answered again",
  "decision answered late",
  "decision answered wrongly",
  "run paused",
  "run resumed",
  "conversation taken back",
  "run moved to another session",
  "session refused",
  "worker lost before its work",
  "worker lost in the middle of its work",
  "worker lost before its result was heard",
  "worker lost with several visits",
  "attempt's process lost",
  "connection cut",
  "connection cut in the middle of a line",
  "line arrived in pieces",
  "line overtaken by one of another connection",
  "request lost on its way",
  "answer lost on its way",
  "request delivered again",
  "client gone",
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** How often each happened. */
export type FaultCounts = { readonly [kind in FaultKind]?: number };

export function addFaults(one: FaultCounts, other: FaultCounts): FaultCounts {
  const sum: { [kind in FaultKind]?: number } = { ...one };
  for (const kind of faultKinds) if (other[kind] !== undefined) sum[kind] = (sum[kind] ?? 0) + other[kind];
  return sum;
}

/** `crash 120, disk full 14, …`, those that never happened too. */
export const faultsText = (counts: FaultCounts): string => faultKinds.map((kind) => `${kind} ${counts[kind] ?? 0}`).join(", ");
