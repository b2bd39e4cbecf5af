/** `pawl version`. */
import { packageVersion } from "../../packageRoot.ts";
import type { Environment } from "../environment.ts";
import { exitCodes, type ExitCode } from "../exitCodes.ts";
import { jsonLine } from "../json.ts";

export function showVersion({ json, out, home }: Environment): ExitCode {
  const versions = { pawl: packageVersion(), node: process.versions.node, platform: `${process.platform} ${process.arch}` };
  out(json ? jsonLine({ ...versions, home }) : `pawl ${versions.pawl}\nnode ${versions.node}\n${versions.platform}\nstate ${home}\n`);
  return exitCodes.completed;
}
