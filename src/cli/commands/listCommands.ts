/** The commands that only read: `runs`, `show`, `decisions`, `effect list`. */
import type { EffectState } from "../../../persistence/store.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";
import type { DecisionsOptions, EffectsOptions, ListOptions, RunsOptions, ShowOptions } from "../program.ts";
import { decisionLines, effectLines, runLines, type ListContext } from "../render/lists.ts";
import { runPage } from "../render/runPage.ts";
import { reading } from "./state.ts";

export function listRuns(options: RunsOptions, environment: Environment): Promise<ExitCode> {
  return reading(environment, async (reader) => {
    const page = await reader.runs(
      { ...(options.state && { state: options.state }), ...(options.workflow !== undefined && { workflow: options.workflow }) },
      pageOf(options),
    );
    const again = ["runs", ...words({ "--state": options.state?.join(","), "--workflow": options.workflow }, options)];
    return show(environment, page, () => runLines(page, contextOf(environment, again)));
  });
}

export function showRun(run: string, { audit = false }: ShowOptions, environment: Environment): Promise<ExitCode> {
  return reading(environment, async (reader) => {
    const view = await reader.run(run);
    const audits = audit ? await Promise.all(view.decisions.map(({ id }) => reader.audit(id))) : [];
    return show(environment, audit ? { ...view, audits } : view, () => runPage(view, contextOf(environment, []), audits));
  });
}

export function listDecisions(options: DecisionsOptions, environment: Environment): Promise<ExitCode> {
  return reading(environment, async (reader) => {
    const state = options.state ?? (options.all ? undefined : (["open"] as const));
    const run = options.run === undefined ? undefined : (await reader.run(options.run)).id;
    const page = await reader.decisions({ ...(state && { state }), ...(run !== undefined && { run }) }, pageOf(options));
    const again = ["decisions", ...(options.all ? ["--all"] : []), ...words({ "--state": options.state?.join(","), "--run": options.run }, options)];
    return show(environment, page, () => decisionLines(page, contextOf(environment, again)));
  });
}

export function listEffects(options: EffectsOptions, environment: Environment): Promise<ExitCode> {
  return reading(environment, async (reader) => {
    const state: readonly EffectState[] | undefined = options.state ?? (options.all ? undefined : ["ambiguous"]);
    const run = options.run === undefined ? undefined : (await reader.run(options.run)).id;
    const page = await reader.effects({ ...(state && { state }), ...(run !== undefined && { run }) }, pageOf(options));
    const again = ["effect", "list", ...(options.all ? ["--all"] : []), ...words({ "--state": options.state?.join(","), "--run": options.run }, options)];
    return show(environment, page, () => effectLines(page, contextOf(environment, again)));
  });
}

function show(environment: Environment, value: unknown, lines: () => readonly string[]): ExitCode {
  environment.out(
    environment.json
      ? jsonLine(value)
      : lines()
          .map((line) => `${line}\n`)
          .join(""),
  );
  return exitCodes.completed;
}

/** What happened last is what a person looks for; older pages stand behind the cursor. */
const pageOf = ({ limit, cursor }: ListOptions): { limit?: number; cursor?: string; newest: true } => ({
  newest: true,
  ...(limit !== undefined && { limit }),
  ...(cursor !== undefined && { cursor }),
});

const contextOf = ({ clock, width, paint, command }: Environment, again: readonly string[]): ListContext => ({
  now: clock.now(),
  width: width(),
  paint,
  command,
  again,
});

/** The options that were given, as they were typed. */
function words(options: Readonly<Record<string, string | undefined>>, { limit }: ListOptions): readonly string[] {
  return Object.entries({ ...options, "--limit": limit?.toString() }).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}
