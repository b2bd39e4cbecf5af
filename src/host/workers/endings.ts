/** How a worker process ended, in words for people. */

/** What is known of an end; all of it may come together. */
export interface Ending {
  readonly code?: number | null;
  readonly signal?: string | null;
  /** What it, or the host, said was wrong before. */
  readonly lastWords?: string;
  /** It was killed because it had been silent so long. */
  readonly blockedMs?: number;
  readonly outOfMemory?: boolean;
  /** The first line with an error that it wrote while it started. */
  readonly said?: string;
}

/** Node's own words before it gives up. */
export const sayOutOfMemory = (line: string): boolean => /FATAL ERROR:.*(?:out of memory|Allocation failed)/.test(line);

export function howItEnded({ code, signal, lastWords, blockedMs, outOfMemory }: Ending, { memoryMb }: { readonly memoryMb: number | null }): string {
  if (outOfMemory) return memoryMb === null ? "it ran out of memory" : `it ran out of memory (its limit is ${memoryMb} MiB)`;
  if (blockedMs !== undefined) return `it blocked its event loop for ${blockedMs} ms and was ended; long work must await, or run in a process of its own`;
  if (lastWords !== undefined) return lastWords.replace(/\.$/, "");
  if (signal === "SIGKILL") return "it was ended by SIGKILL, by somebody or by the system for lack of memory";
  if (typeof signal === "string") return `it was ended by ${signal}`;
  return `it ended with exit code ${code ?? "unknown"}`;
}
