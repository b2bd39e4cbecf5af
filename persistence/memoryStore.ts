/** A store that ends with its process: the same SQL on a database in memory, so that a test proves what the file does. */
import type { CommitHooks } from "./commit.ts";
import { openDatabase } from "./database.ts";
import { sqliteStore, type SqliteStore } from "./sqliteStore.ts";

/** An empty store in memory. */
export const memoryStore = (hooks: CommitHooks = {}): SqliteStore => sqliteStore(openDatabase(":memory:", { mode: "owner" }), hooks);
