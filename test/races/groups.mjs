/** Preloaded into real hosts (`node --import`): notes what each commit of the database holds, one line a commit group, and can end the host at one.
 *  RACE_GROUPS is the file of the notes: `{"rows":[[actor, event type]],"inbox":[[actor, event id]]}`. While the file RACE_KILL says
 *  `before 7` or `after 7`, the group that holds the seventh answer from then on is its host's last: killed with everything written and nothing durable,
 *  or durable and nobody told. */
import { createRequire } from "node:module";
import { appendFileSync, readFileSync, unlinkSync } from "node:fs";

const { RACE_GROUPS: notes, RACE_KILL: order = "" } = process.env;

const ordered = () => {
  try {
    return readFileSync(order, "utf8");
  } catch {
    return ""; // no order to die was given
  }
};

const die = (when) => {
  unlinkSync(order);
  appendFileSync(notes, `${JSON.stringify({ killed: Date.now(), when })}\n`);
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment: not one instruction more of the host's.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

// A host's workers and clients load this file too, and have no database.
if (notes !== undefined && process.argv.includes("serve")) {
  const Database = createRequire(import.meta.url)("better-sqlite3");
  let rows = [];
  let inbox = [];
  let mark = [0, 0];
  let answers = 0;
  const begun = () => {
    rows = [];
    inbox = [];
  };
  const committing = (commit) => {
    const came = inbox.filter(([, id]) => id.startsWith("answer:")).length;
    const [when, count] = came > 0 ? ordered().split(" ") : [""];
    answers = when === "" ? 0 : answers + came;
    const isLast = when !== "" && answers >= Number(count);
    if (isLast && when === "before") die(when);
    const result = commit();
    appendFileSync(notes, `${JSON.stringify({ rows, inbox })}\n`);
    if (isLast && when === "after") die(when);
    return result;
  };
  const watched = [
    [/^begin immediate$/, (run) => (begun(), run())],
    [/^savepoint entry$/, (run) => ((mark = [rows.length, inbox.length]), run())],
    [/^rollback to entry$/, (run) => ((rows.length = mark[0]), (inbox.length = mark[1]), run())],
    [/^insert into journal /, (run, row) => (rows.push([row.actor, row.type]), run())],
    [/^insert into inbox /, (run, row) => (inbox.push([row.actor, row.eventId]), run())],
    [/^commit$/, committing],
  ];
  const prepare = Database.prototype.prepare;
  Database.prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    const [, act] = watched.find(([pattern]) => pattern.test(sql)) ?? [];
    if (act === undefined) return statement;
    const run = statement.run;
    statement.run = (...args) => act(() => run.apply(statement, args), args[0]);
    return statement;
  };
}
