/** The commands that look after a state directory, their options and their help. What they do stands in commands/. */
import { InvalidArgumentError, type Command } from "commander";
import { examples } from "./help.ts";

export interface PruneOptions {
  /** Milliseconds. */
  readonly olderThan?: number;
  readonly keep?: number;
  readonly dryRun?: boolean;
}

export type MaintenanceRequest =
  /** `replay`: true for all runs, or one run. */
  | { readonly command: "doctor"; readonly options: { readonly replay?: string | true } }
  | { readonly command: "prune"; readonly options: PruneOptions }
  | { readonly command: "export"; readonly run: string | undefined; readonly options: { readonly to: string } }
  | { readonly command: "reset" };

export function addMaintenanceCommands(root: Command, program: string, found: (request: MaintenanceRequest) => void): void {
  root
    .command("doctor")
    .description("look at everything stored and say what is wrong or stands still, each with the command that frees it; changes nothing")
    .option("--replay [run]", "derive the journals again, of one run or of all, and name the first difference")
    .addHelpText("after", `${exitCodesHelp}\n${examples(program, ["doctor", "doctor --json", "doctor --replay", "doctor --replay 8B9C0D"])}`)
    .action((options: { replay?: string | true }) => found({ command: "doctor", options }));
  root
    .command("prune")
    .description("remove finished runs with all that belongs to them, and give their space back")
    .option("--older-than <duration>", "only runs that ended longer ago: 30d, 12h, 90m", duration)
    .option("--keep <n>", "only runs beyond the newest n finished ones", wholeNumber)
    .option("--dry-run", "say what would go, and change nothing")
    .addHelpText("after", examples(program, ["prune --older-than 30d --dry-run", "prune --older-than 30d", "prune --keep 100"]))
    .action((options: PruneOptions) => found({ command: "prune", options }));
  root
    .command("export [run]")
    .description("copy the whole state, or one run, into a database file of its own; works beside a running Pawl")
    .requiredOption("--to <file>", "the file to make")
    .addHelpText("after", examples(program, ["export --to backup.db", "export 8B9C0D --to run.db"]))
    .action((run: string | undefined, options: { to: string }) => found({ command: "export", run, options }));
  root
    .command("reset")
    .description("put the state directory aside, whole, and begin with an empty one")
    .requiredOption("--backup", "move it, delete nothing (the only way there is)")
    .addHelpText("after", examples(program, ["reset --backup"]))
    .action(() => found({ command: "reset" }));
}

const exitCodesHelp = `
Exit codes:
  0    nothing is wrong and nothing stands still
  3    something stands still until somebody acts
  4    something is wrong`;

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `30d` in ms. */
function duration(text: string): number {
  const [, number, unit] = /^([0-9]{1,6})([smhdw])$/.exec(text) ?? [];
  if (number === undefined || unit === undefined || !isUnit(unit)) throw new InvalidArgumentError("Give a whole number with its unit: 30d, 2w, 12h, 90m, 45s.");
  return Number(number) * units[unit];
}

const isUnit = (text: string): text is keyof typeof units => Object.hasOwn(units, text);

function wholeNumber(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError("Give a whole number, 0 or more.");
  return Number(text);
}
