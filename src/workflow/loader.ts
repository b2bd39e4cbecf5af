/** Loads workflow definitions: from an author's file, capturing its sources, or from the stored copy that a run keeps. No build step. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { isPawlError, messageOf, PawlError } from "../errors.ts";
import { noWorkflow } from "./compositionChecks.ts";
import { isWorkflow, type AnyWorkflow } from "./definition.ts";
import { openStored, sourceClosure, unloadable, type SourceClosure } from "./identity.ts";
import { workflowExtensions } from "./extensions.ts";
import { circleOf } from "./load/circle.ts";
import { ModuleGraph } from "./load/modules.ts";
import { codeFrame, ModuleProblem, placeInStack, placeText, type Place } from "./load/problem.ts";
import { diskResolver, recordedResolver } from "./load/resolve.ts";
import { transformer, virtualModules, virtualNames } from "./load/virtual.ts";

export interface LoadedWorkflow {
  readonly definition: AnyWorkflow;
  /** Absolute, symbolic links followed. */
  readonly file: string;
  readonly sources: SourceClosure;
}

/** What was loaded last, by file: good while every file that it came from has the same bytes. */
const recent = new Map<string, { readonly files: ReadonlyMap<string, Uint8Array>; readonly loaded: LoadedWorkflow }>();
const recentLimit = 32;

/**
 * Loads a workflow file and captures its sources. The files are read each time; their code runs again only when one of them has changed.
 * @throws unknownWorkflow when there is no such file; loadFailed with file, line, column and a code frame; invalidWorkflow with the place where it was built.
 */
export async function loadWorkflow(path: string): Promise<LoadedWorkflow> {
  const file = existing(resolve(path));
  const known = recent.get(file);
  if (known && [...known.files].every(([local, bytes]) => sameBytes(local, bytes))) return known.loaded;
  recent.delete(file);
  const graph = new ModuleGraph({
    jiti: transformer,
    resolve: diskResolver(transformer, virtualNames),
    read: (local) => readFileSync(local),
    virtual: virtualModules,
  });
  let exports: unknown;
  try {
    exports = await graph.load(file);
  } catch (error) {
    throw loadError(file, graph, error);
  }
  const loaded: LoadedWorkflow = { definition: definitionOf(file, exports), file, sources: sourceClosure(file, graph.captured()) };
  recent.set(file, { files: new Map([...graph.captured()].map(([local, { bytes }]) => [local, bytes])), loaded });
  const [oldest] = recent.keys();
  if (recent.size > recentLimit && oldest !== undefined) recent.delete(oldest);
  return loaded;
}

function sameBytes(file: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(file).equals(bytes);
  } catch {
    return false; // gone or unreadable: loading it again says so
  }
}

/**
 * Loads the stored copy of a workflow, as `materialise` wrote it, whatever became of the author's files. Packages are resolved from where those stood.
 * @throws sourceUnloadable when it does not load, or gives another graph than the run's.
 */
export async function loadStoredWorkflow(directory: string, expected: { readonly sourceDigest: string; readonly graphDigest: string }): Promise<AnyWorkflow> {
  const stored = await openStored(directory);
  if (stored.digest !== expected.sourceDigest) throw unloadable(expected.sourceDigest, `${directory} holds other sources (${stored.digest})`);
  const read = (path: string): Uint8Array => {
    const bytes = stored.files.get(path);
    if (!bytes) throw new Error("it is not part of the stored copy");
    return bytes;
  };
  const graph = new ModuleGraph({ jiti: transformer, resolve: recordedResolver(transformer, virtualNames, stored.imported), read, virtual: virtualModules });
  let definition: AnyWorkflow;
  try {
    definition = definitionOf(stored.entry, await graph.load(stored.entry));
  } catch (error) {
    throw unloadable(expected.sourceDigest, isPawlError(error) ? error.message : loadError(stored.entry, graph, error).message, error);
  }
  if (definition.graphDigest !== expected.graphDigest)
    throw unloadable(
      expected.sourceDigest,
      `they give the graph ${definition.graphDigest}, but the run was started with ${expected.graphDigest}; something outside of the sources decides what "${definition.name}" looks like`,
    );
  return definition;
}

function existing(file: string): string {
  if (!(statSync(file, { throwIfNoEntry: false })?.isFile() ?? false))
    throw new PawlError("unknownWorkflow", `There is no workflow file ${file}. Give the path of a file, or the name of a workflow.`, { subject: file });
  if (!workflowExtensions.includes(extname(file)))
    throw new PawlError("loadFailed", `${file} is no workflow file: its name must end in ${workflowExtensions.join(", ")}.`, { subject: file });
  return realpathSync(file);
}

function definitionOf(file: string, exports: unknown): AnyWorkflow {
  const value: unknown = typeof exports === "object" && exports !== null && "default" in exports ? exports.default : exports;
  if (isWorkflow(value)) return value;
  const refused = (what: string): PawlError => new PawlError("loadFailed", `${file} ${what}`, { subject: file });
  if (typeof value === "object" && value !== null && "build" in value && "node" in value)
    throw refused("exports a workflow that was not built. End it with .build().");
  if (typeof exports === "object" && exports !== null && !("default" in exports)) {
    const named = Object.entries(exports).find(([, other]) => isWorkflow(other))?.[0];
    throw refused(
      named === undefined
        ? "has no default export. Write: export default workflow({ … }) … .build();"
        : `exports its workflow as "${named}". Make it the default export: export default ${named};`,
    );
  }
  throw refused(
    `exports ${value === null || value === undefined ? String(value) : `${typeof value === "object" ? "an" : "a"} ${typeof value}`} as its default, which is no workflow. Write: export default workflow({ … }) … .build();`,
  );
}

/** What went wrong while a file was loaded, with the place in the author's own sources. */
function loadError(file: string, graph: ModuleGraph, error: unknown): PawlError {
  const place = placeOf(file, graph, error);
  const where = placeText(place);
  if (isPawlError(error) && error.code === "invalidWorkflow")
    return new PawlError("invalidWorkflow", `${where}: ${error.message}${circleText(place.file, graph, error)}`, { subject: file, cause: error });
  const frame = codeFrame(graph.text(place.file), place);
  const what =
    error instanceof ModuleProblem
      ? error.message
      : `${error instanceof Error ? error.name : "Something that is no error"} was thrown while it loaded: ${messageOf(error)}`;
  return new PawlError("loadFailed", `Cannot load workflow ${basename(file)} (${where}): ${what}${frame === "" ? "" : `\n\n${frame}`}`, {
    subject: file,
    path: where,
    cause: error,
  });
}

/** Why a workflow that is to be included is not there: its file waits for this one. */
function circleText(file: string, graph: ModuleGraph, error: PawlError): string {
  const circle = error.message.includes(noWorkflow) ? circleOf(file, graph.captured()) : null;
  if (circle === null) return "";
  const chain = circle.map((name) => basename(name)).join(" -> ");
  return `\nThe files import each other in a circle: ${chain}. A workflow cannot include itself, directly or through others: take one of these imports away.`;
}

function placeOf(file: string, graph: ModuleGraph, error: unknown): Place {
  if (error instanceof ModuleProblem) return error.place;
  const thrown = placeInStack(error, [...graph.captured().keys()]);
  return thrown ? { file: thrown.file, ...graph.original(thrown.file, thrown.line, thrown.column) } : { file };
}
