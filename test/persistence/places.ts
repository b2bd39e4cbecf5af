/** Places on disk for the tests of storage: temporary directories, small and read-only file systems, and child processes. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** A new directory, gone when the test is over. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), "pawl-store-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Mounting takes root, and not every container lets even root do it. */
export const canMount = ((): boolean => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const path = mkdtempSync(join(tmpdir(), "pawl-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", path], { stdio: "ignore" });
    execFileSync("umount", [path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
})();

/** A file system of its own, of this many KiB. */
export function smallFileSystem(kib: number): string {
  const path = join(temporaryDirectory(), "small");
  mkdirSync(path);
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k,mode=700`, "tmpfs", path]);
  onTestFinished(() => void execFileSync("umount", ["-l", path]));
  return path;
}

export const remount = (path: string, options: string): void => void execFileSync("mount", ["-o", `remount,${options}`, path]);

export interface Child {
  readonly pid: number;
  /** Lines it has printed. */
  readonly lines: string[];
  /** The next line that satisfies; rejects when the process ends before. */
  line(wanted: (line: string) => boolean): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly errors: string }>;
}

/** Starts a script of test/persistence/children with this Node. */
export function startChild(script: string, args: readonly string[], options: { uid?: number } = {}): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, "children", script), ...args], { stdio: ["ignore", "pipe", "pipe"], ...options });
  const lines: string[] = [];
  let errors = "";
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  child.stderr.on("data", (data) => {
    errors += String(data);
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; errors: string }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, errors })),
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: (signal) => void child.kill(signal),
    line: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find(wanted);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`the child ended first: ${errors}`)));
      }),
  };
}
