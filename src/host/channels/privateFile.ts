/** A file of private configuration: only this user may have written it, and only they may read it. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { messageOf, PawlError } from "../../errors.ts";
import { shellWord } from "../../text/shellWord.ts";

/** Bytes; what people write by hand is far smaller. */
const sizeLimit = 1024 * 1024;
const othersBits = 0o077;

export interface PrivateText {
  readonly text: string;
  /** Changes with each change of the file. */
  readonly version: string;
}

/** Null when there is no such file. @throws configurationRefused for a link, another owner, a looser mode, what is no file, and what is too large */
export function readPrivateFile(path: string): PrivateText | null {
  let fd: number;
  try {
    // Looked at through the open file: what is checked is what is read.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    if (codeOf(error) === "ELOOP") throw refused(path, "it is a link. Put the file itself there");
    throw refused(path, `it cannot be read: ${messageOf(error)}`);
  }
  try {
    const { uid, mode, size, mtimeMs, ino } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refused(path, "it is no file. Remove what stands there");
    if (process.getuid !== undefined && uid !== process.getuid()) throw refused(path, "it belongs to another user. Make it your own");
    if ((mode & othersBits) !== 0)
      throw refused(path, `others may read or change it (mode ${(mode & 0o777).toString(8).padStart(4, "0")}). Run: chmod 600 ${shellWord(path)}`);
    if (size > sizeLimit) throw refused(path, `it has ${size} bytes; the limit is ${sizeLimit}`);
    return { text: readFileSync(fd, "utf8"), version: `${ino} ${size} ${mtimeMs}` };
  } finally {
    closeSync(fd);
  }
}

const refused = (path: string, why: string): PawlError =>
  new PawlError("configurationRefused", `The private configuration ${path} is not used: ${why}.`, { subject: path });

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
