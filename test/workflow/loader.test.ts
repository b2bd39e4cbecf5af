import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createActor } from "xstate";
import { z } from "zod";
import { loadStoredWorkflow, loadWorkflow } from "../../src/workflow/loader.ts";
import { materialise } from "../../src/workflow/identity.ts";
import { executeNode } from "../../src/workflow/execute.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { directoryWith, errorOf, writeFiles } from "./files.ts";
import { contextFor } from "./contexts.ts";

const minimal = `import { workflow, compute } from "pawl";
import { z } from "zod";
export default workflow({ name: "minimal", input: z.object({ n: z.number() }) })
  .node("double", compute(({ input }) => input.n * 2))
  .build();
`;

async function goldenError(files: { readonly [path: string]: string }, file = "w.workflow.ts"): Promise<{ code: unknown; text: string }> {
  const directory = directoryWith(files);
  const error = await errorOf(() => loadWorkflow(join(directory, file)));
  return { code: error.code, text: error.message.replaceAll(directory, "<dir>") };
}

describe("loading", () => {
  test.each(["ts", "mts", "js", "mjs"])("WF-40 a .%s file outside of any package loads with the running Pawl, zod and xstate", async (extension) => {
    const directory = directoryWith({
      [`w.workflow.${extension}`]: `${minimal.replace('"zod";', '"zod";\nimport * as pawl from "pawl";\nimport { createActor } from "xstate";')}\nexport { z, pawl, createActor };`,
    });
    const { definition } = await loadWorkflow(join(directory, `w.workflow.${extension}`));
    expect(definition.name).toBe("minimal");
    expect(definition.input).toBeInstanceOf(z.ZodObject);
    expect(await executeNode(definition, "double", contextFor(definition, "double", { input: { n: 4 } }), fakeClock())).toEqual({ case: "done", value: 8 });
  });

  test("WF-40 the same modules are shared with workflow files", async () => {
    const directory = directoryWith({
      "w.workflow.ts": `${minimal}(globalThis as any).pawlTestShared = { z, workflow, createActor: (await import("xstate")).createActor };`,
    });
    await loadWorkflow(join(directory, "w.workflow.ts"));
    const shared: unknown = Reflect.get(globalThis, "pawlTestShared");
    Reflect.deleteProperty(globalThis, "pawlTestShared");
    const { workflow } = await import("../../src/workflow/authoring.ts");
    expect(shared).toEqual({ z, workflow, createActor });
    expect(Reflect.get(Object(shared), "z")).toBe(z);
  });

  test("WF-41 a file is loaded again when it or one of its imports has changed, and only then", async () => {
    const directory = directoryWith({
      "w.workflow.ts": minimal.replace('"minimal"', "name").replace("export", 'import { name } from "./name.js";\nexport'),
      "name.js": 'export const name = "first";',
    });
    const first = await loadWorkflow(join(directory, "w.workflow.ts"));
    writeFiles(directory, { "name.js": 'export const name = "second";' });
    const second = await loadWorkflow(join(directory, "w.workflow.ts"));
    expect([first.definition.name, second.definition.name]).toEqual(["first", "second"]);
    expect(first.sources.digest).not.toBe(second.sources.digest);
    expect((await loadWorkflow(join(directory, "w.workflow.ts"))).definition).toBe(second.definition);
    rmSync(join(directory, "name.js"));
    await expect(loadWorkflow(join(directory, "w.workflow.ts"))).rejects.toMatchObject({ code: "loadFailed" });
  });

  test("WF-42 TypeScript that only a transform can run loads, and every style of import", async () => {
    const directory = directoryWith({
      "w.workflow.ts": `import { workflow, compute, type Choice } from "pawl";
import { z } from "zod";
import data, { type Data } from "./data.json" with { type: "json" };
import { helper } from "./lib/helper.js";
import * as everything from "./lib/index.ts";
import common from "./common.cjs";
import { basename } from "node:path";
import { join as joined } from "path";
enum Size { small = "s", big = "b" }
class Box { constructor(private readonly size: Size) {} get() { return this.size; } }
const top = await Promise.resolve("awaited");
export default workflow({ name: "styles", input: z.object({}) })
  .node("all", compute(async () => {
    const lazy = await import("./lazy.ts");
    return { data: data.value, helper: helper(), keys: Object.keys(everything).sort(), common: common.answer, size: new Box(Size.big).get(), top, lazy: lazy.default, base: basename("/a/b"), joined: joined("a", "b"), url: import.meta.url.startsWith("file:///"), dir: import.meta.dirname };
  }))
  .build();
`,
      "data.json": '{ "value": 7 }',
      "lib/helper.ts": 'import { other } from "./index.ts";\nexport const helper = () => other();\nexport const mark = "helper";',
      "lib/index.ts": 'export * from "./helper.ts";\nexport const other = () => "cycle";',
      "common.cjs": 'const path = require("node:path");\nmodule.exports = { answer: path.sep + require("./deep.cjs") };',
      "deep.cjs": "module.exports = 42;",
      "lazy.ts": 'export default "lazy" satisfies string;',
    });
    const { definition, sources } = await loadWorkflow(join(directory, "w.workflow.ts"));
    const { value } = await executeNode(definition, "all", contextFor(definition, "all", { input: {} }), fakeClock());
    expect(value).toEqual({
      data: 7,
      helper: "cycle",
      keys: ["helper", "mark", "other"],
      common: "/42",
      size: "b",
      top: "awaited",
      lazy: "lazy",
      base: "b",
      joined: "a/b",
      url: true,
      dir: directory,
    });
    expect(sources.manifest.files.map(({ path }) => path)).toEqual([
      "common.cjs",
      "data.json",
      "deep.cjs",
      "lazy.ts",
      "lib/helper.ts",
      "lib/index.ts",
      "w.workflow.ts",
    ]);
  });

  test("WF-42 a module that several visits import at once is whole for each of them", async () => {
    const directory = directoryWith({
      "w.workflow.ts": minimal.replace("input.n * 2", 'import("./slow.ts").then(({ parts }) => parts.length + input.n)'),
      "slow.ts": 'import { one } from "./one.ts";\nawait new Promise((resolve) => setTimeout(resolve, 20));\nexport const parts = [one, "two"];',
      "one.ts": 'export const one = "one";',
    });
    const { definition } = await loadWorkflow(join(directory, "w.workflow.ts"));
    const visits = [1, 2, 3].map((n) => executeNode(definition, "double", contextFor(definition, "double", { input: { n } }), fakeClock()));
    expect(await Promise.all(visits)).toEqual([3, 4, 5].map((value) => ({ case: "done", value })));
  });

  test("WF-42 a file behind a symbolic link imports what lies beside the real one", async () => {
    const directory = directoryWith({
      "real/w.workflow.ts": minimal.replace("export", 'import "./beside.ts";\nexport'),
      "real/beside.ts": "export {};",
      "links/.keep": "",
    });
    symlinkSync(join(directory, "real/w.workflow.ts"), join(directory, "links/w.workflow.ts"));
    expect((await loadWorkflow(join(directory, "links/w.workflow.ts"))).definition.name).toBe("minimal");
  });
});

describe("what cannot be loaded", () => {
  test("WF-43 broken TypeScript names file, line and column", async () => {
    expect(await goldenError({ "w.workflow.ts": minimal.replace("input.n * 2", "input.n *") })).toEqual({
      code: "loadFailed",
      text: `Cannot load workflow w.workflow.ts (<dir>/w.workflow.ts:4:51): Unexpected token.

  2 | import { z } from "zod";
  3 | export default workflow({ name: "minimal", input: z.object({ n: z.number() }) })
> 4 |   .node("double", compute(({ input }) => input.n *))
    |                                                   ^
  5 |   .build();`,
    });
  });

  test("WF-43 a broken import is shown in the file that is broken", async () => {
    expect(
      await goldenError({
        "w.workflow.ts": minimal.replace("export", 'import "./helper.ts";\nexport'),
        "helper.ts": "export const a = 1;\nexport const b = {;\n",
      }),
    ).toEqual({
      code: "loadFailed",
      text: `Cannot load workflow w.workflow.ts (<dir>/helper.ts:2:19): Unexpected token.

  1 | export const a = 1;
> 2 | export const b = {;
    |                   ^
  3 |`,
    });
  });

  test("WF-43 code that throws while loading names the line of the author's source", async () => {
    expect(
      await goldenError({
        "w.workflow.ts": `interface Long {\n  a: string;\n}\nconst config: Long | undefined = undefined;\n${minimal}console.log(config!.a);\n`,
      }),
    ).toEqual({
      code: "loadFailed",
      text: `Cannot load workflow w.workflow.ts (<dir>/w.workflow.ts:10:21): TypeError was thrown while it loaded: Cannot read properties of undefined (reading 'a')

   8 |   .node("double", compute(({ input }) => input.n * 2))
   9 |   .build();
> 10 | console.log(config!.a);
     |                     ^
  11 |`,
    });
  });

  test("WF-43 an import that leads nowhere names the line that imports", async () => {
    expect(await goldenError({ "w.workflow.ts": minimal.replace("export", 'import { x } from "./nowhere.ts";\nx();\nexport') })).toEqual({
      code: "loadFailed",
      text: `Cannot load workflow w.workflow.ts (<dir>/w.workflow.ts:3:20): Cannot find "./nowhere.ts", which is imported here.

  1 | import { workflow, compute } from "pawl";
  2 | import { z } from "zod";
> 3 | import { x } from "./nowhere.ts";
    |                    ^
  4 | x();`,
    });
    expect((await goldenError({ "w.workflow.ts": minimal.replace('"zod"', '"zodd"') })).text).toContain(
      '(<dir>/w.workflow.ts:2:20): Cannot find "zodd", which is imported here.',
    );
  });

  test("WF-43 a workflow that breaks the rules names file and node", async () => {
    expect(await goldenError({ "w.workflow.ts": minimal.replace("* 2))", '* 2), "tripel")\n  .node("triple", compute(() => 3))') })).toEqual({
      code: "invalidWorkflow",
      text: `<dir>/w.workflow.ts:6:4: Workflow "minimal" cannot be built: node "double" goes to "tripel" (its target), but no node is named so. Did you mean "triple"?`,
    });
  });

  test.each([
    ["nothing exported", minimal.replace("export default", "void"), "has no default export. Write: export default workflow({ … }) … .build();"],
    [
      "a named export",
      minimal.replace("export default", "export const ship ="),
      'exports its workflow as "ship". Make it the default export: export default ship;',
    ],
    ["not built", minimal.replace("\n  .build()", ""), "exports a workflow that was not built. End it with .build()."],
    ["an object", "export default {};", "exports an object as its default, which is no workflow. Write: export default workflow({ … }) … .build();"],
    ["a function", "export default () => 1;", "exports a function as its default, which is no workflow. Write: export default workflow({ … }) … .build();"],
    ["null", "export default null;", "exports null as its default, which is no workflow. Write: export default workflow({ … }) … .build();"],
  ])("WF-43 a file whose default is no workflow says what to write: %s", async (_name, text, message) => {
    expect(await goldenError({ "w.workflow.ts": text })).toEqual({ code: "loadFailed", text: `<dir>/w.workflow.ts ${message}` });
  });

  test("WF-43 a file that is not there, and one that cannot be a workflow", async () => {
    expect(await goldenError({}, "gone.workflow.ts")).toEqual({
      code: "unknownWorkflow",
      text: "There is no workflow file <dir>/gone.workflow.ts. Give the path of a file, or the name of a workflow.",
    });
    expect(await goldenError({ "w.json": "{}" }, "w.json")).toEqual({
      code: "loadFailed",
      text: "<dir>/w.json is no workflow file: its name must end in .ts, .mts, .js, .mjs.",
    });
  });
});

describe("stored sources", () => {
  const files = {
    "src/w.workflow.ts": minimal
      .replace("input.n * 2", 'unit === "ms" ? times(input.n) : 0')
      .replace("export", 'import { times } from "../lib/times.ts";\nimport { unit } from "small-unit";\nexport'),
    "lib/times.ts": 'export const times = (n: number) => n * 2;\nexport const later = () => import("./later.js");',
    "lib/later.ts": 'export const late = "late";',
    "node_modules/small-unit/package.json": '{ "name": "small-unit", "type": "module", "exports": "./index.js" }',
    "node_modules/small-unit/index.js": 'export const unit = "ms";',
  };

  async function stored(changes: { readonly [path: string]: string } = {}) {
    const directory = directoryWith({ ...files, ...changes });
    const loaded = await loadWorkflow(join(directory, "src/w.workflow.ts"));
    const blobs = new Map(loaded.sources.blobs.map(({ hash, bytes }) => [hash, bytes]));
    const home = directoryWith({});
    const copy = join(home, "sources", loaded.sources.digest);
    const expected = { sourceDigest: loaded.sources.digest, graphDigest: loaded.definition.graphDigest };
    return { directory, loaded, blobs, copy, expected, write: () => materialise(loaded.sources.digest, async (hash) => blobs.get(hash) ?? null, copy) };
  }

  test("WF-50 the stored copy runs after the original was edited and then deleted", async () => {
    const { directory, copy, expected, write } = await stored();
    await write();
    writeFiles(directory, { "lib/times.ts": "export const times = () => { throw new Error('edited'); };", "src/w.workflow.ts": "broken {" });
    const edited = await loadStoredWorkflow(copy, expected);
    expect(await executeNode(edited, "double", contextFor(edited, "double", { input: { n: 4 } }), fakeClock())).toEqual({ case: "done", value: 8 });
    rmSync(join(directory, "src"), { recursive: true });
    rmSync(join(directory, "lib"), { recursive: true });
    const deleted = await loadStoredWorkflow(copy, expected);
    expect(deleted.graphDigest).toBe(expected.graphDigest);
    expect(await executeNode(deleted, "double", contextFor(deleted, "double", { input: { n: 5 } }), fakeClock())).toEqual({ case: "done", value: 10 });
  });

  test("WF-51 packages are not stored: a copy whose packages are gone says so", async () => {
    const { directory, copy, expected, write, loaded } = await stored();
    expect(loaded.sources.manifest.files.map(({ path }) => path)).toEqual(["lib/later.ts", "lib/times.ts", "src/w.workflow.ts"]);
    await write();
    rmSync(join(directory, "node_modules"), { recursive: true });
    const error = await errorOf(() => loadStoredWorkflow(copy, expected));
    expect(error.code).toBe("sourceUnloadable");
    expect(error.message).toContain('Cannot find "small-unit", which is imported here.');
    expect(error.message).toContain("resume the run");
  });

  test("WF-52 a stored file that was changed, and one that is missing, are refused by name", async () => {
    const { copy, expected, write, blobs, loaded } = await stored();
    await write();
    writeFiles(copy, { "files/lib/times.ts": "export const times = () => 0;" });
    expect(await errorOf(() => loadStoredWorkflow(copy, expected))).toMatchObject({
      code: "sourceUnloadable",
      message: expect.stringContaining('file "lib/times.ts" is damaged'),
    });
    rmSync(join(copy, "files/lib/times.ts"));
    expect(await errorOf(() => loadStoredWorkflow(copy, expected))).toMatchObject({
      code: "sourceUnloadable",
      message: expect.stringContaining('file "lib/times.ts" is missing'),
    });
    await write();
    expect((await loadStoredWorkflow(copy, expected)).name).toBe("minimal");
    rmSync(copy, { recursive: true });
    expect(await errorOf(() => loadStoredWorkflow(copy, expected))).toMatchObject({ code: "sourceUnloadable" });
    const lost = loaded.sources.manifest.files.find(({ path }) => path === "lib/times.ts")?.sha256 ?? "";
    blobs.delete(lost);
    expect(await errorOf(write)).toMatchObject({
      code: "sourceUnloadable",
      message: expect.stringContaining('file "lib/times.ts" is missing in the database'),
    });
  });

  test("WF-51 an import whose name is computed works from the file, and is refused by name from the stored copy", async () => {
    const { directory, copy, expected, write, loaded } = await stored({
      "src/w.workflow.ts": minimal.replace("input.n * 2", 'import(["./by", "name.ts"].join("-")).then((m) => m.n)'),
      "src/by-name.ts": "export const n = 3;",
    });
    expect(await executeNode(loaded.definition, "double", contextFor(loaded.definition, "double"), fakeClock())).toEqual({ case: "done", value: 3 });
    await write();
    const copied = await loadStoredWorkflow(copy, expected);
    const error = await errorOf(() => executeNode(copied, "double", contextFor(copied, "double"), fakeClock()));
    expect(error.message).toBe('Node "double" threw: Cannot find "./by-name.ts", which is imported here.');
    expect(directory).not.toBe(copy);
  });

  test("WF-53 a copy that gives another graph than the run's is refused", async () => {
    const { copy, expected, write } = await stored({ "src/w.workflow.ts": minimal.replace('"minimal"', 'process.env.PAWL_TEST_NAME ?? "minimal"') });
    await write();
    process.env["PAWL_TEST_NAME"] = "other";
    try {
      expect(await errorOf(() => loadStoredWorkflow(copy, expected))).toMatchObject({
        code: "sourceUnloadable",
        message: expect.stringContaining("something outside of the sources decides"),
      });
    } finally {
      delete process.env["PAWL_TEST_NAME"];
    }
    expect((await loadStoredWorkflow(copy, expected)).name).toBe("minimal");
  });

  test("WF-50 the same sources at the same place have one digest; writing them twice, and by two at once, is one copy", async () => {
    const { directory, loaded, write, copy, expected } = await stored();
    expect((await loadWorkflow(join(directory, "src/w.workflow.ts"))).sources.digest).toBe(loaded.sources.digest);
    await Promise.all([write(), write(), write()]);
    await write();
    expect((await loadStoredWorkflow(copy, expected)).name).toBe("minimal");
  });
});
