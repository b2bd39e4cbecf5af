import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lastLogLines } from "../../src/client/startHost.ts";
import { listen } from "../../src/host/daemon/listen.ts";
import { openLogFile } from "../../src/host/protocol/logFile.ts";
import { makeDirectory } from "../../src/makeDirectory.ts";

function folder(): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "pawl-place-")));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("CLIENT-26 a state directory is made with those above it, and one that cannot be is refused at once", () => {
  const home = join(folder(), "a", "b");
  makeDirectory(home);
  makeDirectory(home);
  expect(existsSync(home)).toBe(true);
  writeFileSync(join(home, "file"), "");
  expect(() => makeDirectory(join(home, "file", "below"))).toThrow(/ENOTDIR|EEXIST/);
  // Node's own recursive way never comes back from there.
  if (process.platform === "linux") expect(() => makeDirectory("/proc/pawl/state")).toThrow(/ENOENT/);
});

test("CLIENT-26 a pipe that stands where the log goes holds nobody up", () => {
  const home = folder();
  execFileSync("mkfifo", [join(home, "host.log")]);
  expect(() => openLogFile(join(home, "host.log"))).toThrow(/ENXIO|is no file/);
  expect(lastLogLines(home)).toBe("");
});

test("HOST-51 what stands where the socket goes and is none is refused by name, and stays", async () => {
  const home = folder();
  writeFileSync(join(home, "host.sock"), "keep");
  await expect(listen(home, () => undefined)).rejects.toMatchObject({ code: "storageFailed", message: expect.stringContaining("is no socket") });
  expect(readFileSync(join(home, "host.sock"), "utf8")).toBe("keep");
  rmSync(join(home, "host.sock"));
  mkdirSync(join(home, "host.sock"));
  await expect(listen(home, () => undefined)).rejects.toMatchObject({ code: "storageFailed" });
});
