/** Drives one run until it ends, parks or is interrupted, telling of it and asking its decisions on the way. */
import { wrap } from "../text/cells.ts";
import { visibleLine } from "../text/visible.ts";
import type { DecisionView, EmbeddedHost, RunEvent, RunView } from "../host/api.ts";
import { exitCodeOfRun, exitCodes, isFinal, strayText, type ExitCode } from "./exitCodes.ts";
import type { Environment } from "./environment.ts";
import { jsonLine } from "./json.ts";
import { jsonReporter } from "./progress/jsonReporter.ts";
import { liveReporter } from "./progress/liveReporter.ts";
import { plainReporter } from "./progress/plainReporter.ts";
import type { Reporter } from "./progress/reporter.ts";
import { askDecision } from "./prompt/ask.ts";
import { nodeOf } from "./render/attention.ts";
import { isAskedHere, nextCommands } from "./render/next.ts";
import { outcomeLines } from "./render/outcome.ts";
import { localTime } from "./render/time.ts";
import { catchOutput } from "./workflowOutput.ts";

/** How driving ended; `left` says that the person went away from a question. */
type Driven = { readonly view: RunView; readonly stopped: "interrupt" | "end" | null };

/** Drives the run and tells how it stands at the end; gives the command's exit code. `early` gives, once, what happened to it before. */
export async function driveRun(host: EmbeddedHost, run: string, environment: Environment, early: () => readonly RunEvent[] = () => []): Promise<ExitCode> {
  const { interrupts } = environment;
  const reporter = reporterFor(environment);
  const goOn = environment.command("resume", run);
  const unsubscribe = host.subscribe((event) => {
    if (event.run === run) reporter.event(event);
  });
  for (const event of early()) reporter.event(event);
  const release = catchOutput([process.stdout, process.stderr], (line) => reporter.note(line));
  const sayStopping = (): void => {
    if (interrupts.isAbandoned()) return;
    const strayed = interrupts.strayed();
    if (strayed === null && !environment.embedded) return;
    if (strayed === null) return reporter.note("Stopping at the last saved step. Ctrl-C again stops at once; the run is safe either way.");
    reporter.note(`${visibleLine(strayText(strayed.error))} Stopping at the last saved step.`);
    if (environment.env["PAWL_DEBUG"] === "1" && strayed.error instanceof Error)
      for (const line of (strayed.error.stack ?? "").split("\n")) reporter.note(visibleLine(line));
  };
  interrupts.signal.addEventListener("abort", sayStopping);
  try {
    const lastWords = environment.embedded
      ? `\nStopped at once. The run is safe. Go on with: ${goOn}\n`
      : `\nLeft at once. The run goes on in its host. Watch it with: ${goOn}\n`;
    const driven = await interrupts.hold(lastWords, () => driveAndAsk(host, run, reporter, environment));
    const code = tell(driven, environment);
    if (driven.stopped === "interrupt" && environment.embedded && !environment.json) await tellUnsure(host, run, environment);
    return code;
  } finally {
    interrupts.signal.removeEventListener("abort", sayStopping);
    unsubscribe();
    release();
  }
}

function reporterFor(environment: Environment): Reporter {
  const { json, out, err, screen, clock, paint } = environment;
  if (json) return jsonReporter(out, err);
  return screen ? liveReporter(screen, clock, paint) : plainReporter(out, err);
}

async function driveAndAsk(host: EmbeddedHost, run: string, reporter: Reporter, environment: Environment): Promise<Driven> {
  const { signal } = environment.interrupts;
  for (;;) {
    reporter.begin(await host.run(run));
    let view: RunView;
    try {
      view = await host.drive(run, { signal });
    } catch (error) {
      reporter.end(await host.run(run));
      throw error;
    }
    reporter.end(view);
    if (isFinal(view.state)) return { view, stopped: null };
    if (signal.aborted) return { view, stopped: "interrupt" };
    const open = view.decisions.find((decision) => decision.state === "open");
    // Where no terminal may answer, asking here would only be refused.
    if (view.state !== "waiting" || !open || !isAskedHere(open) || !environment.terminal) return { view, stopped: null };
    const left = await ask(host, open, environment);
    if (left !== null) return { view: await host.run(run), stopped: left };
  }
}

/** Asks one decision; how the person left, or null when the run can go on. */
async function ask(host: EmbeddedHost, decision: DecisionView, environment: Environment): Promise<"interrupt" | "end" | null> {
  const { terminal, interrupts } = environment;
  if (!terminal) return null;
  const settled = new AbortController();
  const settle = (): void => settled.abort();
  const unsubscribe = host.subscribe((event) => {
    if (event.kind === "decision" && event.decision === decision.id && event.state !== "open") settle();
  });
  interrupts.signal.addEventListener("abort", settle);
  try {
    // It may have been settled between the drive and the subscription.
    if ((await host.decision(decision.id)).state !== "open") return null;
    const asked = await askDecision({ decision, settled: settled.signal, answer: (request) => host.answer(request) }, terminal, environment);
    if (interrupts.signal.aborted) return "interrupt";
    if (asked.kind === "left") return asked.by;
    if (asked.kind === "settled") say(environment, settledLine(await host.decision(decision.id), environment.clock.now()));
    return null;
  } finally {
    unsubscribe();
    interrupts.signal.removeEventListener("abort", settle);
  }
}

const say = ({ out, width }: Environment, text: string): void =>
  out(
    wrap(text, width())
      .map((line) => `${line}\n`)
      .join(""),
  );

/** Says how the run stands and what goes on with it; the exit code of the whole command. */
function tell({ view, stopped }: Driven, environment: Environment): ExitCode {
  const { json, out, clock, paint, command, embedded } = environment;
  const code = stopped === "interrupt" ? exitCodes.interrupted : exitCodeOfRun(view.state);
  if (json) out(jsonLine({ kind: "result", run: view, next: nextCommands(view, command).map((next) => next.command), exitCode: code }));
  else
    out(
      [
        "",
        ...outcomeLines(view, {
          now: clock.now(),
          width: environment.width(),
          paint,
          command,
          stopped: stopped === null ? false : embedded ? "stopped" : "left",
        }),
      ]
        .map((line) => `${line}\n`)
        .join(""),
    );
  return code;
}

/** Work that may happen once only and was cut off: whether it happened nobody knows yet. */
async function tellUnsure(host: EmbeddedHost, run: string, environment: Environment): Promise<void> {
  const { items } = await host.effects({ run, state: ["attempting"] });
  for (const effect of items.filter(({ once }) => once))
    say(environment, `${nodeOf(effect)} was cut off and may be done once only: its outcome may be unknown. When the run goes on that is found out, or asked.`);
}

/** What settled a decision that was being asked. */
function settledLine(decision: DecisionView, now: number): string {
  const at = localTime(decision.settledAt ?? now, now);
  switch (decision.state) {
    case "open":
      return `Decision ${decision.code} is still open.`;
    case "accepted":
      return `Decision ${decision.code} was answered meanwhile: ${visibleLine(decision.choice ?? "")}, at ${at}.`;
    case "defaulted":
      return `The deadline of decision ${decision.code} has passed: its default ${visibleLine(decision.choice ?? "")} holds since ${at}.`;
    case "expired":
      return `Decision ${decision.code} expired at ${at}.`;
    case "cancelled":
      return `Decision ${decision.code} was withdrawn at ${at}.`;
  }
}
