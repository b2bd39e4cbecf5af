/** Holds a transaction on a database file for a while: says `held`, then lets go and ends.
 *  Arguments: path, the statement that begins it, ms. */
import { setTimeout as wait } from "node:timers/promises";
import Database from "better-sqlite3";

const [path = "", begin = "", ms = "0"] = process.argv.slice(2);
const db = new Database(path);
db.exec(begin);
process.stdout.write("held\n");
await wait(Number(ms));
db.close();
