/** Where this package stands, and its version: the source tree and the compiled one stand at different depths below it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

interface Package {
  readonly folder: string;
  readonly version: string;
}

let known: Package | undefined;

/** The nearest folder above this file whose package.json is named pawl. */
function ownPackage(): Package {
  if (known !== undefined) return known;
  const here = dirname(fileURLToPath(import.meta.url));
  for (let folder = here; folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const found: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (typeof found === "object" && found !== null && "name" in found && found.name === "pawl" && "version" in found)
        return (known = { folder, version: String(found.version) });
    } catch {
      // No package.json here: it stands further up.
    }
  }
  return (known = { folder: dirname(here), version: "unknown" });
}

export const packageVersion = (): string => ownPackage().version;

/** The file that starts the command: plain JavaScript, in the package whichever tree runs. */
export const commandFile = (): string => join(ownPackage().folder, "src/cli/bin.js");
