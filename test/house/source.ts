/** Reads the tree's own sources with a real parser, for the tests that hold the house rules. */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync, Visitor } from "vite";

export const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Files under a folder of the repository, as paths from its root, sorted; nothing when the folder is not there. */
export function filesUnder(folder: string, pattern = /\.(ts|js|mjs)$/): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes("node_modules/"))
    .sort();
}

/** One `import`, `export … from` or `import()`. `target` is a path from the root for a relative one, else the bare name. */
export interface Import {
  readonly from: string;
  readonly target: string;
  readonly relative: boolean;
  /** True when nothing of it is left at run time. */
  readonly typeOnly: boolean;
  readonly names: readonly string[];
  readonly line: number;
}

/** Something in a file that a rule may speak of. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** Calls and `new` with their callee as written (`Date.now`, `setTimeout`, `new Date`) and the number of arguments. */
  readonly calls: readonly (Finding & { readonly args: number })[];
  /** Every member access as written, without computed ones: `snapshot.children`. */
  readonly members: readonly Finding[];
  /** Identifiers in any place. */
  readonly identifiers: readonly Finding[];
  /** Strings and template pieces. */
  readonly strings: readonly Finding[];
  readonly comments: readonly Finding[];
  /** `as` (except `as const`), `any`, `!` and `<T>x`. */
  readonly escapes: readonly Finding[];
}

const parsed = new Map<string, SourceFile>();

/** Parses a file of the repository once. @throws when the file has a syntax error, with the parser's words. */
export function source(path: string): SourceFile {
  const known = parsed.get(path);
  if (known) return known;
  const file = parse(path, readFileSync(join(root, path), "utf8"));
  parsed.set(path, file);
  return file;
}

/** The scan itself, apart from the disk so that it can be tested on a text. */
export function parse(path: string, text: string): SourceFile {
  const { program, errors, comments } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map((error) => error.message).join("; ")}`);
  const newlines = [...text.matchAll(/\n/g)].map((match) => match.index);
  const lineAt = (offset: number): number => newlines.filter((newline) => newline < offset).length + 1;
  const found = (node: { start: number; end: number }, words = text.slice(node.start, node.end)): Finding => ({
    file: path,
    line: lineAt(node.start),
    text: words,
  });

  const imports: Import[] = [];
  const calls: (Finding & { args: number })[] = [];
  const members: Finding[] = [];
  const identifiers: Finding[] = [];
  const strings: Finding[] = [];
  const escapes: Finding[] = [];

  const addImport = (specifier: string, node: { start: number }, typeOnly: boolean, names: readonly string[]): void => {
    const isRelative = specifier.startsWith(".");
    const target = isRelative ? join(dirname(path), specifier) : specifier;
    imports.push({ from: path, target, relative: isRelative, typeOnly, names, line: lineAt(node.start) });
  };

  new Visitor({
    ImportDeclaration(node) {
      const named = node.specifiers.map((one) => {
        if (one.type !== "ImportSpecifier") return { name: one.type === "ImportDefaultSpecifier" ? "default" : "*", type: false };
        return { name: text.slice(one.imported.start, one.imported.end), type: one.importKind === "type" };
      });
      const typeOnly = node.importKind === "type" || (named.length > 0 && named.every((one) => one.type));
      addImport(
        node.source.value,
        node,
        typeOnly,
        named.map((one) => one.name),
      );
    },
    ExportNamedDeclaration(node) {
      if (!node.source) return;
      const typeOnly = node.exportKind === "type" || (node.specifiers.length > 0 && node.specifiers.every((one) => one.exportKind === "type"));
      addImport(
        node.source.value,
        node,
        typeOnly,
        node.specifiers.map((one) => text.slice(one.local.start, one.local.end)),
      );
    },
    ExportAllDeclaration(node) {
      addImport(node.source.value, node, node.exportKind === "type", ["*"]);
    },
    ImportExpression(node) {
      if (node.source.type === "Literal" && typeof node.source.value === "string") addImport(node.source.value, node, false, ["*"]);
    },
    TSImportType(node) {
      addImport(node.source.value, node, true, ["*"]);
    },
    CallExpression(node) {
      calls.push({ ...found(node.callee), args: node.arguments.length });
    },
    NewExpression(node) {
      calls.push({ ...found(node.callee, `new ${text.slice(node.callee.start, node.callee.end)}`), args: node.arguments.length });
    },
    MemberExpression(node) {
      if (!node.computed) members.push(found(node));
    },
    Identifier(node) {
      identifiers.push(found(node, node.name));
    },
    Literal(node) {
      if (typeof node.value === "string") strings.push(found(node, node.value));
    },
    TemplateElement(node) {
      strings.push(found(node, node.value.cooked ?? node.value.raw));
    },
    TSAsExpression(node) {
      if (text.slice(node.typeAnnotation.start, node.typeAnnotation.end) !== "const") escapes.push(found(node));
    },
    TSTypeAssertion(node) {
      escapes.push(found(node));
    },
    TSNonNullExpression(node) {
      escapes.push(found(node));
    },
    TSAnyKeyword(node) {
      escapes.push(found(node));
    },
  }).visit(program);

  return {
    path,
    text,
    lines: text.split("\n").length - 1,
    imports,
    calls,
    members,
    identifiers,
    strings,
    comments: comments.map((comment) => found(comment)),
    escapes,
  };
}

/** How a finding is named in a failing test. */
export const at = (finding: { file: string; line: number; text: string }): string => `${finding.file}:${finding.line} ${finding.text.split("\n")[0]}`;
