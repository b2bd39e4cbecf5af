/** Opens a state directory and says how that went: `opened`, or the error's code and message as JSON. Stays until it is killed when it got in.
 *  Arguments: home, mode (owner or reader), or `database` to open the file without taking the lock; epoch ms at which to begin. */
import { setTimeout as wait } from "node:timers/promises";
import { isPawlError } from "../../../src/errors.ts";
import { openDatabase } from "../../../persistence/database.ts";
import { openStore } from "../../../persistence/index.ts";

const [home = "", mode = "owner", begin = "0"] = process.argv.slice(2);
await wait(Math.max(0, Number(begin) - Date.now()));
try {
  if (mode === "database") openDatabase(`${home}/pawl.db`, { mode: "owner" });
  else await openStore({ home, mode: mode === "reader" ? "reader" : "owner", command: "opener" });
  process.stdout.write(`opened\n`);
  setInterval(() => {}, 1_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ code: isPawlError(error) ? error.code : "unknown", message: String(error) })}\n`);
}
