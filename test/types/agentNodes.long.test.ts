import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkMarks } from "./check.ts";

test(
  "AGENT-17 agent steps, choices, notifications and updates are typed without a cast, and each mistake is an error at its own line",
  { timeout: 120_000 },
  async () => {
    const source = readFileSync(join(import.meta.dirname, "agentNodes.ts"), "utf8").replaceAll("../../src/", "../../../src/");
    const { found, others } = await checkMarks(source, "AGENT-17");
    expect(found.length).toBe(8);
    expect(found.filter(([, text]) => text === "no error")).toEqual([]);
    expect(others).toEqual([]);
  },
);
