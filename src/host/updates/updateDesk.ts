/** Takes what steps publish and stores it: many in one commit, the latest of each key, only while the step that says it goes on. */
import { basisAfter, progressType } from "../../../machines/contracts/pace.ts";
import type { Progress } from "../../../machines/contracts/progress.ts";
import { checkedUpdate, type CheckedUpdate, type UpdateReceipt } from "../../../machines/contracts/update.ts";
import type { Commit, CommitResult, InboxRecord, Store, UpdateRow } from "../../../persistence/store.ts";
import { sha256Hex } from "../../digest.ts";
import { PawlError } from "../../errors.ts";
import { systemClock, type Clock } from "../../runtime/clock.ts";
import { basisIn } from "./updateView.ts";

/** Who publishes. */
export interface UpdateSource {
  readonly run: string;
  readonly visit: string;
  /** The actor whose moving on ends the visit, and its revision while it is open; null once it is over. */
  readonly standing: () => Promise<{ readonly actor: string; readonly revision: number } | null>;
  /** The caller's own name for this call: the same one gets the first receipt again. */
  readonly callId?: string | undefined;
}

export interface DeskOptions {
  readonly store: Pick<Store, "commit" | "query" | "inbox">;
  readonly clock: Clock;
  /** Hears of each stored update. */
  readonly tell: (row: UpdateRow) => void;
}

interface Pending {
  source: UpdateSource;
  update: CheckedUpdate;
  readonly promise: Promise<UpdateReceipt>;
  readonly resolve: (receipt: UpdateReceipt) => void;
  readonly reject: (error: unknown) => void;
}

/** Between two commits of updates: whoever waits for each of its updates is held back by it. */
const gapMs = 10;
/** Of a commit that met a step which moved meanwhile. */
const tries = 5;

export class UpdateDesk {
  private readonly options: DeskOptions;
  /** By row, or by call: what the next commit takes. */
  private readonly pending = new Map<string, Pending>();
  private writing: Promise<void> | null = null;
  private lastAt = Number.NEGATIVE_INFINITY;

  constructor(options: DeskOptions) {
    this.options = options;
  }

  /** Resolves when it is stored, or a later one of the same key in its place. @throws invalidInput with the path; refused, keyReused */
  publish(source: UpdateSource, given: unknown): Promise<UpdateReceipt> {
    let update: CheckedUpdate;
    try {
      update = checkedUpdate(given);
    } catch (error) {
      return Promise.reject(error);
    }
    const place = `${idOf(source.run, update)} ${source.callId ?? ""}`;
    const waiting = this.pending.get(place);
    if (waiting && source.callId === undefined) {
      waiting.source = source;
      waiting.update = update;
      return waiting.promise;
    }
    if (waiting) return waiting.promise;
    const { promise, resolve, reject } = Promise.withResolvers<UpdateReceipt>();
    this.pending.set(place, { source, update, promise, resolve, reject });
    this.writing ??= this.write();
    return promise;
  }

  /** Resolves when nothing waits to be stored. */
  async settled(): Promise<void> {
    while (this.writing !== null) await this.writing;
  }

  private async write(): Promise<void> {
    try {
      while (this.pending.size > 0) {
        await this.gap();
        const group = [...this.pending.values()];
        this.pending.clear();
        await this.store(group);
        this.lastAt = systemClock.now();
      }
    } finally {
      this.writing = null;
    }
  }

  /** The machine's own time, whatever clock the runs have: it is the disk that is spared. */
  private async gap(): Promise<void> {
    const now = systemClock.now();
    const at = Math.min(this.lastAt + gapMs, now + gapMs);
    if (at > now) await new Promise<void>((resolve) => systemClock.schedule(at, resolve));
  }

  private async store(group: readonly Pending[]): Promise<void> {
    let left = group;
    for (let time = 1; left.length > 0; time += 1) {
      const again: Pending[] = [];
      try {
        const rows = new Map<string, UpdateRow>();
        const entries: { readonly pending: Pending; readonly row: UpdateRow; readonly commit: Commit }[] = [];
        for (const pending of left) {
          const made = await this.prepared(pending, rows);
          if (made) entries.push({ pending, ...made });
        }
        const results = await this.options.store.commit(entries.map(({ commit }) => commit));
        for (const [index, { pending, row }] of entries.entries()) {
          const result = results[index];
          if (result?.status === "committed") this.stored(pending, row);
          else if (result?.status === "conflict" && time < tries) again.push(pending);
          else pending.reject(refusal(pending, result));
        }
      } catch (error) {
        for (const pending of left) pending.reject(error);
        return;
      }
      left = again;
    }
  }

  /** Undefined where nothing is left to write. `rows`: those of the same commit. */
  private async prepared(pending: Pending, rows: Map<string, UpdateRow>): Promise<{ readonly row: UpdateRow; readonly commit: Commit } | undefined> {
    const { source, update } = pending;
    const { store, clock } = this.options;
    const known = source.callId === undefined ? null : await store.inbox(source.visit, eventIdOf(source.callId));
    const fingerprint = sha256Hex(`${update.type}\n${update.key}\n${update.json}`);
    if (known) {
      if (known.fingerprint === fingerprint) pending.resolve(JSON.parse(known.receipt) as UpdateReceipt); // written below
      else
        pending.reject(new PawlError("keyReused", `Call "${source.callId ?? ""}" has published something else. Use a new call id.`, { subject: source.visit }));
      return undefined;
    }
    const standing = await source.standing();
    if (standing === null) {
      pending.reject(over(source));
      return undefined;
    }
    const id = idOf(source.run, update);
    const before = rows.get(id) ?? (await store.query("updates", { id }, { limit: 1 })).items[0];
    const row = rowAfter(before, source, update, Math.max(clock.now(), before?.updatedAt ?? 0));
    rows.set(id, row);
    const inbox: InboxRecord[] =
      source.callId === undefined
        ? []
        : [{ actor: source.visit, eventId: eventIdOf(source.callId), fingerprint, receipt: JSON.stringify(receiptOf(row)), event: null, at: row.updatedAt }];
    return {
      row,
      commit: {
        eventId: `${row.id}@${row.revision}`,
        at: row.updatedAt,
        expects: { [standing.actor]: standing.revision },
        actors: [],
        journal: [],
        timers: [],
        requiresTimers: [],
        effects: [],
        inbox,
        rows: [{ table: "updates", row }],
        blobs: [],
      },
    };
  }

  private stored(pending: Pending, row: UpdateRow): void {
    pending.resolve(receiptOf(row));
    this.options.tell(row);
  }
}

const idOf = (run: string, { type, key }: Pick<CheckedUpdate, "type" | "key">): string => `${run}/${type}/${key}`;
const eventIdOf = (callId: string): string => `update:${callId}`;
const receiptOf = ({ type, key, revision, updatedAt }: UpdateRow): UpdateReceipt => ({ type, key, revision, at: updatedAt });

function rowAfter(before: UpdateRow | undefined, { run, visit }: UpdateSource, { type, key, json }: CheckedUpdate, at: number): UpdateRow {
  const basis = type === progressType ? basisAfter(before ? basisIn(before) : null, JSON.parse(json) as Progress, latestOf(before), at) : null; // checked by that schema
  return {
    id: idOf(run, { type, key }),
    run,
    type,
    key,
    visit,
    revision: (before?.revision ?? 0) + 1,
    data: json,
    basis: basis === null ? null : JSON.stringify(basis),
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
  };
}

const latestOf = (row: UpdateRow | undefined): number | null => (row === undefined ? null : ((JSON.parse(row.data) as Progress).completed ?? null)); // as above

const over = ({ visit }: UpdateSource): PawlError => new PawlError("refused", `Visit "${visit}" is over: its update was not taken.`, { subject: visit });

function refusal({ source, update }: Pending, result: CommitResult | undefined): PawlError {
  if (result?.status === "constraint" && result.rule === "at_most_1024_updates_per_run")
    return new PawlError(
      "refused",
      `Run ${source.run} has 1,024 updates already, which is the limit, and "${update.type}" with the key "${update.key}" would be another. Publish under a key that it has.`,
      { subject: source.run },
    );
  if (result?.status === "constraint") return new PawlError("internal", `The update could not be stored: ${result.message}`, { subject: source.visit });
  return over(source);
}
