/** Every refusal that stands between a person and a run of theirs, as the real command says it: kept in a golden file, read by people.
 *  `npm run test:command -- -u` writes it again. */
import { spawnSync } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bin, fixture, type Fixture } from "../cli/fixture.ts";
import { personEnvironment } from "../cli/pty.ts";
import { refusals, type Refusal } from "./refusals.ts";

let f: Fixture;
beforeAll(() => {
  f = fixture();
});
afterAll(() => f.remove());

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function refused({ file, args }: Refusal): Said {
  if (file !== undefined) writeFileSync(join(f.folder, file.name), file.text);
  return f.piped(args);
}

/** Without what differs from one machine to the next. */
const general = (text: string): string =>
  text
    .replaceAll(realpathSync(f.folder), "<folder>")
    .replaceAll(f.folder, "<folder>")
    .replaceAll(`node ${bin}`, "pawl")
    .replaceAll(" --home <folder>/home", "");

/** The command line that a text ends with, or names on a line of its own. */
function printedCommand(text: string): string | null {
  const at = text.lastIndexOf(`node ${bin} `);
  return at < 0 ? null : (text.slice(at).split("\n")[0]?.replace(/[.)]$/, "") ?? null);
}

describe("refusals", () => {
  test("CLI-62 each says what happened, to which thing and what to do, in the words of the golden file", { timeout: 300_000 }, async () => {
    const texts: string[] = [];
    for (const refusal of refusals) {
      const { code, out, err } = refused(refusal);
      expect([code, out], refusal.what).toEqual([2, ""]);
      expect(err, refusal.what).toContain(refusal.names);
      texts.push(`## ${refusal.what}\n$ pawl ${refusal.args.join(" ")}\n${general(err)}`);
    }
    await expect(texts.join("\n")).toMatchFileSnapshot("../golden/refusals.txt");
  });

  test.each(refusals.filter(({ helps }) => helps !== undefined).map((refusal) => [refusal.what, refusal] as const))(
    "CLI-62 the command that it prints helps: %s",
    { timeout: 60_000 },
    (_what, refusal) => {
      const { err } = refused(refusal);
      const line = printedCommand(err);
      expect(line, err).not.toBeNull();
      if (refusal.file?.mended !== undefined) writeFileSync(join(f.folder, refusal.file.name), refusal.file.mended);
      const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", line ?? "false"], {
        cwd: f.folder,
        encoding: "utf8",
        env: personEnvironment({ HOME: f.folder, PAWL_EMBEDDED: "1" }),
      });
      expect([status, stderr], line ?? "").toEqual([0, ""]);
      expect(stdout).toMatch(refusal.helps ?? /./);
    },
  );
});
