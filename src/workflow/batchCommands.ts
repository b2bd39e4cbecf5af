/** The commands of a batch as they are stored, and what is wrong with those that cannot be. */
import { z } from "zod";

export const batchLimits = { commands: 256, concurrency: 32 } as const;

const text = z.string().refine((value) => !value.includes("\0"), "it holds a NUL character");

/** A command as the author gives it. */
const Given = z.strictObject({
  command: text.min(1, "name a program"),
  args: z.array(text).optional(),
  shell: z.boolean().optional(),
  cwd: text.min(1, "name a directory, or leave it out").optional(),
  env: z.record(z.string().regex(/^[^=\0]+$/, "no name of a variable"), text.optional()).optional(),
  stdin: z.string().optional(),
});

const Commands = z.array(Given).max(batchLimits.commands, `at most ${batchLimits.commands} commands`);

/** A command ready to run, as the row of its batch holds it; a null in `env` takes a variable away. */
export interface StoredCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | null;
  readonly env: { readonly [name: string]: string | null };
  readonly stdin: string | null;
}

/** The commands, or what is wrong with the first wrong one: `commands[3].args: …`. */
export function storedCommands(given: unknown): { readonly commands: readonly StoredCommand[] } | { readonly problem: string } {
  const parsed = Commands.safeParse(given);
  if (parsed.success) return { commands: parsed.data.map(stored) };
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  return { problem: `commands${path}: ${issue?.message ?? "wrong"}` };
}

function stored({ command, args = [], shell, cwd, env = {}, stdin }: z.infer<typeof Given>): StoredCommand {
  return {
    ...(shell === true ? { command: "/bin/sh", args: ["-c", command, "sh", ...args] } : { command, args }),
    cwd: cwd ?? null,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? null])),
    stdin: stdin ?? null,
  };
}
