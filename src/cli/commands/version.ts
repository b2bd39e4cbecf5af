/** `pawl version`. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";

export function showVersion({ json, out, home }: Environment): ExitCode {
  const versions = { pawl: packageVersion(), node: process.versions.node, platform: `${process.platform} ${process.arch}` };
  out(json ? jsonLine({ ...versions, home }) : `pawl ${versions.pawl}\nnode ${versions.node}\n${versions.platform}\nstate ${home}\n`);
  return exitCodes.completed;
}

/** From the nearest package.json named pawl: the source tree and the compiled one stand at different depths. */
function packageVersion(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const found: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      if (typeof found === "object" && found !== null && "name" in found && found.name === "pawl" && "version" in found) return String(found.version);
    } catch {
      // No package.json here: it stands further up.
    }
  }
  return "unknown";
}
