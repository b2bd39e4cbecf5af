/** Where the imports of a workflow file lead: to its own files, which are captured, or to packages, which are not. */
import { realpathSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, extname, isAbsolute, join, resolve as resolvePath } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";

export type Resolution =
  /** A module of the running Pawl. */
  | { readonly kind: "virtual"; readonly name: string }
  /** A source file beside the workflow's. */
  | { readonly kind: "local"; readonly path: string }
  /** A package or a module of Node. */
  | { readonly kind: "external"; readonly url: string }
  | { readonly kind: "missing" };

export type Resolve = (specifier: string, from: string) => Resolution;

/** Extensions of files that are read, transformed and captured. */
export const sourceExtensions: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];

const conditions = ["node", "import"];

/** Resolves from the file system as Node does, and as TypeScript does for paths that name the emitted file. */
export function diskResolver(jiti: Jiti, virtual: ReadonlySet<string>): Resolve {
  return (specifier, from) => {
    const outside = notLocal(jiti, virtual, specifier, from);
    if (outside) return outside;
    const path = specifier.startsWith("#") ? importsEntry(jiti, specifier, from) : firstFile(candidates(pathOf(specifier, from)));
    if (path === undefined) return { kind: "missing" };
    return isCaptured(path) ? { kind: "local", path: realpathSync(path) } : { kind: "external", url: pathToFileURL(path).href };
  };
}

/** Resolves local files by what was recorded when they were captured; packages from the place where the files stood. */
export function recordedResolver(jiti: Jiti, virtual: ReadonlySet<string>, recorded: (specifier: string, from: string) => string | undefined): Resolve {
  return (specifier, from) => {
    const path = recorded(specifier, from);
    if (path !== undefined) return { kind: "local", path };
    return notLocal(jiti, virtual, specifier, from) ?? { kind: "missing" };
  };
}

function notLocal(jiti: Jiti, virtual: ReadonlySet<string>, specifier: string, from: string): Resolution | undefined {
  if (virtual.has(specifier)) return { kind: "virtual", name: specifier };
  if (isBuiltin(specifier)) return { kind: "external", url: specifier.startsWith("node:") ? specifier : `node:${specifier}` };
  if (specifier.startsWith("data:")) return { kind: "external", url: specifier };
  if (isPath(specifier) || specifier.startsWith("#")) return undefined;
  const url = jiti.esmResolve(specifier, { parentURL: pathToFileURL(from), conditions, try: true });
  return url === undefined ? { kind: "missing" } : { kind: "external", url };
}

const isPath = (specifier: string): boolean => /^\.{1,2}(?:\/|$)/.test(specifier) || isAbsolute(specifier) || specifier.startsWith("file:");

const pathOf = (specifier: string, from: string): string => (specifier.startsWith("file:") ? fileURLToPath(specifier) : resolvePath(dirname(from), specifier));

/** A package's own `imports` field, `#lib/x`. */
function importsEntry(jiti: Jiti, specifier: string, from: string): string | undefined {
  const url = jiti.esmResolve(specifier, { parentURL: pathToFileURL(from), conditions, try: true });
  return url?.startsWith("file:") ? fileURLToPath(url) : undefined;
}

function candidates(path: string): readonly string[] {
  const extension = extname(path);
  const typed = /^\.[cm]?js$/.test(extension) ? [`${path.slice(0, -2)}ts`] : [];
  const added = sourceExtensions.map((other) => `${path}${other}`);
  const index = sourceExtensions.map((other) => join(path, `index${other}`));
  return [path, ...typed, ...added, ...index];
}

const firstFile = (paths: readonly string[]): string | undefined => paths.find((path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);

const isCaptured = (path: string): boolean => sourceExtensions.includes(extname(path)) && !path.split(/[\\/]/).includes("node_modules");
