/** Finds workflow files by name: the project's, then the user's, then those built in. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, resolve } from "node:path";
import { PawlError } from "../errors.ts";
import { closestNames } from "../text/closest.ts";
import { workflowExtensions } from "./extensions.ts";
import { reservedNames } from "./reservedNames.ts";

export interface Places {
  /** Where the person stands; the project is the closest directory above that has `.pi/workflows`, inside the same repository. */
  readonly cwd: string;
  /** The user's home directory. */
  readonly home: string;
  /** Directory of the workflows that come with Pawl. */
  readonly builtIn?: string | undefined;
}

export interface FoundWorkflow {
  readonly name: string;
  readonly file: string;
  readonly origin: "project" | "user" | "builtIn";
}

const suffix = /^(?<name>.+)\.workflow\.(?:ts|mts|js|mjs)$/;

/**
 * The file for what a person typed: a path (it holds a `/`, or names a file here) or a workflow's name.
 * @throws unknownWorkflow naming the closest names, and where was looked.
 */
export function resolveWorkflow(typed: string, places: Places): string {
  const asPath = resolve(places.cwd, typed);
  // A name with the extension of a file is one, unless a workflow is called so.
  const isFileName = workflowExtensions.includes(extname(typed));
  const isPath = isAbsolute(typed) || typed.includes("/") || (isFileName && (existsSync(asPath) || !listWorkflows(places).some(({ name }) => name === typed)));
  if (!isPath) return findWorkflow(typed, places).file;
  const status = statusOf(asPath);
  if (status === "file") return asPath;
  const beside = workflowsIn(dirname(asPath)).map(({ file }) => file);
  const named = isFileName && !typed.includes("/") ? listWorkflows(places).map(({ file }) => file) : [];
  const what = status === "directory" ? `${asPath} is a directory, not a workflow file.` : `There is no workflow file ${asPath}.`;
  throw new PawlError("unknownWorkflow", `${what}${fileHint(asPath, [...beside, ...named])}`, { subject: typed });
}

/** Files are compared by their own names: a long directory would make all of them alike. */
function fileHint(wrong: string, known: readonly string[]): string {
  const close = closestNames(
    basename(wrong).replace(suffix, "$<name>"),
    known.map((file) => basename(file).replace(suffix, "$<name>")),
  );
  const files = known.filter((file) => close.includes(basename(file).replace(suffix, "$<name>")));
  if (files.length > 0) return ` Did you mean ${files.slice(0, 3).join(" or ")}?`;
  return listed(known);
}

/** The workflow of this name. @throws unknownWorkflow */
export function findWorkflow(name: string, places: Places): FoundWorkflow {
  const all = listWorkflows(places);
  const found = all.find((other) => other.name === name);
  if (found) return found;
  if (reservedNames.includes(name)) {
    const file = everyWorkflow(places).find((other) => other.name === name)?.file;
    throw new PawlError(
      "unknownWorkflow",
      `"${name}" is the name of a command, and no workflow can have it.${file === undefined ? "" : ` Rename ${file}, or give its path: ${file}`} (Taken: ${reservedNames.join(", ")}.)`,
      { subject: name },
    );
  }
  const looked = searched(places).map(({ directory }) => directory);
  const known =
    all.length === 0
      ? " No workflow was found at all."
      : hint(
          name,
          all.map((other) => other.name),
        );
  throw new PawlError(
    "unknownWorkflow",
    `There is no workflow "${name}".${known} Looked for ${name}.workflow.ts (or .mts, .js, .mjs) in: ${looked.join(", ")}. A path works too: ./path/to/file.workflow.ts. See those with a name: \`pawl workflows\``,
    { subject: name },
  );
}

/** A workflow file in one of the places, and why it cannot be started by its name, if it cannot. */
export interface ListedWorkflow extends FoundWorkflow {
  /** The file that is taken for the same name; null: this one is. */
  readonly hiddenBy: string | null;
  /** Its name is that of a command. */
  readonly isReserved: boolean;
}

/** Every workflow file of the places, in the order in which they are looked for. */
export function everyWorkflow(places: Places): readonly ListedWorkflow[] {
  const all = searched(places).flatMap(({ directory, origin }) => workflowsIn(directory).map((found) => ({ ...found, origin })));
  return all.map((found) => {
    const first = all.find(({ name }) => name === found.name)?.file ?? found.file;
    return { ...found, hiddenBy: first === found.file ? null : first, isReserved: reservedNames.includes(found.name) };
  });
}

/** Every workflow that can be started by its name. */
export const listWorkflows = (places: Places): readonly FoundWorkflow[] =>
  everyWorkflow(places)
    .filter(({ hiddenBy, isReserved }) => hiddenBy === null && !isReserved)
    .map(({ name, file, origin }) => ({ name, file, origin }));

function searched({ cwd, home, builtIn }: Places): readonly { readonly directory: string; readonly origin: FoundWorkflow["origin"] }[] {
  return [
    { directory: projectDirectory(cwd), origin: "project" },
    { directory: join(home, ".pi", "agent", "workflows"), origin: "user" },
    ...(builtIn === undefined ? [] : [{ directory: builtIn, origin: "builtIn" as const }]), // "builtIn" alone widens to string
  ];
}

/** The closest one upwards from `cwd` inside the repository that holds it; outside of a repository only `cwd` counts. */
function projectDirectory(cwd: string): string {
  const here = resolve(cwd);
  const candidates: string[] = [];
  for (let directory = here; ; directory = dirname(directory)) {
    candidates.push(join(directory, ".pi", "workflows"));
    if (existsSync(join(directory, ".git"))) break;
    if (dirname(directory) === directory) return join(here, ".pi", "workflows");
  }
  return candidates.find((candidate) => existsSync(candidate)) ?? join(here, ".pi", "workflows");
}

function workflowsIn(directory: string): readonly { readonly name: string; readonly file: string }[] {
  let names: string[];
  try {
    names = readdirSync(directory).sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
  } catch {
    return []; // a place that does not exist or cannot be read holds no workflow; the error that follows names it
  }
  return names.flatMap((file) => {
    const name = suffix.exec(file)?.groups?.["name"];
    return name === undefined || statusOf(join(directory, file)) !== "file" ? [] : [{ name, file: join(directory, file) }];
  });
}

/** Null for what is not there, and for what cannot be looked at: a link in a circle, a directory of another user's. */
function statusOf(path: string): "file" | "directory" | null {
  try {
    const stat = statSync(path);
    return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : null;
  } catch {
    return null; // whoever wants this very file is told that there is none
  }
}

/** Of two files with one name the TypeScript one is found. */
const order = (file: string): number => workflowExtensions.indexOf(extname(file));

function hint(wrong: string, known: readonly string[]): string {
  const close = closestNames(wrong, known);
  if (close.length > 0) return ` Did you mean ${close.join(" or ")}?`;
  return listed(known);
}

function listed(known: readonly string[]): string {
  return known.length === 0 ? "" : ` There are: ${known.slice(0, 12).join(", ")}${known.length > 12 ? ` and ${known.length - 12} more` : ""}.`;
}
