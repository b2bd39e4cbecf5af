/** Progress on a terminal: a block of lines that is redrawn in place while the run is driven. */
import type { Clock } from "../../runtime/clock.ts";
import type { RunEvent, RunView } from "../../host/api.ts";
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { Paint } from "../render/style.ts";
import { frameLines } from "./frame.ts";
import { livePainter, type PaintTarget } from "./livePainter.ts";
import { advance, isOpen, progressOf, type Progress } from "./progress.ts";
import type { Reporter } from "./reporter.ts";

const tickMs = 1_000;
/** Events that come together become one frame. */
const settleMs = 50;

export interface LiveScreen extends PaintTarget {
  readonly rows: number;
}

export function liveReporter(screen: LiveScreen, clock: Clock, paint: Paint): Reporter {
  const painter = livePainter(screen);
  let progress: Progress | null = null;
  let cancelNext = (): void => {};
  let nextAt = Number.POSITIVE_INFINITY;
  /** Visits that an earlier block shows as over. */
  const told = new Set<string>();
  /** Notes that came while nobody may write: a question is being asked. */
  let waiting: string[] = [];

  const draw = (): void => {
    if (!progress) return;
    // One cell less than the terminal has: a full line would leave its cursor between two lines.
    const size = { width: Math.max(1, screen.columns - 1), height: Math.max(1, screen.rows - 1) };
    painter.draw(frameLines(progress, clock.now(), size, paint));
    stop();
    next(tickMs);
  };
  const next = (inMs: number): void => {
    const at = clock.now() + inMs;
    if (at >= nextAt) return;
    stop();
    nextAt = at;
    cancelNext = clock.schedule(at, draw);
  };
  const stop = (): void => {
    cancelNext();
    nextAt = Number.POSITIVE_INFINITY;
  };
  const fresh = (view: RunView): Progress => {
    const whole = progressOf(view);
    return { ...whole, visits: whole.visits.filter((visit) => !told.has(visit.visit)) };
  };

  return {
    begin(view) {
      progress = fresh(view);
      for (const line of waiting.splice(0)) this.note(line);
      draw();
    },
    event(event: RunEvent) {
      if (event.kind === "notification") {
        const [first = "", ...more] = event.text.split("\n").map(visibleLine);
        this.note(`${visibleLine(event.node)}: ${first}`);
        for (const line of more) this.note(`  ${line}`);
        return;
      }
      if (!progress) return;
      progress = advance(progress, event);
      next(settleMs);
    },
    note(line) {
      if (progress) painter.above(wrap(line, Math.max(1, screen.columns - 1)));
      else waiting = [...waiting, line].slice(-100);
    },
    end(view) {
      const last = fresh(view);
      progress = last;
      draw();
      stop();
      painter.release();
      for (const visit of last.visits) if (!isOpen(visit)) told.add(visit.visit);
      progress = null;
    },
  };
}
