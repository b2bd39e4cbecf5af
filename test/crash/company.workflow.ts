/** Steps long enough to be killed in; each attempt of each leaves a line. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { action, compute, shell, workflow } from "pawl";
import { z } from "zod";

const side = process.env["COMPANY_SIDE"] ?? "";

async function step(name: string, number: number, visit: string, attempt: number): Promise<string> {
  appendFileSync(side, `${visit} ${attempt}\n`);
  await sleep(60 + (number % 7) * 20);
  return name;
}

export default workflow({ name: "company", input: z.object({ number: z.number() }) })
  .node("one", action({ run: ({ input, visit, attempt }) => step("one", input.number, visit, attempt) }), "two")
  .node("two", action({ run: ({ input, visit, attempt }) => step("two", input.number, visit, attempt) }), "three")
  .node("three", shell({ command: "/bin/sh", args: ["-c", "sleep 0.1; echo three"], parse: ({ stdout }) => stdout.trim() }), "four")
  .node("four", action({ run: ({ input, visit, attempt }) => step("four", input.number, visit, attempt) }), "five")
  .node(
    "five",
    compute(({ input, outputs }) => [input.number, outputs.one, outputs.two, outputs.three, outputs.four]),
  )
  .build();
