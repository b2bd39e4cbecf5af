/** `pawl doctor`, `prune`, `export` and `reset`. The host is loaded only here, so that help and version start fast and work without its native part. */
import { resolve } from "node:path";
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import type { MaintenanceRequest } from "../maintenance.ts";
import { doctorPage } from "../render/doctorPage.ts";
import { withoutHost } from "./hostCommands.ts";
import { prunePage } from "../render/prunePage.ts";

type OptionsOf<C extends MaintenanceRequest["command"]> = Extract<MaintenanceRequest, { readonly command: C; readonly options: unknown }>["options"];

const codeOfVerdict = { ok: exitCodes.completed, stuck: exitCodes.parked, fault: exitCodes.environment } as const;

export async function doctor({ replay }: OptionsOf<"doctor">, environment: Environment): Promise<ExitCode> {
  const { home, clock } = environment;
  const { examine } = await import("../../host/maintenance/doctor.ts");
  const report = await examine({ home, clock, ...(replay === undefined ? {} : { replay: replay === true ? "" : replay }) });
  show(environment, report, () => doctorPage(report, { ...environment, width: environment.width() }));
  return codeOfVerdict[report.verdict];
}

export async function prune({ olderThan, keep, dryRun }: OptionsOf<"prune">, environment: Environment): Promise<ExitCode> {
  const { home, clock } = environment;
  if (dryRun !== true) await withoutHost(environment);
  const { pruneRuns } = await import("../../host/maintenance/prune.ts");
  const report = await pruneRuns({
    home,
    clock,
    ...(olderThan === undefined ? {} : { olderThanMs: olderThan }),
    ...(keep === undefined ? {} : { keep }),
    ...(dryRun === undefined ? {} : { dryRun }),
  });
  show(environment, report, () => prunePage(report, environment));
  return exitCodes.completed;
}

export async function exportCopy(run: string | undefined, { to }: OptionsOf<"export">, environment: Environment): Promise<ExitCode> {
  const { home, cwd } = environment;
  const { exportState } = await import("../../host/maintenance/export.ts");
  const report = await exportState({ home, to: resolve(cwd, to), ...(run === undefined ? {} : { run }) });
  const what = report.run === null ? "The whole state" : `Run ${report.run}`;
  show(environment, report, () => [
    `${what} is in ${visibleLine(report.path)} (${report.bytes} bytes).`,
    "To open it, put it into an empty directory as pawl.db and give that directory as --home.",
  ]);
  return exitCodes.completed;
}

export async function reset(environment: Environment): Promise<ExitCode> {
  const { home } = environment;
  await withoutHost(environment);
  const { resetState } = await import("../../host/maintenance/reset.ts");
  const report = resetState(home);
  show(environment, report, () =>
    report.movedTo === null
      ? [`There is nothing at ${visibleLine(home)}: the next command begins with an empty state directory.`]
      : [
          `${visibleLine(home)} stands at ${visibleLine(report.movedTo)} now, whole. The next command begins with an empty state directory.`,
          `To go back: remove the new one, and move it back.`,
        ],
  );
  return exitCodes.completed;
}

function show({ json, out, width }: Environment, report: unknown, lines: () => readonly string[]): void {
  out(
    json
      ? jsonLine(report)
      : lines()
          // What is indented is a command or fits already.
          .flatMap((line) => (line.startsWith("  ") ? [line] : wrap(line, width())))
          .map((line) => `${line}\n`)
          .join(""),
  );
}
