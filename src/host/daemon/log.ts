/** The host's log: one JSON object a line in `<home>/host.log`, private, rotated by size. It names ids and codes only: never input, output,
 *  variables or what code prints. HOST-58, HOST-59. */
import { appendFileSync, closeSync, fchmodSync, fstatSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../runtime/clock.ts";
import { openLogFile } from "../protocol/logFile.ts";

export const logFileName = "host.log";

/** Bytes from which on a new file is begun, and files in all. */
export const rotateBytes = 1024 * 1024;
export const keptFiles = 3;

export type LogLevel = "info" | "warn" | "error";

/** What a line may hold besides its time, level and event: short words and numbers. */
export type LogFields = Readonly<Record<string, string | number>>;

export interface HostLog {
  write(level: LogLevel, event: string, fields?: LogFields): void;
  close(): void;
}

const longestField = 1_000;

export function openLog(home: string, clock: Pick<Clock, "now">): HostLog {
  const path = join(home, logFileName);
  let file: number | null = null;
  let size = 0;
  const begin = (): void => {
    file = openLogFile(path);
    fchmodSync(file, 0o600); // one that was copied here may be open to others
    size = fstatSync(file).size;
  };
  const rotate = (): void => {
    if (file !== null) closeSync(file);
    file = null;
    rmSync(olderLog(path, keptFiles - 1), { force: true });
    for (let n = keptFiles - 2; n >= 0; n -= 1) if (exists(olderLog(path, n))) renameSync(olderLog(path, n), olderLog(path, n + 1));
  };
  return {
    write(level, event, fields = {}) {
      const short = Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? value.slice(0, longestField) : value]);
      const line = `${JSON.stringify({ at: new Date(clock.now()).toISOString(), level, event, ...Object.fromEntries(short) })}\n`;
      try {
        if (file === null) begin();
        if (size > 0 && size + line.length > rotateBytes) {
          rotate();
          begin();
        }
        if (file !== null) appendFileSync(file, line);
        size += Buffer.byteLength(line);
      } catch {
        // A full disk must not end the host; what is stored says how the runs stand.
      }
    },
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/** The n-th older file of a log; 0 is the log itself. */
export const olderLog = (path: string, n: number): string => (n === 0 ? path : `${path}.${n}`);

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
