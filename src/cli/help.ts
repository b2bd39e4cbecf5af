/** What the help of every command has in common. */

/** The block of examples at the end of a command's help. */
export function examples(program: string, lines: readonly string[]): string {
  return ["", "Examples:", ...lines.map((line) => `  ${program} ${line}`)].join("\n");
}
