/** Writes beside others into one database, without the owner's lock, as no Pawl does: `done 250` tells how many steps were committed.
 *  Arguments: database path, actor, number of steps. */
import { openDatabase } from "../../../persistence/database.ts";
import { sqliteStore } from "../../../persistence/sqliteStore.ts";
import { stepOf } from "../../contract/storeRecords.ts";

const [path = "", actor = "", steps = "0"] = process.argv.slice(2);
const store = sqliteStore(openDatabase(path, { mode: "owner", busyTimeoutMs: 20_000 }));
let done = 0;
for (let revision = 1; revision <= Number(steps); revision += 1) {
  const [result] = await store.commit([stepOf(actor, revision)]);
  if (result?.status === "committed") done += 1;
}
await store.close();
process.stdout.write(`done ${done}\n`);
