/** Runs the real command at a real terminal. The pseudo-terminal comes from `script`, which every Linux (util-linux) and macOS has; nothing needs to be installed. */
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { shellWord } from "../../src/text/shellWord.ts";
import { nonHumanVariables } from "../../src/cli/environment.ts";
import { emulator } from "./emulator.ts";

export interface PtyOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
}

export interface Pty {
  /** Types keys: `\r` is Enter, `\u0003` Ctrl-C, `\u0004` Ctrl-D. */
  type(keys: string): void;
  /** Waits until the output after what the last `waitFor` found holds the text; fails after 15 s, showing the screen. */
  waitFor(text: string): Promise<void>;
  /** What the terminal shows, scrolled-away lines included. */
  lines(): readonly string[];
  raw(): string;
  /** Exit code of the command. */
  readonly exit: Promise<number>;
  /** Ends what is left of it. */
  close(): void;
}

const patienceMs = 15_000;

/** The environment of a person's own shell: without what npm and agents put there. Runs are driven in the command's own process unless a test says otherwise. */
export function personEnvironment(added: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("npm_") && !name.startsWith("VITEST") && !nonHumanVariables.some((other) => other === name),
  );
  return { ...Object.fromEntries(own), TERM: "xterm-256color", NO_COLOR: "1", TZ: "UTC", PAWL_EMBEDDED: "1", ...added };
}

export function openPty(command: readonly string[], { cwd, env, columns = 120, rows = 24 }: PtyOptions): Pty {
  const line = `stty cols ${columns} rows ${rows}; exec ${command.map(shellWord).join(" ")}`;
  const args = process.platform === "darwin" ? ["-q", "/dev/null", "/bin/sh", "-c", line] : ["-qfec", line, "/dev/null"];
  const child = spawn("script", args, { cwd, env: { ...env, SHELL: "/bin/sh" }, stdio: ["pipe", "pipe", "inherit"] });
  const screen = emulator(columns, rows);
  const decoder = new TextDecoder();
  let raw = "";
  let seen = 0;
  let wake = (): void => {};
  child.stdout.on("data", (bytes: Uint8Array) => {
    const text = decoder.decode(bytes, { stream: true });
    raw += text;
    wake();
  });
  // script itself may go before what was typed to it is read.
  child.stdin.on("error", () => {});
  const exit = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  void exit.then(() => wake());
  let written = 0;
  const lines = (): readonly string[] => {
    // A sequence of which only a part has come waits for the rest.
    const end = raw.length - (/\u001b(?:\[[?0-9;]*)?$/.exec(raw)?.[0].length ?? 0);
    screen.write(raw.slice(written, end));
    written = end;
    return screen.lines();
  };
  return {
    type: (keys) => void child.stdin.write(keys),
    async waitFor(text) {
      const until = Date.now() + patienceMs;
      for (;;) {
        const plain = stripVTControlCharacters(raw);
        const at = plain.indexOf(text, seen);
        if (at >= 0) {
          seen = at + text.length;
          return;
        }
        if (Date.now() > until || child.exitCode !== null) throw new Error(`"${text}" did not come. The terminal showed:\n${lines().join("\n")}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, 200);
        });
      }
    },
    lines,
    raw: () => raw,
    exit,
    close: () => void child.kill("SIGKILL"),
  };
}
