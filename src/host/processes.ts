/** Process groups of shell steps: how one is recognised again after a crash of the host, and how it is ended.
 *  Rules EFFECT-10 to EFFECT-14; why it is done so: docs/decisions/0008-process-groups.md. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { ProcessRecord } from "../../persistence/store.ts";
import { systemClock } from "../runtime/clock.ts";

/** From TERM to KILL, and from KILL to giving up: together the 2 s that a cancel may take. */
const termGraceMs = 1_000;
const killGraceMs = 900;
const pollMs = 25;

interface ProcessStat {
  readonly pid: number;
  readonly pgid: number;
  readonly session: number;
  /** Start time in the system's own unit, comparable within one boot; null where only Linux has it. */
  readonly startedAt: number | null;
}

const onLinux = process.platform === "linux";

/** Waits in real time: processes live in it even where the runtime's clock is a fake one. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.schedule(systemClock.now() + ms, resolve));
}

/** Waits for a promise, but no longer than `ms`; leaves no timer behind. */
export function within(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = systemClock.schedule(systemClock.now() + ms, resolve);
    promise.then(() => resolve(), reject).finally(cancel);
  });
}

/** Parses /proc/<pid>/stat; null for a zombie, which is dead and only not yet collected. */
function parseStat(text: string): ProcessStat | null {
  // The command name stands in parentheses and may hold spaces and parentheses itself: the fields begin after the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const state = fields[0] ?? "X";
  if (state === "Z" || state === "X") return null;
  return { pid: Number.parseInt(text, 10), pgid: Number(fields[2]), session: Number(fields[3]), startedAt: Number(fields[19]) };
}

function readStat(pid: number | string): ProcessStat | null {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return null; // it ended between being listed and being read
  }
}

let boot: string | undefined;

/** Constant while the machine runs. A container may hide it: then the start times alone must tell processes apart. */
function bootId(): string {
  if (boot !== undefined) return boot;
  try {
    boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    boot = "unknown";
  }
  return boot;
}

function ps(...args: readonly string[]): string {
  try {
    return execFileSync("ps", args, { encoding: "utf8", env: { ...process.env, LC_ALL: "C", TZ: "UTC" }, stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return ""; // ps answers "no such process" by its exit code
  }
}

/**
 * What tells the process with this number from a later one that got the same number; null when there is none.
 * Linux: boot id and start time in clock ticks; elsewhere what `ps` calls its start.
 */
export function startTokenOf(pid: number): string | null {
  if (!onLinux) return ps("-o", "lstart=", "-p", String(pid)).trim() || null;
  const stat = readStat(pid);
  return stat === null ? null : `${bootId()}:${stat.startedAt}`;
}

/** The living processes of a group; on Linux of its whole session, since a shell with job control opens further groups in it. */
function membersOf(pgid: number): readonly ProcessStat[] {
  if (onLinux) {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => readStat(name) ?? [])
      .filter((stat) => stat.pgid === pgid || stat.session === pgid);
  }
  return ps("-axo", "pid=,pgid=,stat=")
    .split("\n")
    .flatMap((line) => {
      const [pid, group, state = "Z"] = line.trim().split(/\s+/);
      return Number(group) === pgid && !state.startsWith("Z") ? [{ pid: Number(pid), pgid, session: pgid, startedAt: null }] : [];
    });
}

/** Numbers of the processes of a group (and its session) that are alive. */
export function livingMembers(pgid: number): readonly number[] {
  return membersOf(pgid).map((member) => member.pid);
}

function signal(target: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(target, name);
  } catch {
    // Gone already, or not ours to signal: the caller looks at who is alive, not at this.
  }
}

function signalGroup(pgid: number, name: "SIGTERM" | "SIGKILL"): void {
  signal(-pgid, name);
  for (const member of membersOf(pgid)) if (member.pgid !== pgid) signal(member.pid, name);
}

/** Groups that this process has started and not yet seen the end of. */
const begun = new Set<number>();

/** Remembers a group that this process started, until the returned function is called. */
export function watchGroup(pgid: number): () => void {
  begun.add(pgid);
  return () => begun.delete(pgid);
}

/** Kills, without waiting, every group that this process started: for a process that ends this moment. */
export function killGroups(): void {
  for (const pgid of begun) signalGroup(pgid, "SIGKILL");
}

/** Kills the group and session that this process leads, itself last. */
export function killOwnGroup(): void {
  for (const pid of livingMembers(process.pid)) if (pid !== process.pid) signal(pid, "SIGKILL");
  signal(process.pid, "SIGKILL");
}

/** Waits until a group has no living process; false when some remain after `ms`. */
export async function groupGone(pgid: number, ms: number): Promise<boolean> {
  for (const until = systemClock.now() + ms; ;) {
    if (membersOf(pgid).length === 0) return true;
    if (systemClock.now() >= until) return false;
    await pause(pollMs);
  }
}

/**
 * Ends a process group: TERM, after a second KILL. Takes at most 2 s.
 * Returns the numbers of those that are alive even then (waiting in the kernel, or of another user).
 */
export async function endGroup(pgid: number): Promise<readonly number[]> {
  // 0 and 1 would mean our own group and everybody's.
  if (!Number.isSafeInteger(pgid) || pgid <= 1) throw new RangeError(`${pgid} is not the number of a process group`);
  if (membersOf(pgid).length === 0) return [];
  signalGroup(pgid, "SIGTERM");
  if (await groupGone(pgid, termGraceMs)) return [];
  for (const until = systemClock.now() + killGraceMs; systemClock.now() < until;) {
    // Again each time: one that was just being forked has missed the last signal.
    signalGroup(pgid, "SIGKILL");
    if (await groupGone(pgid, pollMs)) return [];
  }
  return livingMembers(pgid);
}

/** True when what lives under this group number is what was recorded, not a later group with the same number. */
export function isLeftOver(record: ProcessRecord): boolean {
  const members = membersOf(record.pgid);
  if (members.length === 0) return false;
  if (members.some((member) => member.pid === record.pgid)) return startTokenOf(record.pgid) === record.startToken;
  if (!onLinux) return true;
  // The leader is gone. The kernel does not give its number to another process while a group bears it,
  // so these are its children, unless the group had vanished before: then they would belong to another session or boot.
  const [boot = "", started = ""] = record.startToken.split(":");
  return boot === bootId() && members.every((member) => member.session === record.pgid && (member.startedAt ?? 0) >= Number(started));
}

/** Ends what is left of an earlier attempt's group, if anything is. Returns the numbers of those that could not be ended. */
export async function endLeftOver(record: ProcessRecord): Promise<readonly number[]> {
  return isLeftOver(record) ? endGroup(record.pgid) : [];
}
