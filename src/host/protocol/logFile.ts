/** The file of a host's log, opened by the host and by who starts it. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";

/** Opens it for appending; a pipe or a device that stands there would hold up whoever opens it. @throws when it is no file, or cannot be written */
export function openLogFile(path: string): number {
  const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants;
  const file = openSync(path, O_APPEND | O_CREAT | O_NONBLOCK | O_WRONLY, 0o600);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error(`${path} is no file`);
}
