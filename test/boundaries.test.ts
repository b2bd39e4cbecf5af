/** The house rules that can be read off the sources: who imports whom, what stands in which room, what stands nowhere. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { roomOf, rooms, type Room } from "./house/rooms.ts";
import { at, filesUnder, parse, root, source, type Import, type SourceFile } from "./house/source.ts";

const files = ["machines", "persistence", "src"].flatMap((folder) => filesUnder(folder)).map(source);
const inRoom = (room: Room): SourceFile[] => files.filter((file) => roomOf(file.path) === room);

/** Why an import is not allowed; null when it is. */
function objection(one: Import): string | null {
  const from = roomOf(one.from);
  if (from === undefined) return `${one.from} stands in no room of test/house/rooms.ts`;
  const rule = rooms[from];
  const says = (why: string): string => `${one.from}:${one.line} imports ${one.target}: ${why}`;
  if (!one.relative) {
    if (rule.packages === "any") return null;
    const name = one.target.startsWith("@") ? one.target.split("/").slice(0, 2).join("/") : one.target.split("/")[0];
    return name !== undefined && rule.packages.includes(name) ? null : says(`${from} may import no such package`);
  }
  const to = roomOf(one.target);
  if (to === undefined) return one.target === "package.json" || one.target === "../package.json" ? null : says("it stands in no room");
  if (to === "index") return says("nothing imports the public face");
  if (to === from || rule.values.includes(to)) return null;
  if (rule.types.includes(to)) return one.typeOnly ? null : says(`${from} may import only types of ${to}`);
  return says(`${from} may not know ${to}`);
}

/** The files that a file draws in at run time, itself included. */
function closure(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const one of source(path).imports) if (one.relative && !one.typeOnly) closure(one.target, seen);
  return seen;
}

describe("import directions", () => {
  test("HOUSE-1 imports between the rooms go one way", () => {
    expect(
      files
        .flatMap((file) => file.imports)
        .map(objection)
        .filter((text) => text !== null),
    ).toEqual([]);
  });

  test.each(Object.entries(rooms))("HOUSE-1 the scan sees the files of %s", (name, rule) => {
    const seen = files.filter((file) => roomOf(file.path) === name).map((file) => file.path);
    expect(seen.length, `files seen: ${seen.join(", ")}`).toBeGreaterThanOrEqual(rule.atLeast);
  });

  test("HOUSE-1 every relative import names a file that is there, with its extension", () => {
    const missing = files.flatMap((file) => file.imports).filter((one) => one.relative && !existsSync(join(root, one.target)));
    expect(missing.map((one) => `${one.from}:${one.line} ${one.target}`)).toEqual([]);
  });

  test.each([
    ["machines/a.ts", `import { open } from "../persistence/database.ts";`, "machines may not know persistence"],
    ["machines/a.ts", `import { readFile } from "node:fs";`, "no such package"],
    ["machines/a.ts", `export * from "../src/runtime/dispatch.ts";`, "machines may not know runtime"],
    ["persistence/a.ts", `import type { Runtime } from "../src/runtime/runtime.ts";`, "persistence may not know runtime"],
    ["src/runtime/a.ts", `import { open } from "../../persistence/database.ts";`, "only types"],
    ["src/workflow/a.ts", `const x = await import("../host/host.ts");`, "workflow may not know host"],
    ["src/cli/a.ts", `import { workflow } from "../index.ts";`, "public face"],
    ["src/elsewhere/a.ts", `import { x } from "../errors.ts";`, "no room"],
  ])("HOUSE-1 the scan objects to a forbidden import (%s: %s)", (path, text, why) => {
    expect(parse(path, text).imports.map(objection)).toEqual([expect.stringContaining(why)]);
  });

  test("HOUSE-1 the scan lets types through where only types may pass", () => {
    const text = `import type { Database } from "../../persistence/database.ts"; import { type Store } from "../../persistence/store.ts";`;
    expect(parse("src/runtime/a.ts", text).imports.map(objection)).toEqual([null, null]);
  });
});

describe("what only one room knows", () => {
  const sql =
    /\b(select\b[\s\S]+\bfrom|insert (or \w+ )?into|update\s+\w+\s+set|delete from|create (table|index|unique index|trigger)|begin immediate|pragma \w+)\b/i;
  const statements = (file: SourceFile): string[] => file.strings.filter((one) => sql.test(one.text)).map(at);

  test("HOUSE-2 SQL stands in persistence/ only", () => {
    expect(files.filter((file) => !file.path.startsWith("persistence/")).flatMap(statements)).toEqual([]);
    expect(inRoom("persistence").flatMap(statements).length).toBeGreaterThan(10);
  });

  /** Which files may import a package at run time or as types. */
  const owners: readonly (readonly [string, RegExp])[] = [
    ["better-sqlite3", /^persistence\//],
    ["node:sqlite", /^$/],
    ["commander", /^src\/cli\//],
    ["jiti", /^src\/(workflow|host)\//],
    ["grammy", /^src\/telegram\//],
    ["@earendil-works/pi-coding-agent", /^src\/pi\//],
    ["vitest", /^$/],
  ];
  test.each(owners)("HOUSE-2 %s is known where it belongs", (name, where) => {
    const importers = files.filter((file) => file.imports.some((one) => one.target === name || one.target.startsWith(`${name}/`)));
    expect(importers.map((file) => file.path).filter((path) => !where.test(path))).toEqual([]);
  });

  test("HOUSE-3 only step.ts and restore.ts use what XState calls internal", () => {
    const mayKnow = /^src\/runtime\/(step|restore)\.ts$/;
    const named = /^(createEmptyActor|getInitialSnapshot|getNextSnapshot|getNextTransitions|__unsafe_\w+)$/;
    const accessed = /\.(restoreSnapshot|getPersistedSnapshot|microstep|macrostep|_nodes|_snapshot|_processingStatus)$/;
    const uses = files
      .filter((file) => !mayKnow.test(file.path))
      .flatMap((file) => [
        ...file.imports
          .filter((one) => one.target.startsWith("xstate/dist") || (one.target === "xstate" && one.names.some((name) => named.test(name))))
          .map((one) => `${one.from}:${one.line}`),
        ...file.members.filter((member) => accessed.test(member.text)).map(at),
      ]);
    expect(uses).toEqual([]);
    expect(source("src/runtime/step.ts").imports.some((one) => one.target === "xstate")).toBe(true);
  });
});

describe("pure machines", () => {
  const impureCall =
    /^(Date\.now|Math\.random|new Date|Date|performance\.\w+|crypto\.\w+|setTimeout|setInterval|setImmediate|queueMicrotask|fetch|process\.\w+|console\.\w+)$/;
  const impure = (file: SourceFile): string[] =>
    file.calls.filter((call) => impureCall.test(call.text.replace(/^globalThis\./, "")) && !(call.text === "new Date" && call.args > 0)).map(at);

  test("HOUSE-4 machines call no clock, no randomness, no timer and nothing outside", () => {
    expect(inRoom("machines").flatMap(impure)).toEqual([]);
  });

  test("HOUSE-4 what machines draw in from other rooms is as pure as they are", () => {
    const drawn = inRoom("machines").flatMap((file) => [...closure(file.path)]);
    const outside = [...new Set(drawn)].filter((path) => !path.startsWith("machines/")).map(source);
    const hosts = outside.flatMap((file) => file.imports.filter((one) => one.target.startsWith("node:")).map((one) => `${one.from}:${one.line} ${one.target}`));
    // It loads a pure library, and only when it is needed.
    const lazy = hosts.filter((one) => !/^src\/text\/widthOfAny\.ts:\d+ node:module$/.test(one));
    expect([...lazy, ...outside.flatMap(impure)]).toEqual([]);
  });

  test.each(["Date.now()", "new Date()", "Math.random()", "globalThis.setTimeout(f, 1)", "crypto.randomUUID()"])("HOUSE-4 the scan sees %s", (text) => {
    expect(impure(parse("machines/a.ts", `export const x = () => ${text};`))).toHaveLength(1);
  });

  test("HOUSE-4 a date made of a given time is pure", () => {
    expect(impure(parse("machines/a.ts", "export const x = (at: number) => new Date(at).toISOString();"))).toEqual([]);
  });
});

describe("everywhere", () => {
  test("HOUSE-5 case 100 timers are armed in src/runtime/clock.ts only", () => {
    // setImmediate yields to the event loop and measures no time: it is no timer.
    const raw = /^(setTimeout|setInterval)$/;
    const elsewhere = files.filter((file) => file.path !== "src/runtime/clock.ts");
    expect(elsewhere.flatMap((file) => file.identifiers.filter((one) => raw.test(one.text)).map(at))).toEqual([]);
    expect(elsewhere.flatMap((file) => file.imports.filter((one) => /^(node:)?timers/.test(one.target)).map((one) => `${one.from}:${one.line}`))).toEqual([]);
    expect(source("src/runtime/clock.ts").identifiers.some((one) => one.text === "setTimeout")).toBe(true);
  });

  test("HOUSE-6 no file of machines/, persistence/ or src/ is longer than 600 lines", () => {
    expect(files.filter((file) => file.lines > 600).map((file) => `${file.path}: ${file.lines} lines`)).toEqual([]);
  });

  test("HOUSE-6 nothing is left marked as unfinished, and no test is left out or alone", () => {
    const tests = ["test", "bench", "examples"].flatMap((folder) => filesUnder(folder)).map(source);
    const marker = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "XX" + "X"].join("|")})\\b`);
    expect([...files, ...tests].flatMap((file) => file.comments.filter((comment) => marker.test(comment.text)).map(at))).toEqual([]);
    const leftOut = tests.flatMap((file) => file.calls.filter((call) => /^(test|it|describe)\.(only|skip|todo)\b/.test(call.text)).map(at));
    expect(leftOut).toEqual([]);
    expect(tests.length).toBeGreaterThan(10);
  });

  test("HOUSE-7 the top level holds what the floor plan names and no more", () => {
    const plan =
      /^(package(-lock)?\.json|tsconfig[\w.]*\.json|src|machines|persistence|test|docs|README\.md|bench|examples|LICENSE|AGENTS\.md|CHANGELOG\.md|node_modules|dist|coverage|\..+)$/;
    expect(readdirSync(root).filter((name) => !plan.test(name))).toEqual([]);
  });

  /** Escapes from the type system with no comment on their line or in the three above, and none at the head of the file that speaks of casts. */
  const unexplained = (file: SourceFile): string[] => {
    const head = file.comments.find((comment) => comment.line === 1);
    if (head !== undefined && /\bcasts?\b/.test(head.text)) return [];
    const ends = file.comments.map((comment) => comment.line + comment.text.split("\n").length - 1);
    const explained = (line: number): boolean => ends.some((end) => end <= line && line - end <= 3);
    return file.escapes.filter((escape) => !escape.text.startsWith("{} as ") && !explained(escape.line)).map(at);
  };

  test("HOUSE-8 a cast, an any or a non-null assertion has its reason beside it", () => {
    expect(files.flatMap(unexplained)).toEqual([]);
    expect(unexplained(parse("src/a.ts", "export const b = (c: unknown) => c as string;"))).toHaveLength(1);
    expect(unexplained(parse("src/a.ts", "export const b = (c: unknown) => c as string; // checked by the caller"))).toEqual([]);
  });

  test("HOUSE-8 an example holds no cast but XState's own way to give types, no any and no non-null assertion", () => {
    const escapes = filesUnder("examples", /\.m?ts$/).flatMap((path) => source(path).escapes.filter(({ text }) => !text.startsWith("{} as ")));
    expect(escapes.map(at)).toEqual([]);
    // The one that shows everything a workflow can be made of does without that, too.
    const rollout = filesUnder("examples/rollout", /\.ts$/);
    expect(rollout.length).toBeGreaterThan(2);
    expect(rollout.flatMap((path) => source(path).escapes).map(at)).toEqual([]);
    expect(parse("examples/a.ts", "const a = b as string; const c: any = d!; const e = [1] as const;").escapes).toHaveLength(3);
  });
});
