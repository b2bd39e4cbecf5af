/** What steps publish and tell, as lines: progress with a bar where its total is known, its rate and the time that is left. Pure. */
import type { ProgressView, UpdateView } from "../../host/api.ts";
import { cellWidth, truncate } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import { duration } from "../render/time.ts";

const barCells = 20;
const narrowBarCells = 8;

/** One line of at most `width` cells; facts give way from the end where there is no room. */
export function progressLine(progress: ProgressView, width: number): string {
  const name = [progress.label, progress.phase].filter((text) => text !== undefined && text !== "").join(": ");
  const head = visibleLine(name);
  const facts = [countOf(progress), statusOf(progress), rateOf(progress), remainingOf(progress)].filter((fact) => fact !== "");
  for (const cells of [barCells, narrowBarCells, 0])
    for (let kept = facts.length; kept >= Math.min(1, facts.length); kept -= 1) {
      const line = [head, barOf(progress, cells), ...facts.slice(0, kept)].filter((part) => part !== "").join("  ");
      if (cellWidth(line) <= width) return line;
    }
  return truncate([...facts.slice(0, 1), head].filter((part) => part !== "").join("  "), Math.max(1, width));
}

/** An update of any other type: its name and the beginning of its data. */
export function updateLine({ type, key, data, progress }: UpdateView, width: number): string {
  if (progress !== null) return progressLine(progress, width);
  const name = key === "main" ? type : `${type} ${key}`;
  return truncate(`${visibleLine(name)}  ${visibleLine(JSON.stringify(data) ?? "null")}`, Math.max(1, width));
}

function barOf({ completed, total }: ProgressView, cells: number): string {
  if (cells === 0 || completed === undefined || total === undefined) return "";
  const full = Math.floor(Math.min(1, completed / total) * cells);
  return `[${"#".repeat(full)}${".".repeat(cells - full)}]`;
}

function countOf({ completed, total, unit }: ProgressView): string {
  if (completed === undefined) return "";
  const of = total === undefined ? "" : `/${figure(total)}`;
  return `${figure(completed)}${of}${unit === undefined ? "" : ` ${visibleLine(unit)}`}`;
}

const statusOf = ({ status }: ProgressView): string => (status === undefined || status === "running" ? "" : status);

function rateOf({ perSecond, unit }: ProgressView): string {
  if (perSecond === null) return "";
  const [value, per] = perSecond >= 1 ? [perSecond, "s"] : perSecond * 60 >= 1 ? [perSecond * 60, "min"] : [perSecond * 3_600, "h"];
  return `${figure(value)}${unit === undefined ? "" : ` ${visibleLine(unit)}`}/${per}`;
}

const remainingOf = ({ remainingMs }: ProgressView): string => (remainingMs === null ? "" : `${duration(remainingMs)} left`);

/** At most three digits of a fraction's worth: `12`, `3.4`, `0.07`. */
const figure = (value: number): string => (Number.isInteger(value) || value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2))));
