/** What `npm pack` makes, used as a person uses it: in a node_modules outside the clone. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { filesUnder, root } from "./source.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-pack-"));
const installed = join(folder, "user/node_modules/pawl");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command to its end. @throws with what it printed, when it fails. */
function run(command: string, args: readonly string[], cwd: string, more: NodeJS.ProcessEnv = {}): string {
  const child = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 120_000,
    env: { ...process.env, PAWL_HOME: join(folder, "state"), PAWL_EMBEDDED: "1", ...more },
  });
  if (child.status !== 0)
    throw new Error(`${command} ${args.join(" ")} exits ${child.status ?? child.signal}\n${child.stdout}${child.stderr}${child.error?.message ?? ""}`);
  return child.stdout;
}

beforeAll(() => {
  // Packing builds dist/, which must not happen in the tree that other tests are reading.
  const clone = join(folder, "clone");
  mkdirSync(clone);
  for (const name of readdirSync(root)) {
    if (![".git", "node_modules", "dist", "coverage", "test"].includes(name)) cpSync(join(root, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  run("npm", ["pack", "--pack-destination", folder], clone);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  mkdirSync(installed, { recursive: true });
  run("tar", ["-xzf", join(folder, tarball), "-C", installed, "--strip-components=1"], folder);
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!name.startsWith(".")) symlinkSync(join(root, "node_modules", name), join(dirname(installed), name));
  }
}, 180_000);

test("HOUSE-15 the package holds the compiled tree with its SQL, and neither sources nor tests", () => {
  expect(existsSync(join(installed, "dist/src/index.js"))).toBe(true);
  expect(existsSync(join(installed, "dist/src/index.d.ts"))).toBe(true);
  expect(readdirSync(join(installed, "dist/persistence/sql"))).toEqual(
    filesUnder("persistence/sql", /\.sql$/).map((path) => path.replace("persistence/sql/", "")),
  );
  expect(readdirSync(installed).sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "dist", "docs", "examples", "package.json", "src"]);
  expect(new Set(readdirSync(join(installed, "src"), { recursive: true, encoding: "utf8" }))).toEqual(new Set(["cli", "cli/bin.js"]));
});

test("HOUSE-15 its command runs and says its version", () => {
  const bin = join(installed, "src/cli/bin.js");
  const { version } = z.looseObject({ version: z.string() }).parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  expect(run(process.execPath, [bin, "--version"], folder)).toContain(version);
  expect(run(process.execPath, [bin, "runs", "--json"], folder)).toContain("[]");
});

test("HOUSE-15 a run goes on in a host that the compiled command starts", () => {
  const bin = join(installed, "src/cli/bin.js");
  const user = join(folder, "user");
  const hosted = { PAWL_EMBEDDED: "", PAWL_HOST_IDLE_MS: "60000" };
  writeFileSync(
    join(user, "one.workflow.ts"),
    `import { z } from "zod";\nimport { compute, workflow } from "pawl";\nexport default workflow({ name: "one", input: z.object({}) }).node("only", compute(() => "from a worker")).build();\n`,
  );
  try {
    expect(run(process.execPath, [bin, "run", "one.workflow.ts"], user, hosted)).toContain("from a worker");
    expect(JSON.parse(run(process.execPath, [bin, "host", "status", "--json"], user, hosted))).toMatchObject({ running: true });
  } finally {
    run(process.execPath, [bin, "host", "stop"], user, hosted);
  }
});

test("HOUSE-15 each of its entries can be imported from a program beside it", () => {
  const program = join(folder, "user/program.mjs");
  const entries = ["pawl", "pawl/machines", "pawl/persistence", "pawl/testing"];
  writeFileSync(program, `for (const name of ${JSON.stringify(entries)}) console.log(name, Object.keys(await import(name)).length > 0);`);
  expect(run(process.execPath, [program], join(folder, "user")).trim().split("\n")).toEqual(entries.map((name) => `${name} true`));
});
