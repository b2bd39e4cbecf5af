/** Which stored rule a statement would have broken, by the name it has in the schema. */
import type { Database } from "better-sqlite3";
import { messageOf } from "../src/errors.ts";
import { sqliteCode } from "./refusals.ts";

export interface Violation {
  readonly status: "constraint";
  readonly rule: string;
  readonly message: string;
}

export const violation = (rule: string, message: string): Violation => ({ status: "constraint", rule, message });

const byCode: { readonly [code: string]: string } = {
  SQLITE_CONSTRAINT_FOREIGNKEY: "reference_exists",
  SQLITE_CONSTRAINT_NOTNULL: "value_is_present",
  SQLITE_CONSTRAINT_DATATYPE: "value_has_its_type",
  SQLITE_TOOBIG: "value_has_bounded_size",
};

/** SQLite names the columns of a unique index, not the index: this finds the name again. */
function uniqueIndexes(db: Database): ReadonlyMap<string, string> {
  const found = db
    .prepare<[], { name: string; columns: string }>(
      `select i.name, group_concat(t.name || '.' || c.name, ', ' order by c.seqno) as columns
         from sqlite_schema t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
        where t.type = 'table' and i."unique" and i.origin = 'c' group by i.name`,
    )
    .all();
  return new Map(found.map(({ name, columns }) => [columns, name]));
}

/** Turns an error of one entry into the rule it broke; undefined when the error is the environment's, not the entry's. */
export function violationReader(db: Database): (error: unknown) => Violation | undefined {
  const indexes = uniqueIndexes(db);
  return (error) => {
    const message = messageOf(error);
    const code = sqliteCode(error);
    // Thrown while binding: a record that is not what its type says.
    if (code === undefined) return error instanceof TypeError || error instanceof RangeError ? violation("value_has_its_type", message) : undefined;
    if (!code.startsWith("SQLITE_CONSTRAINT") && code !== "SQLITE_TOOBIG") return undefined;
    // A check and a unique index are named after the colon; a trigger's own words stand alone.
    const detail = message.replace(/^[A-Z ]+ constraint failed: /, "");
    return violation(byCode[code] ?? indexes.get(detail) ?? detail, message);
  };
}
