import { existsSync as exists, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { filesUnder, root } from "../house/source.ts";
import { fencesOf, hasRuns, runPage, shownAs } from "./fences.ts";

// A page starts several processes and the compiler, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

const pages = ["README.md", ...filesUnder("docs", /\.md$/)].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

describe("the pages", () => {
  test.each(pages.filter((page) => hasRuns(page.text)))("HOUSE-10 what $path shows is what happens", ({ path, text }) => {
    expect(runPage(path, text).ran).toBeGreaterThan(0);
  });

  test("HOUSE-10 README shows a program that runs", () => {
    expect(pages.filter((page) => hasRuns(page.text)).map((page) => page.path)).toContain("README.md");
  });

  test("HOUSE-10 a link within the repository leads to something that is there", () => {
    const broken = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].flatMap(([, target = ""]) => {
        const url = new URL(target, `file://${join(root, path)}`);
        return exists(url) ? [] : [`${path}: ${target}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("HOUSE-10 README's example has at most 25 lines", () => {
    const example = fencesOf(pages[0]?.text ?? "").find((fence) => fence.language === "ts" && fence.words.length > 0);
    expect(example?.body.trimEnd().split("\n").length).toBeLessThanOrEqual(25);
  });
});

describe("the harness", () => {
  const fence = (info: string, body: string): string => `\`\`\`${info}\n${body}\n\`\`\`\n`;

  test("HOUSE-10 a program, a file and a script run in one folder, and the output is compared", () => {
    const page =
      fence("ts file=lib/two.ts", "export const two: number = 2;") +
      fence("ts run", 'import { two } from "./lib/two.ts";\nimport { z } from "zod";\nconsole.log(z.number().parse(two) + 1);') +
      fence("text output", "3") +
      fence("sh run exit=3", "cat lib/two.ts | wc -l; ls node_modules/pawl/package.json; exit 3") +
      fence("text output", "1\n…package.json");
    expect(runPage("page", page)).toEqual({ ran: 2 });
  });

  test("HOUSE-10 a program that fails and an output that differs are told with their line", () => {
    expect(() => runPage("page", `\n${fence("ts run", 'throw new Error("no")')}`)).toThrow(/^page:2 exits 1, the page says 0[\s\S]*Error: no/);
    expect(() => runPage("page", fence("sh run", "echo one") + fence("text output", "two"))).toThrow(/^page:4 shows another output than there is:\none/);
    expect(() => runPage("page", fence("text output", "two"))).toThrow("nothing ran before it");
  });

  test("HOUSE-10 a file that runs but does not compile is told", () => {
    expect(() => runPage("page", fence("ts run", 'const n: number = "1";\nconsole.log(n);'))).toThrow(
      /^page does not compile\npage-1\.ts\(1,7\): error TS2322/,
    );
  });

  test("HOUSE-10 fences inside a longer fence are text", () => {
    expect(fencesOf("````md\n```ts run\n```\n````\n").map((one) => one.language)).toEqual(["md"]);
  });

  test("HOUSE-10 an ellipsis stands for anything within a line, alone for any lines", () => {
    expect(shownAs("run r_… done\n…\nend").test("run r_01 done\na\nb\nend\n")).toBe(true);
    expect(shownAs("run r_… done\n…\nend").test("run r_01 done\nend\n")).toBe(true);
    expect(shownAs("run r_… done\nend").test("run r_01 done\na\nend\n")).toBe(false);
    expect(shownAs("a.c").test("abc\n")).toBe(false);
  });
});
