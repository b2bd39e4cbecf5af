/** The modules that workflow files share with the running Pawl: the same instances, wherever the file lies. */
import { fileURLToPath } from "node:url";
import { createJiti, type Jiti } from "jiti";
import * as xstate from "xstate";
import * as graph from "xstate/graph";
import * as zod from "zod";
import * as authoring from "../authoring.ts";

export const virtualModules: { readonly [name: string]: object } = { pawl: authoring, zod, "zod/v4": zod, xstate, "xstate/graph": graph };

export const virtualNames: ReadonlySet<string> = new Set(Object.keys(virtualModules));

/** Only transforms and resolves for us; it loads nothing and writes nothing to disk. */
export const transformer: Jiti = createJiti(fileURLToPath(import.meta.url), { fsCache: false, moduleCache: false, sourceMaps: true, tryNative: false });

/** Loads the compiler, which takes longer than to compile a file. */
export function warmTransformer(): void {
  transformer.transform({ source: "export const warm: boolean = true;", filename: "warm.ts", ts: true });
}
