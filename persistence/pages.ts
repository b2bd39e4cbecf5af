/** Lists of the projections, page by page. A filter on states asks for each state apart and merges: each then reads
 *  only its own page from an index that has the order, however many rows of other states there are. */
import type { Database, Statement } from "better-sqlite3";
import { beginning, checkedLimit, end, readCursor, writeCursor, type Position } from "./cursors.ts";
import type { ActorRecord, DecisionRow, EffectRecord, Page, PageRequest, Projection, Projections, RunRow, UpdateRow } from "./store.ts";
import { actorColumns, actorOf, type ActorColumns } from "./tables/actors.ts";
import { decisionColumns } from "./tables/decisions.ts";
import { effectColumns, effectOf, type EffectColumns } from "./tables/effects.ts";
import { runColumns, runOf, type RunColumns } from "./tables/runs.ts";
import { updateColumns } from "./tables/updates.ts";

/** What a projection's list is made from. */
interface Source<Columns, Row> {
  readonly projection: Projection;
  readonly columns: string;
  readonly id: string;
  readonly state: string;
  /** Column by filter name. */
  readonly filters: { readonly [name: string]: string };
  /** `from` and an extra condition, where a state has an index of its own. */
  readonly special?: (state: string | undefined, filtered: readonly string[]) => { readonly from: string; readonly and: string } | undefined;
  readonly read: (row: Columns) => Row;
  readonly positionOf: (row: Row) => Position;
}

export const runsSource: Source<RunColumns, RunRow> = {
  projection: "runs",
  columns: runColumns,
  id: "id",
  state: "state",
  filters: { id: "id", workflow: "workflow", session: "session" },
  read: runOf,
  positionOf: (row) => row,
};

export const decisionsSource: Source<DecisionRow, DecisionRow> = {
  projection: "decisions",
  columns: decisionColumns,
  id: "id",
  state: "state",
  filters: { id: "id", run: "run", code: "code" },
  read: (row) => row,
  positionOf: (row) => row,
};

export const effectsSource: Source<EffectColumns, EffectRecord> = {
  projection: "effects",
  columns: effectColumns,
  id: "key",
  state: "state",
  filters: { key: "key", actor: "actor", root: "root", visit: "visit" },
  // Few effects are unsettled, most are history: without being told, SQLite walks the history in order.
  special(state, filtered) {
    if (filtered.includes("key") || filtered.includes("visit")) return undefined;
    if (state === "ambiguous") return { from: "effects indexed by effects_ambiguous", and: "state = 'ambiguous'" };
    if (state !== "planned" && state !== "attempting") return undefined;
    return { from: `effects indexed by ${filtered.includes("actor") ? "effects_open_by_actor" : "effects_open"}`, and: "state in ('planned', 'attempting')" };
  },
  read: effectOf,
  positionOf: ({ createdAt, key }) => ({ createdAt, id: key }),
};

export const actorsSource: Source<ActorColumns, ActorRecord> = {
  projection: "actors",
  columns: actorColumns,
  id: "id",
  state: "status",
  filters: { root: "root", parent: "parent", machineId: "machine_id" },
  read: actorOf,
  positionOf: (row) => row,
};

export const updatesSource: Source<UpdateRow, UpdateRow> = {
  projection: "updates",
  columns: updateColumns,
  id: "id",
  state: "state",
  filters: { id: "id", run: "run" },
  read: (row) => row,
  positionOf: (row) => row,
};

/** The statement for a set of filter names, `state` being one value or none; `newest` walks backwards. */
export function pageSql<C, R>(source: Source<C, R>, filtered: readonly string[], state: string | undefined, newest = false): string {
  const special = source.special?.(state, filtered);
  const conditions = filtered.map((name) => `${source.filters[name]} = :${name}`);
  if (state !== undefined) conditions.push(`${source.state} = :state`);
  if (special) conditions.push(special.and);
  conditions.push(`(created_at_ms, ${source.id}) ${newest ? "<" : ">"} (:createdAt, :after)`);
  return `select ${source.columns} from ${special?.from ?? source.projection} where ${conditions.join(" and ")} order by ${newest ? `created_at_ms desc, ${source.id} desc` : `created_at_ms, ${source.id}`} limit :limit`;
}

type Filter = { readonly [name: string]: string | readonly string[] | undefined };

function pager<C, R>(db: Database, source: Source<C, R>): (filter: Filter, page: PageRequest) => Page<R> {
  // As many as there are sets of filters and special states: a few dozen.
  const statements = new Map<string, Statement<[{ [name: string]: string | number }], C>>();
  const statement = (filtered: readonly string[], state: string | undefined, newest: boolean): Statement<[{ [name: string]: string | number }], C> => {
    const sql = pageSql(source, filtered, state, newest);
    const known = statements.get(sql) ?? db.prepare<[{ [name: string]: string | number }], C>(sql);
    statements.set(sql, known);
    return known;
  };
  return (filter, page) => {
    const limit = checkedLimit(page.limit);
    const newest = page.newest ?? false;
    const { createdAt, id: after } = readCursor(source.projection, page.cursor, newest ? end : beginning);
    const values: { [name: string]: string } = {};
    for (const name of Object.keys(source.filters)) {
      const value = filter[name];
      if (typeof value === "string") values[name] = value;
    }
    const filtered = Object.keys(values);
    const states = filter[source.state];
    // One row more than the page tells whether there is another page.
    const rowsOf = (state: string | undefined): R[] =>
      statement(filtered, state, newest)
        .all({ ...values, ...(state === undefined ? {} : { state }), createdAt, after, limit: limit + 1 })
        .map(source.read);
    const rows = Array.isArray(states) ? merged([...new Set(states)].flatMap(rowsOf), source.positionOf, newest) : rowsOf(undefined);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return {
      items: newest ? items.toReversed() : items,
      cursor: last !== undefined && rows.length > limit ? writeCursor(source.projection, source.positionOf(last)) : null,
    };
  };
}

/** SQLite orders text by its UTF-8 bytes; JavaScript's own order differs beyond the basic plane. */
const merged = <R>(rows: R[], positionOf: (row: R) => Position, newest: boolean): R[] =>
  rows.sort((left, right) => {
    const [a, b] = newest ? [positionOf(right), positionOf(left)] : [positionOf(left), positionOf(right)];
    return a.createdAt - b.createdAt || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
  });

export type Query = <P extends Projection>(projection: P, filter: Projections[P]["filter"], page: PageRequest) => Page<Projections[P]["row"]>;

/** @throws PawlError invalidInput with the path of a bad limit or cursor. */
export function queryReader(db: Database): Query {
  const pagers: { [P in Projection]: (filter: Projections[P]["filter"], page: PageRequest) => Page<Projections[P]["row"]> } = {
    runs: pager(db, runsSource),
    decisions: pager(db, decisionsSource),
    effects: pager(db, effectsSource),
    actors: pager(db, actorsSource),
    updates: pager(db, updatesSource),
  };
  return (projection, filter, page) => pagers[projection](filter, page);
}
