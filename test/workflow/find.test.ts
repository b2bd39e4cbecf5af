import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { closestNames } from "../../src/text/closest.ts";
import { everyWorkflow, findWorkflow, listWorkflows, resolveWorkflow } from "../../src/workflow/find.ts";
import { directoryWith, errorOf } from "./files.ts";

function place(files: readonly string[]) {
  const directory = directoryWith(Object.fromEntries(files.map((file) => [file, ""])));
  mkdirSync(join(directory, "project/deep"), { recursive: true });
  return { directory, places: { cwd: join(directory, "project"), home: join(directory, "home"), builtIn: join(directory, "builtin") } };
}

describe("finding a workflow by name", () => {
  test("WF-44 the project's comes before the user's, and that before the built-in one", () => {
    const { directory, places } = place([
      "project/.pi/workflows/a.workflow.ts",
      "home/.pi/agent/workflows/a.workflow.mts",
      "home/.pi/agent/workflows/b.workflow.js",
      "builtin/b.workflow.ts",
      "builtin/c.workflow.mjs",
      "builtin/c.workflow.json",
      "builtin/readme.ts",
    ]);
    expect(listWorkflows(places)).toEqual([
      { name: "a", file: join(directory, "project/.pi/workflows/a.workflow.ts"), origin: "project" },
      { name: "b", file: join(directory, "home/.pi/agent/workflows/b.workflow.js"), origin: "user" },
      { name: "c", file: join(directory, "builtin/c.workflow.mjs"), origin: "builtIn" },
    ]);
    expect(findWorkflow("b", places).file).toBe(join(directory, "home/.pi/agent/workflows/b.workflow.js"));
  });

  test("WF-46 every file of every place is listed, with what hides it", () => {
    const { directory, places } = place([
      "project/.pi/workflows/a.workflow.ts",
      "project/.pi/workflows/a.workflow.js",
      "project/.pi/workflows/resume.workflow.ts",
      "home/.pi/agent/workflows/a.workflow.mts",
      "home/.pi/agent/workflows/b.workflow.js",
    ]);
    const first = join(directory, "project/.pi/workflows/a.workflow.ts");
    expect(everyWorkflow(places).map(({ name, origin, hiddenBy, isReserved }) => [name, origin, hiddenBy, isReserved])).toEqual([
      ["a", "project", null, false],
      ["resume", "project", null, true],
      ["a", "project", first, false],
      ["a", "user", first, false],
      ["b", "user", null, false],
    ]);
    expect(listWorkflows(places).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("WF-46 a link in a circle, and a directory that is named like a file, are no workflows and spoil no other", async () => {
    const { directory, places } = place(["project/.pi/workflows/good.workflow.ts", "project/.pi/workflows/folder.workflow.ts/x"]);
    const circle = join(directory, "project/.pi/workflows/self.workflow.ts");
    symlinkSync("self.workflow.ts", circle);
    expect(everyWorkflow(places).map(({ name }) => name)).toEqual(["good"]);
    expect(findWorkflow("good", places).name).toBe("good");
    expect((await errorOf(() => resolveWorkflow(circle, places))).code).toBe("unknownWorkflow");
  });

  test("WF-46 a file that is named like a command cannot be started by its name, and its path is told", async () => {
    const { directory, places } = place(["project/.pi/workflows/resume.workflow.ts"]);
    const file = join(directory, "project/.pi/workflows/resume.workflow.ts");
    const error = await errorOf(() => findWorkflow("resume", places));
    expect([error.code, error.message]).toEqual(["unknownWorkflow", expect.stringContaining(`Rename ${file}, or give its path: ${file}`)]);
    expect(resolveWorkflow(file, places)).toBe(file);
  });

  test("WF-44 of two files with one name the TypeScript one is found", () => {
    const { directory, places } = place(["project/.pi/workflows/a.workflow.js", "project/.pi/workflows/a.workflow.ts"]);
    expect(findWorkflow("a", places).file).toBe(join(directory, "project/.pi/workflows/a.workflow.ts"));
  });

  test("WF-44 from a directory inside a repository the project's are found, beyond the repository nothing is", async () => {
    const inside = place(["project/.git/HEAD", "project/.pi/workflows/a.workflow.ts"]);
    expect(findWorkflow("a", { ...inside.places, cwd: join(inside.directory, "project/deep") }).name).toBe("a");
    const beyond = place([".pi/workflows/a.workflow.ts", "project/.git/HEAD"]);
    expect((await errorOf(() => findWorkflow("a", beyond.places))).code).toBe("unknownWorkflow");
    const outside = place([".pi/workflows/a.workflow.ts"]);
    expect((await errorOf(() => findWorkflow("a", outside.places))).code).toBe("unknownWorkflow");
  });

  test("WF-45 an unknown name lists the closest ones and where was looked", async () => {
    const { directory, places } = place(["project/.pi/workflows/release.workflow.ts", "builtin/monitor.workflow.ts"]);
    const error = await errorOf(() => findWorkflow("relaese", places));
    expect({ code: error.code, message: error.message.replaceAll(directory, "<dir>") }).toEqual({
      code: "unknownWorkflow",
      message:
        'There is no workflow "relaese". Did you mean release? Looked for relaese.workflow.ts (or .mts, .js, .mjs) in: <dir>/project/.pi/workflows, <dir>/home/.pi/agent/workflows, <dir>/builtin. A path works too: ./path/to/file.workflow.ts. See those with a name: `pawl workflows`',
    });
    expect((await errorOf(() => findWorkflow("xyz", places))).message).toContain("There are: release, monitor.");
    expect((await errorOf(() => findWorkflow("xyz", { cwd: directory, home: directory }))).message).toContain("No workflow was found at all. Looked for");
  });

  test("WF-45 a path is taken as it is; one that is not there names the closest beside it", async () => {
    const { directory, places } = place(["project/.pi/workflows/a.workflow.ts", "project/ship.workflow.ts", "project/plain.ts"]);
    expect(resolveWorkflow("a", places)).toBe(join(directory, "project/.pi/workflows/a.workflow.ts"));
    expect(resolveWorkflow("./ship.workflow.ts", places)).toBe(join(directory, "project/ship.workflow.ts"));
    expect(resolveWorkflow("plain.ts", places)).toBe(join(directory, "project/plain.ts"));
    expect(resolveWorkflow(join(directory, "project/plain.ts"), places)).toBe(join(directory, "project/plain.ts"));
    const error = await errorOf(() => resolveWorkflow("./shop.workflow.ts", places));
    expect(error.message.replaceAll(directory, "<dir>")).toBe(
      "There is no workflow file <dir>/project/shop.workflow.ts. Did you mean <dir>/project/ship.workflow.ts?",
    );
  });
});

describe("file names", () => {
  const message = async (files: readonly string[], typed: string): Promise<string> => {
    const { directory, places } = place(files);
    return (await errorOf(() => resolveWorkflow(typed, places))).message.replaceAll(directory, "<dir>");
  };

  test("WF-45 a mistyped bare file name is taken as a file, with the closest here and among the named", async () => {
    expect(await message(["project/publish.workflow.ts"], "publsh.workflow.ts")).toBe(
      "There is no workflow file <dir>/project/publsh.workflow.ts. Did you mean <dir>/project/publish.workflow.ts?",
    );
    expect(await message(["project/.pi/workflows/publish.workflow.ts"], "publsh.workflow.ts")).toContain("<dir>/project/.pi/workflows/publish.workflow.ts?");
    expect(await message(["project/other.workflow.ts"], "publsh.workflow.ts")).toContain("There are: <dir>/project/other.workflow.ts.");
  });

  test("WF-45 a directory that is called like a workflow file is told as one, and is none", async () => {
    const files = ["project/x.workflow.ts/readme.md", "project/.pi/workflows/y.workflow.ts/readme.md"];
    expect(await message(files, "x.workflow.ts")).toBe("<dir>/project/x.workflow.ts is a directory, not a workflow file.");
    expect(await message(files, "y")).toContain('There is no workflow "y". No workflow was found at all.');
  });
});

describe("closest names", () => {
  test("WF-45 swaps, misses and other letters are found, other words are not", () => {
    expect(closestNames("relaese", ["release", "monitor"])).toEqual(["release"]);
    expect(closestNames("Monitor", ["monitor"])).toEqual(["monitor"]);
    expect(closestNames("x", ["a", "b"])).toEqual([]);
    expect(closestNames("approve", ["approved", "improve", "build"])).toEqual(["approved", "improve"]);
  });
});
