/** `npm start [-- /path/to/a/repository]`: makes a small repository to check unless one is given, and runs the release check on it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const clone = fileURLToPath(new URL("../..", import.meta.url));
const [given, ...options] = process.argv.slice(2);
const repo = given === undefined || given.startsWith("-") ? sampleRepository(join(clone, ".pawl-sample")) : resolve(process.env.INIT_CWD ?? ".", given);
const passed = given?.startsWith("-") ? [given, ...options] : options;

// In this very process: a parent that waits would be ended by Ctrl-C and give the terminal back while the run is still stopping.
const bin = join(clone, "src/cli/bin.js");
process.argv = [
  process.execPath,
  bin,
  "run",
  "--embedded",
  join(clone, "examples/release-check/release-check.workflow.ts"),
  "--input",
  JSON.stringify({ repo }),
  ...passed,
];
await import(bin);

/** A repository with a tag, a few commits after it, and tests that take some seconds. */
function sampleRepository(path) {
  if (existsSync(join(path, ".git"))) return path;
  mkdirSync(path, { recursive: true });
  const git = (...args) =>
    execFileSync(
      "git",
      ["-c", "user.name=Sample", "-c", "user.email=sample@localhost", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", ...args],
      { cwd: path, stdio: "pipe" },
    );
  const commit = (file, text, message) => {
    writeFileSync(join(path, file), text);
    git("add", "--all");
    git("commit", "--quiet", "--message", message);
  };
  git("init", "--quiet");
  commit(
    "package.json",
    `${JSON.stringify({ name: "sample", version: "1.2.0", private: true, scripts: { test: "node --test" } }, null, 2)}\n`,
    "Begin the sample",
  );
  commit("ratchet.js", "export const next = (tooth) => tooth + 1;\n", "Add the ratchet");
  git("tag", "v1.2.0");
  commit(
    "ratchet.test.js",
    'const { test } = require("node:test");\nconst assert = require("node:assert");\ntest("a ratchet goes forward", async () => {\n  const { next } = await import("./ratchet.js");\n  await new Promise((done) => setTimeout(done, 2000));\n  assert.equal(next(1), 2);\n});\n',
    "Test that it goes forward",
  );
  commit("README.md", "# Sample\n\nA ratchet that never slips back.\n", "Say what it is for");
  commit(".gitignore", "node_modules/\n", "Ignore what is installed");
  return path;
}
