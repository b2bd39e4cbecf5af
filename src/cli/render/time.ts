/** Times as people read them. All inputs in ms. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A length of time, at most two units: `0.4s`, `12s`, `2m 04s`, `3h 20m`, `24d 19h`. Negative counts as none. */
export function duration(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 9.95 * second) return `${(length / second).toFixed(1)}s`;
  const whole = Math.round(length / second) * second;
  if (whole < minute) return `${whole / second}s`;
  if (whole < hour) return `${Math.floor(whole / minute)}m ${pad(Math.floor((whole % minute) / second))}s`;
  if (whole < day) return `${Math.floor(whole / hour)}h ${pad(Math.floor((whole % hour) / minute))}m`;
  return `${Math.floor(whole / day)}d ${Math.floor((whole % day) / hour)}h`;
}

/** A length of time in its largest unit, rounded down: `5s`, `3m`, `2h`, `9d`. */
export function age(ms: number): string {
  const length = Math.max(0, ms);
  if (length < minute) return `${Math.floor(length / second)}s`;
  if (length < hour) return `${Math.floor(length / minute)}m`;
  if (length < day) return `${Math.floor(length / hour)}h`;
  return `${Math.floor(length / day)}d`;
}

/** The person's own local time: `14:02:07`, with the date in front when it is another day than `now`. */
export function localTime(at: number, now: number): string {
  const date = new Date(at);
  const today = new Date(now);
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return date.toDateString() === today.toDateString() ? time : `${localDate(date)} ${time}`;
}

/** For lines that other programs keep: `2030-01-01T12:04:31Z`. */
export const utcSecond = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

const localDate = (date: Date): string => `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;

const pad = (value: number): string => String(value).padStart(2, "0");
