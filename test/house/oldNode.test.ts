/** What a person sees whose own Node is too old: the sentence, not a crash. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./source.ts";

const bin = join(root, "src/cli/bin.js");

/** A Node below 22 on this machine, if there is one. */
function oldNode(): string | undefined {
  const candidates = [process.env["PAWL_OLD_NODE"], "/usr/local/bin/node", "/usr/bin/node"];
  return candidates.find((path) => {
    if (path === undefined || !existsSync(path)) return false;
    const major = /^v(\d+)\./.exec(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout)?.[1];
    return major !== undefined && Number(major) < 22;
  });
}

const old = oldNode();

test.skipIf(old === undefined)("HOUSE-12 a real old Node gets the sentence and exit code 4", () => {
  const child = spawnSync(old ?? "", [bin, "runs"], { encoding: "utf8" });
  expect(child.stderr).toMatch(/Node 22\.19 or newer is needed, this is Node \d+\.\d+\.\d+/);
  expect(child.stdout).toBe("");
  expect(child.status).toBe(4);
});

/** Runs the command under this Node, which says that it is another version. */
function runAs(version: string, args: readonly string[]) {
  const disguise = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
  return spawnSync(process.execPath, ["--import", disguise, bin, ...args], { encoding: "utf8" });
}

test.each(["14.21.3", "20.20.2", "22.18.9"])("HOUSE-12 Node %s is refused: what happened, where, what to do", (version) => {
  const child = runAs(version, ["runs"]);
  expect(child.stderr).toContain(`Node 22.19 or newer is needed, this is Node ${version}`);
  expect(child.stderr).toContain(process.execPath);
  expect(child.stderr).toMatch(/npm|install/);
  expect(child.status).toBe(4);
});

test("HOUSE-12 with --json the refusal is JSON with its code", () => {
  const child = runAs("20.20.2", ["runs", "--json"]);
  expect(JSON.parse(child.stderr)).toMatchObject({ error: { code: "nodeTooOld" } });
  expect(child.status).toBe(4);
});

test.each(["22.19.0", "24.0.0", "100.1.0"])("HOUSE-12 Node %s is not refused", (version) => {
  const child = runAs(version, ["--help"]);
  expect(child.stderr).not.toContain("or newer is needed");
  expect(child.status).toBe(0);
});
