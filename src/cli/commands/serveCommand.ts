/** `pawl host serve --home D`: the host itself. Nobody types it: whoever needs a host starts it so. */
import { PawlError, messageOf } from "../../errors.ts";
import { packageVersion } from "../../packageRoot.ts";
import { exitCodes } from "../exitCodes.ts";

export const isServe = (argv: readonly string[]): boolean => argv[0] === "host" && argv[1] === "serve";

/** Takes the place of everything else that a command does: a host has signals, output and errors of its own. */
export async function serve(argv: readonly string[]): Promise<void> {
  const [option, home] = argv;
  try {
    if (option !== "--home" || home === undefined || !home.startsWith("/") || argv.length > 2)
      throw new PawlError("invalidInput", "This command is Pawl's own. To start a host: `pawl host start`", { path: "--home" });
    const { idleFrom, serveHost } = await import("../../host/daemon/serve.ts");
    const idleMs = idleFrom(process.env);
    await serveHost({ home, version: packageVersion(), ...(idleMs === undefined ? {} : { idleMs }) });
  } catch (error) {
    process.stderr.write(`pawl: ${messageOf(error)}\n`);
    process.exitCode = exitCodes.usage;
  }
}
