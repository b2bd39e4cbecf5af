/** A state directory and workflows of a test's own, and the real command run on them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPty, personEnvironment, type Pty, type PtyOptions } from "./pty.ts";

export const bin = fileURLToPath(new URL("../../src/cli/bin.js", import.meta.url));

const approval = `
import { z } from "zod";
import { choices, compute, humanDecision, shell, text, workflow } from "pawl";

const plan = choices({
  go: { label: "Build it" },
  stop: { label: "Stop here" },
  replan: { label: "Change the plan", input: text("What should change?", { min: 3, max: 40 }) },
});

const input = z.object({ task: z.string(), seconds: z.string().default("0"), deadlineMs: z.number().nullable().default(null) });

export default workflow({ name: "approval", input })
  .later("approve", plan)
  .node("prepare", shell({ command: "/bin/sh", args: ({ input }) => ["-c", "echo preparing; sleep " + input.seconds + "; echo prepared"] }), "approve")
  .node(
    "approve",
    humanDecision({
      audience: "operator",
      choices: plan,
      request: ({ input, results }) => {
        const before = results.approve;
        const remark = before?.status === "accepted" && before.output.choice === "replan" ? before.output.input : "none";
        return {
          title: "Approve " + input.task,
          subject: { task: input.task },
          presentation: { summary: "The plan for " + input.task, blocks: [{ kind: "fields", fields: [{ label: "Remark", value: JSON.stringify(remark) }] }, { kind: "bullets", items: Array.from({ length: 30 }, (_, i) => "item-" + i) }] },
        };
      },
      onTimeout: ({ input }) => (input.deadlineMs === null ? undefined : { afterMs: input.deadlineMs, response: { choice: "stop" } }),
    }),
    { go: "build", stop: "stopped", replan: "prepare" },
  )
  .node("build", compute(({ input }) => {
    console.log("\\u001b[2J\\u001b]0;owned\\u0007said by a step");
    return { built: input.task };
  }))
  .node("stopped", compute(() => ({ status: "stopped" as const })))
  .build();
`;

export interface Fixture {
  readonly folder: string;
  readonly home: string;
  /** The command without a terminal, as a pipe or a program runs it. */
  piped(args: readonly string[], env?: NodeJS.ProcessEnv): { readonly code: number | null; readonly out: string; readonly err: string };
  /** The command at a terminal. */
  terminal(args: readonly string[], options?: Partial<PtyOptions>): Pty;
  /** A command line that was printed, at a terminal. */
  typed(line: string): Pty;
  remove(): void;
}

export function fixture(): Fixture {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl-cli-")));
  const home = join(folder, "home");
  writeFileSync(join(folder, "approval.workflow.ts"), approval);
  const env = personEnvironment({ PAWL_HOME: home, HOME: folder });
  const open: Pty[] = [];
  const keep = (pty: Pty): Pty => {
    open.push(pty);
    return pty;
  };
  return {
    folder,
    home,
    piped(args, added = {}) {
      const child = spawnSync(process.execPath, [bin, ...args], { cwd: folder, env: { ...env, ...added }, encoding: "utf8", input: "" });
      return { code: child.status, out: child.stdout, err: child.stderr };
    },
    terminal: (args, options = {}) =>
      keep(
        openPty([process.execPath, bin, ...args], {
          cwd: folder,
          env: { ...env, ...options.env },
          ...(options.columns !== undefined && { columns: options.columns }),
        }),
      ),
    typed: (line) => keep(openPty(["/bin/sh", "-c", line.replace(/^node /, `${process.execPath} `)], { cwd: folder, env })),
    remove() {
      for (const pty of open) pty.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
