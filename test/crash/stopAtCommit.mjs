/** Preloaded into the real command (`node --import`): counts its database commits, and at the one named stands still until its parent kills it.
 *  PAWL_TEST_STOP="before:7" or "after:7"; PAWL_TEST_MARK is a file that says `<pid>` when it stands still, and `commits <n>` at the end. */
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";

const Database = createRequire(import.meta.url)("better-sqlite3");
const [when, number] = (process.env.PAWL_TEST_STOP ?? ":0").split(":");
const mark = process.env.PAWL_TEST_MARK;
let commits = 0;

const standStill = () => {
  // One write of a few bytes: the parent reads all of it or nothing.
  writeFileSync(mark, String(process.pid));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

const prepare = Database.prototype.prepare;
Database.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  if (sql.trim().toLowerCase() !== "commit") return statement;
  const run = statement.run;
  statement.run = function (...args) {
    commits += 1;
    if (when === "before" && commits === Number(number)) standStill();
    const result = run.apply(statement, args);
    if (when === "after" && commits === Number(number)) standStill();
    return result;
  };
  return statement;
};

process.on("exit", () => {
  if (mark && number === "0") writeFileSync(mark, `commits ${commits}`);
});
