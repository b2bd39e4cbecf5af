import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkMarks } from "./check.ts";

test(
  "INC-13 each mistake with a wait, a checkpoint, an include or a batch is an error at its own line, and what is right needs no cast",
  { timeout: 120_000 },
  async () => {
    const source = readFileSync(join(import.meta.dirname, "composition.ts"), "utf8").replaceAll("../../src/", "../../../src/");
    const { found, others } = await checkMarks(source, "INC-13");
    expect(found.length).toBeGreaterThan(15);
    expect(found.filter(([, text]) => text === "no error")).toEqual([]);
    expect(others).toEqual([]);
    const sentences = found.flatMap(([contract, text]) =>
      text.includes("Mistake<") ? [[contract, /Mistake<((?:"(?:\\.|[^"\\])*"(?: \| )?)+)>/.exec(text)?.[1]]] : [],
    );
    expect(Object.fromEntries(sentences)).toMatchInlineSnapshot(`
      {
        "a case that the included workflow does not end with": ""node \\"sub\\" has no case \\"pick\\""",
        "a checkpoint that routes, without targets": ""node \\"look\\" needs a target for each of its cases: bad" | "node \\"look\\" needs a target for each of its cases: good"",
        "a missing case of an include": ""node \\"sub\\" has no target for its case \\"little\\""",
        "an include with one target": ""node \\"sub\\" has no target for its case \\"only\\""",
        "an include without routes": ""node \\"sub\\" needs a target for each of its cases: large" | "node \\"sub\\" needs a target for each of its cases: little"",
      }
    `);
  },
);
