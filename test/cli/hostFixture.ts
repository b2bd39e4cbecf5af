/** A fixture whose commands go through real hosts, which are gone when the test is over. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { endHost } from "../host/daemonKit.ts";
import { fixture, type Fixture } from "./fixture.ts";

/** Variables of a command that uses the host; without them the fixture's commands are embedded. */
export const hosted = { PAWL_EMBEDDED: "", PAWL_HOST_IDLE_MS: "60000" };

export function hostFixture(): Fixture {
  const made = fixture();
  onTestFinished(async () => {
    await endHost(made.home);
    made.remove();
  });
  return made;
}

/** A workflow whose first step waits for a file, and a second step after it. */
export function slowWorkflow({ folder }: Fixture): string {
  writeFileSync(
    join(folder, "slow.workflow.ts"),
    `import { z } from "zod";
import { compute, shell, workflow } from "pawl";
export default workflow({ name: "slow", input: z.object({}) })
  .node("first", shell({ command: "/bin/sh", args: ["-c", "echo begun; while [ ! -e go ]; do sleep 0.05; done"] }), "second")
  .node("second", compute(() => ({ second: "done" }))).build();
`,
  );
  return "slow.workflow.ts";
}

/** Lets the first step of the slow workflow end. */
export const letGo = ({ folder }: Fixture): void => writeFileSync(join(folder, "go"), "");

export type JsonObject = { readonly [field: string]: unknown };

export const jsonLines = (text: string): readonly JsonObject[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject); // --json writes objects
