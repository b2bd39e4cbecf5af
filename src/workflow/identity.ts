/** What a run keeps of its workflow's sources: the file and its local imports, by digest, so that nothing done to the files under a live run changes it. */
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { dirname, join, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { canonicalJson, sha256Hex } from "../digest.ts";
import { messageOf, PawlError } from "../errors.ts";

/** A path below the root, with `/` between its parts. */
const belowRoot = z.string().regex(/^(?!\/)(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^\0]+$/);

export const SourceManifest = z.strictObject({
  schema: z.literal("pawl.sources.v1"),
  /** Absolute directory that holds all files; packages are resolved from the places below it. */
  root: z.string().min(1),
  entry: belowRoot,
  files: z
    .array(
      z.strictObject({
        path: belowRoot,
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        /** The file that each local import leads to, by specifier. */
        imports: z.record(z.string(), belowRoot),
      }),
    )
    .min(1),
});
export type SourceManifest = z.infer<typeof SourceManifest>;

/** The stored form of a source closure. Blob hashes are SHA-256 of the bytes. */
export interface SourceClosure {
  readonly manifest: SourceManifest;
  /** The run's source digest: the hash of the manifest's canonical JSON, which is the first of the blobs. */
  readonly digest: string;
  readonly blobs: readonly { readonly hash: string; readonly bytes: Uint8Array }[];
}

/** The closure of the captured files, by absolute path; `entry` is one of them. */
export function sourceClosure(
  entry: string,
  files: ReadonlyMap<string, { readonly bytes: Uint8Array; readonly imports: { readonly [specifier: string]: string } }>,
): SourceClosure {
  const root = commonDirectory([...files.keys()]);
  const below = (path: string): string => relative(root, path).split(sep).join("/");
  const blobs = new Map([...files.values()].map(({ bytes }) => [sha256Hex(bytes), bytes]));
  const manifest: SourceManifest = {
    schema: "pawl.sources.v1",
    root,
    entry: below(entry),
    files: [...files]
      .map(([path, { bytes, imports }]) => ({
        path: below(path),
        sha256: sha256Hex(bytes),
        imports: Object.fromEntries(Object.entries(imports).map(([specifier, target]) => [specifier, below(target)])),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
  const text = canonicalJson(manifest, "source manifest");
  const digest = sha256Hex(text);
  return { manifest, digest, blobs: [{ hash: digest, bytes: Buffer.from(text) }, ...[...blobs].map(([hash, bytes]) => ({ hash, bytes }))] };
}

function commonDirectory(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => dirname(path).split(sep));
  const shared = first.findIndex((part, i) => others.some((other) => other[i] !== part));
  return (shared < 0 ? first : first.slice(0, shared)).join(sep) || sep;
}

const manifestName = "manifest.json";

/**
 * Writes stored sources into `directory` (made, private to the user), unless they stand there whole. Safe against a crash and against a second process doing the same.
 * @throws sourceUnloadable when a blob is missing or is not what its hash says
 */
export async function materialise(digest: string, readBlob: (hash: string) => Promise<Uint8Array | null>, directory: string): Promise<void> {
  if (await isComplete(directory, digest)) return;
  const blob = async (hash: string, what: string): Promise<Uint8Array> => {
    const bytes = await readBlob(hash);
    if (!bytes || sha256Hex(bytes) !== hash) throw unloadable(digest, `${what} is ${bytes ? "damaged" : "missing"} in the database`);
    return bytes;
  };
  const text = await blob(digest, "the list of its files");
  const manifest = parseManifest(Buffer.from(text).toString("utf8"), digest);
  const building = `${directory}.${randomBytes(6).toString("hex")}`;
  try {
    for (const { path, sha256 } of manifest.files) {
      const target = join(building, "files", path);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(target, await blob(sha256, `file "${path}"`), { mode: 0o600 });
    }
    await writeFile(join(building, manifestName), text, { mode: 0o600 });
    await chmod(building, 0o700);
    await putInPlace(building, directory, digest);
  } catch (error) {
    throw error instanceof PawlError ? error : unloadable(digest, `it cannot be written to ${directory}: ${messageOf(error)}`);
  } finally {
    // What stands in the way of writing (a file where a directory belongs) stands in the way of this too, and must not hide the reason.
    await rm(building, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A complete copy that another process put there first is left alone: somebody may be reading it. A broken one is moved away. */
async function putInPlace(building: string, directory: string, digest: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await rename(building, directory);
      return;
    } catch (error) {
      if (await isComplete(directory, digest)) return;
      if (tries === 3) throw error;
      const broken = `${building}.broken`;
      await rename(directory, broken).catch(() => undefined); // gone already: the next try finds the place free
      await rm(broken, { recursive: true, force: true });
    }
  }
}

const isComplete = async (directory: string, digest: string): Promise<boolean> => (await openStored(directory).catch(() => null))?.digest === digest;

/** Stored sources, read and verified. Files are known by the absolute paths that they had. */
export interface StoredSources {
  readonly digest: string;
  readonly entry: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Where an import of a local file led. */
  imported(specifier: string, from: string): string | undefined;
}

/** Reads what `materialise` wrote. @throws sourceUnloadable for a file that is missing or was changed since */
export async function openStored(directory: string): Promise<StoredSources> {
  const { digest, manifest } = await readManifest(directory);
  const pathOf = (path: string): string => resolve(manifest.root, path);
  const files = new Map<string, Uint8Array>();
  for (const { path, sha256 } of manifest.files) {
    const bytes = await readFile(join(directory, "files", path)).catch(() => null);
    if (!bytes || sha256Hex(bytes) !== sha256) throw unloadable(digest, `file "${path}" is ${bytes ? "damaged" : "missing"} in ${directory}`);
    files.set(pathOf(path), bytes);
  }
  const imports = new Map(manifest.files.map((file) => [pathOf(file.path), file.imports]));
  return {
    digest,
    entry: pathOf(manifest.entry),
    files,
    imported(specifier, from) {
      const known = imports.get(from) ?? {};
      const target = Object.hasOwn(known, specifier) ? known[specifier] : undefined;
      return target === undefined ? undefined : pathOf(target);
    },
  };
}

async function readManifest(directory: string): Promise<{ readonly digest: string; readonly manifest: SourceManifest }> {
  const text = await readFile(join(directory, manifestName), "utf8").catch((error: unknown) => {
    throw unloadable(directory, `its stored copy cannot be read: ${messageOf(error)}`);
  });
  const digest = sha256Hex(text);
  return { digest, manifest: parseManifest(text, digest) };
}

function parseManifest(text: string, digest: string): SourceManifest {
  try {
    return SourceManifest.parse(JSON.parse(text));
  } catch (error) {
    throw unloadable(digest, "the list of its files is damaged", error);
  }
}

/** An error that says what of the stored sources is wrong; the run that needs them is blocked, not lost. */
export function unloadable(subject: string, what: string, cause?: unknown): PawlError {
  return new PawlError(
    "sourceUnloadable",
    `The stored sources ${subject} cannot be loaded: ${what}. Mend that and resume the run, restart it from the workflow's file, or cancel it.`,
    { subject, ...(cause === undefined ? {} : { cause }) },
  );
}
