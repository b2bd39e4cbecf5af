/** Storage of Pawl: `pawl/persistence`. */
export type { CommitHooks } from "./commit.ts";
export type { DatabaseMode } from "./database.ts";
export { memoryStore } from "./memoryStore.ts";
export { readOwner, type Owner } from "./lock.ts";
export { databaseFileName, openStore, type OpenedStore, type OpenStoreOptions } from "./openStore.ts";
export { applicationId, schemaVersion } from "./schema.ts";
export type { DatabaseFacts, Orphan } from "./inspect.ts";
export { keptIdsMs, prunedEventId, type Pruned, type PruneRequest } from "./prune.ts";
export type { SqliteStore } from "./sqliteStore.ts";
export * from "./store.ts";
