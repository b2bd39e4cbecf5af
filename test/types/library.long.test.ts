import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkMarks } from "./check.ts";

test(
  "API-16 the machine types what goes in and what comes out: each mistake is an error at its own line, and what is right needs no cast",
  { timeout: 120_000 },
  async () => {
    const source = readFileSync(join(import.meta.dirname, "library.ts"), "utf8")
      .replaceAll("../../src/", "../../../src/")
      .replaceAll("../library/", "../../library/");
    const { found, others } = await checkMarks(source, "API-16");
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(([, text]) => text === "no error")).toEqual([]);
    expect(others).toEqual([]);
    // The messages speak of what is wrong, not of Pawl's own types.
    const said = Object.fromEntries(found);
    expect(said["an input of the wrong type"]).toContain("Type 'string' is not assignable to type 'number'");
    expect(said["an event of another machine"]).toContain(`Type '"add"' is not assignable to type '"leave"'`);
    expect(said["a state that the machine does not have"]).toContain(`and '"after"' have no overlap`);
  },
);
