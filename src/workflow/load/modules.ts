/** Loads TypeScript and JavaScript files as modules, with jiti's transform and an own linker: every file is read once, by us,
 *  so that what is captured is exactly what runs, nothing is kept in Node's module cache, and "pawl" is the running Pawl. */
import { createRequire, SourceMap, type SourceMapPayload } from "node:module";
import { dirname, extname } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import type { Jiti } from "jiti";
import { ModuleProblem } from "./problem.ts";
import type { Resolution, Resolve } from "./resolve.ts";

export interface ModuleHost {
  readonly jiti: Jiti;
  readonly resolve: Resolve;
  /** Bytes of a local file. @throws when there is none */
  readonly read: (path: string) => Uint8Array;
  /** Modules of the running Pawl by name. */
  readonly virtual: { readonly [name: string]: object };
}

/** A local file as it was read, and where its local imports lead. */
export interface CapturedFile {
  readonly bytes: Uint8Array;
  readonly imports: { readonly [specifier: string]: string };
}

interface Code {
  readonly text: string;
  readonly map: SourceMap | null;
}

interface LoadedModule {
  readonly path: string;
  readonly module: { exports: unknown };
  state: "loading" | "loaded";
  /** Modules that this one waits for while it loads. */
  readonly waitsFor: Set<LoadedModule>;
  done: Promise<unknown>;
}

type Wrapper = (
  exports: unknown,
  require: unknown,
  module: unknown,
  filename: string,
  directory: string,
  jitiImport: unknown,
  jitiESMResolve: unknown,
) => unknown;

const parameters = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";
/** Static imports, dynamic ones with a literal, and `require` of a literal, as jiti's transform writes them. */
const importPattern = /\b(?:jitiImport|require)\(\s*(["'])((?:\\.|(?!\1)[^\\\n])*)\1\s*\)/g;

/** Transforms cost most of a load and depend on path and text alone: the same file started again is only evaluated again. */
const transforms = new Map<string, string>();
const transformLimit = 128;

function transformed(key: string, transform: () => string): string {
  const known = transforms.get(key);
  if (known !== undefined) return known;
  const text = transform();
  transforms.set(key, text);
  const [oldest] = transforms.keys();
  if (transforms.size > transformLimit && oldest !== undefined) transforms.delete(oldest);
  return text;
}

/** Modules of one load. */
export class ModuleGraph {
  private readonly host: ModuleHost;
  private readonly files = new Map<string, CapturedFile>();
  private readonly code = new Map<string, Code>();
  private readonly modules = new Map<string, LoadedModule>();

  constructor(host: ModuleHost) {
    this.host = host;
  }

  /** The exports of a file. @throws whatever its code throws, or ModuleProblem */
  async load(path: string): Promise<unknown> {
    this.capture(path);
    return this.import(path, null);
  }

  /** Every local file that is imported from the loaded one, lazily imported ones included. */
  captured(): ReadonlyMap<string, CapturedFile> {
    return this.files;
  }

  /** Text of a captured file, for code frames. */
  text(path: string): string | undefined {
    const file = this.files.get(path);
    return file && textOf(file.bytes);
  }

  /** Position in the source for one in the running code; lines from 1, columns from 1. */
  original(path: string, line: number, column: number): { readonly line: number; readonly column: number } {
    const origin = (this.code.get(`async ${path}`) ?? this.code.get(`sync ${path}`))?.map?.findOrigin(line, column);
    return origin && "lineNumber" in origin ? { line: origin.lineNumber, column: origin.columnNumber } : { line, column };
  }

  /** Reads a file and those that it imports. A file that does not parse is kept as it is: loading it will tell. */
  private capture(path: string): void {
    if (this.files.has(path)) return;
    const bytes = this.read(path);
    const imports: { [specifier: string]: string } = {};
    this.files.set(path, { bytes, imports });
    if (extname(path) === ".json") return;
    let code: Code;
    try {
      code = this.codeOf(path, true);
    } catch {
      return; // the import of this very file meets the same error and reports it
    }
    for (const [, , specifier = ""] of code.text.matchAll(importPattern)) {
      const found = this.host.resolve(specifier, path);
      if (found.kind !== "local") continue;
      imports[specifier] = found.path;
      this.capture(found.path);
    }
  }

  private read(path: string): Uint8Array {
    try {
      return this.host.read(path);
    } catch (error) {
      throw new ModuleProblem(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}`, { file: path }, error);
    }
  }

  private codeOf(path: string, async: boolean): Code {
    const key = `${async ? "async" : "sync"} ${path}`;
    const known = this.code.get(key);
    if (known) return known;
    const source = this.text(path) ?? "";
    const text = transformed(`${key}\n${source}`, () => this.host.jiti.transform({ source, filename: path, ts: /\.[cm]?ts$/.test(path), async }));
    const failed = /^exports\.__JITI_ERROR__ = (\{.*\})/.exec(text)?.[1];
    if (failed !== undefined) throw syntaxProblem(path, failed);
    const code = { text, map: sourceMapOf(text) };
    this.code.set(key, code);
    return code;
  }

  private evaluate(loaded: LoadedModule, async: boolean): unknown {
    const { path, module } = loaded;
    const head = `(${async ? "async " : ""}function (${parameters}) {`;
    const script = new Script(`${head}${this.codeOf(path, async).text}\n})`, { filename: path, columnOffset: -head.length });
    const run = script.runInThisContext() as Wrapper; // the function expression just written
    const importFrom = (specifier: string): Promise<unknown> => this.importSpecifier(specifier, loaded);
    const resolveFrom = (specifier: string): string => urlOf(this.resolved(specifier, path), specifier);
    return run(module.exports, (specifier: string) => this.require(specifier, path), module, path, dirname(path), importFrom, resolveFrom);
  }

  private start(path: string, async: boolean): LoadedModule {
    const loaded: LoadedModule = { path, module: { exports: {} }, state: "loading", waitsFor: new Set(), done: Promise.resolve() };
    this.modules.set(path, loaded);
    const finish = (): void => void (loaded.state = "loaded");
    if (extname(path) === ".json") {
      loaded.module.exports = this.parseJson(path);
      finish();
    } else if (async) {
      loaded.done = Promise.resolve()
        .then(() => this.evaluate(loaded, true))
        .then(finish);
    } else {
      try {
        this.evaluate(loaded, false);
      } catch (error) {
        this.modules.delete(path);
        throw error;
      }
      finish();
    }
    return loaded;
  }

  private async import(path: string, from: LoadedModule | null): Promise<unknown> {
    this.capture(path);
    const loaded = this.modules.get(path) ?? this.start(path, true);
    // A cycle sees what is exported so far, as in every module system.
    if (loaded.state === "loading" && !(from && reaches(loaded, from))) {
      if (from?.state === "loading") from.waitsFor.add(loaded);
      await loaded.done;
      from?.waitsFor.delete(loaded);
    }
    const { exports } = loaded.module;
    return extname(path) === ".json" ? { __esModule: true, default: exports } : exports;
  }

  private async importSpecifier(specifier: string, from: LoadedModule): Promise<unknown> {
    const found = this.resolved(specifier, from.path);
    if (found.kind === "local") return this.import(found.path, from);
    if (found.kind === "virtual") return asTranspiled(this.host.virtual[found.name] ?? {});
    const namespace: object = await import(urlOf(found, specifier));
    return asTranspiled(namespace);
  }

  private require(specifier: string, from: string): unknown {
    const found = this.resolved(specifier, from);
    if (found.kind === "virtual") return asTranspiled(this.host.virtual[found.name] ?? {});
    if (found.kind !== "local") return createRequire(from)(specifier);
    this.capture(found.path);
    const known = this.modules.get(found.path);
    if (known) return known.module.exports;
    return this.start(found.path, false).module.exports;
  }

  private resolved(specifier: string, from: string): Exclude<Resolution, { kind: "missing" }> {
    const found = this.host.resolve(specifier, from);
    if (found.kind === "missing") throw new ModuleProblem(`Cannot find ${JSON.stringify(specifier)}, which is imported here.`, this.placeOf(specifier, from));
    return found;
  }

  /** The line that names a specifier. */
  private placeOf(specifier: string, from: string): { file: string; line?: number; column?: number } {
    const lines = (this.text(from) ?? "").split("\n");
    const line = lines.findIndex((text) => text.includes(`"${specifier}"`) || text.includes(`'${specifier}'`));
    return line < 0 ? { file: from } : { file: from, line: line + 1, column: (lines[line]?.indexOf(specifier) ?? 0) + 1 };
  }

  private parseJson(path: string): unknown {
    try {
      return JSON.parse(this.text(path) ?? "");
    } catch (error) {
      throw new ModuleProblem(`The file is not JSON: ${error instanceof Error ? error.message : String(error)}`, { file: path }, error);
    }
  }
}

/** True when `from` is waited for, directly or not, by what it asks for. */
function reaches(loaded: LoadedModule, from: LoadedModule, seen = new Set<LoadedModule>()): boolean {
  if (loaded === from) return true;
  if (seen.has(loaded)) return false;
  seen.add(loaded);
  return [...loaded.waitsFor].some((other) => reaches(other, from, seen));
}

/** A namespace as transpiled code expects it: its default export is `default`, not the namespace. */
function asTranspiled(namespace: object): object {
  return new Proxy(namespace, { get: (target, name) => (name === "__esModule" ? true : Reflect.get(target, name)) });
}

function urlOf(found: Exclude<Resolution, { kind: "missing" }>, specifier: string): string {
  if (found.kind === "external") return found.url;
  return found.kind === "local" ? pathToFileURL(found.path).href : specifier;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function sourceMapOf(text: string): SourceMap | null {
  const encoded = /\/\/# sourceMappingURL=data:application\/json;charset=utf-8;base64,([A-Za-z0-9+/=]+)\s*$/.exec(text)?.[1];
  if (encoded === undefined) return null;
  const payload: SourceMapPayload = JSON.parse(Buffer.from(encoded, "base64").toString("utf8"));
  return new SourceMap(payload);
}

function syntaxProblem(path: string, json: string): ModuleProblem {
  const { message, line, column }: { message?: string; line?: number; column?: number } = JSON.parse(json);
  return new ModuleProblem(
    `${(message ?? "It does not parse").trim()}.`,
    line === undefined ? { file: path } : { file: path, line, column: (column ?? 0) + 1 },
  );
}
