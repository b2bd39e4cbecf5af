/** The width of text of any script, by a library that is loaded when the first such text is met: compiling its expressions takes as long
 *  as the rest of a short command, and a host that never meets one would hold them for nothing. */
import { createRequire } from "node:module";
import type stringWidth from "string-width";

let measure: typeof stringWidth | undefined;

/** Terminal cells; escape sequences count as what they are made of. */
export function widthOfAny(text: string): number {
  measure ??= load();
  return measure(text, { countAnsiEscapeCodes: true });
}

function load(): typeof stringWidth {
  const { default: loaded } = createRequire(import.meta.url)("string-width") as { readonly default: typeof stringWidth }; // typed by the package itself
  return loaded;
}
