/** The example with every kind of composition: a rollout with a machine of its author's, an included workflow, a plan that a person changes, a wait and
 *  commands. With a clock that stands still, and a crash after each of its commits. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommitHooks } from "../../persistence/commit.ts";
import { isPawlError } from "../../src/errors.ts";
import type { EmbeddedHost, RunView } from "../../src/host/api.ts";
import { openEmbedded } from "../../src/host/embedded.ts";
import { fakeClock, type FakeClock } from "../../src/runtime/clock.ts";

const workflow = fileURLToPath(new URL("../../examples/rollout/rollout.workflow.ts", import.meta.url));
const minute = 60_000;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pawl-rollout-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A state directory and a release of their own. */
class Stage {
  readonly clock: FakeClock = fakeClock();
  readonly home: string;
  readonly release: string;
  host: EmbeddedHost | null = null;

  constructor(name: string) {
    this.home = join(folder, name);
    this.release = join(folder, "release.bin");
    writeFileSync(this.release, "the release");
    rmSync(`${this.release}.share`, { force: true });
  }

  async open(hooks?: CommitHooks): Promise<EmbeddedHost> {
    this.host = await openEmbedded({ home: this.home, clock: this.clock, ...(hooks === undefined ? {} : { hooks }) });
    return this.host;
  }

  async close(): Promise<void> {
    await this.host?.close();
    this.host = null;
  }

  start(host: EmbeddedHost, sha256?: string): Promise<{ readonly id: string }> {
    const input = { release: this.release, restSeconds: 60, ...(sha256 === undefined ? {} : { sha256 }) };
    return host.start({ workflow, input, cwd: folder, idempotencyKey: "the only one" });
  }

  /** Answers first with another plan, then with go; lets time pass while nobody works. */
  async play(host: EmbeddedHost, id: string): Promise<RunView> {
    let failure: unknown = null;
    const leave = new AbortController();
    let driving: Promise<void> | null = null;
    // Driving ends where the run waits for somebody or for its time.
    const drive = (): Promise<void> =>
      host.drive(id, { signal: leave.signal }).then(
        () => {
          driving = null;
        },
        (error: unknown) => {
          failure = error;
        },
      );
    try {
      for (let turns = 0; turns < 20_000; turns += 1) {
        driving ??= drive();
        const view = await host.run(id);
        if (failure !== null) throw failure;
        if (view.endedAt !== null) return view;
        const open = view.decisions.find(({ state }) => state === "open");
        const { items: work } = await host.effects({ run: id, state: ["planned", "attempting"] }, {});
        const next = this.clock.next();
        if (open !== undefined) await this.answer(host, open.id, view.decisions.length === 1);
        else if (work.length === 0 && next !== null) this.clock.advance(Math.max(0, next - this.clock.now()));
        await new Promise<void>((resolve) => setTimeout(resolve, 1));
      }
      throw new Error("the rollout does not end");
    } finally {
      leave.abort();
      await driving;
    }
  }

  private answer(host: EmbeddedHost, decision: string, isFirst: boolean): Promise<unknown> {
    const answer = isFirst ? { choice: "replan", text: "50 first, then 10 and 50 again" } : { choice: "go" };
    return host.answer({ decision, ...answer, idempotencyKey: decision, source: { kind: "human", channel: "terminal", actor: "tester" } });
  }
}

const facts = ({ state, result, visits, decisions }: RunView): object => ({
  state,
  result,
  visits: visits.map(({ id, status, case: taken }) => [id.slice(id.indexOf("/graph/")), status, taken]),
  decisions: decisions.map(({ state: end, choice }) => [end, choice]),
});

/** Everything up to one commit is kept; the process is gone with the next. */
const dyingAfter = (commits: number): CommitHooks => ({
  beforeCommit: (number) => {
    if (number > commits) throw new Database.SqliteError("the process is gone", "SQLITE_IOERR_WRITE");
  },
});

const wholeRun = async (stage: Stage): Promise<object> => {
  const host = await stage.open();
  const { id } = await stage.start(host);
  const view = await stage.play(host, id);
  await stage.close();
  return facts(view);
};

describe("the rollout example", () => {
  test("E2E-10 a person changes the plan, the release settles, and the canary takes it out in the changed steps", async () => {
    const stage = new Stage("plain");
    expect(await wholeRun(stage)).toEqual({
      state: "completed",
      result: { status: "out", share: 100, steps: 3 },
      visits: [
        ["/graph/verify.1", "accepted", "sound"],
        ["/graph/verify.1/graph/digest.1", "accepted", "read"],
        ["/graph/verify.1/graph/compare.2", "accepted", "same"],
        ["/graph/verify.1/graph/sound.3", "accepted", "done"],
        ["/graph/disk.2", "accepted", "done"],
        ["/graph/plan.3", "accepted", "done"],
        ["/graph/approve.4", "accepted", "replan"],
        ["/graph/plan.5", "accepted", "done"],
        ["/graph/approve.6", "accepted", "go"],
        ["/graph/settle.7", "accepted", "done"],
        ["/graph/canary.8", "accepted", "done"],
        ["/graph/done.9", "accepted", "done"],
      ],
      decisions: [
        ["accepted", "replan"],
        ["accepted", "go"],
      ],
    });
    // It rested once, and after each of 10, 50 and 100 %.
    expect(stage.clock.now()).toBeGreaterThanOrEqual(fakeClock().now() + 4 * minute);
    expect(readFileSync(`${stage.release}.share`, "utf8")).toBe("100\n");
  });

  test("E2E-10 a release that is not what its author built goes to nobody", async () => {
    const stage = new Stage("spoilt");
    const host = await stage.open();
    const { id } = await stage.start(host, createHash("sha256").update("another one").digest("hex"));
    expect(await stage.play(host, id)).toMatchObject({ state: "completed", result: { status: "refused" }, decisions: [] });
    await stage.close();
  });

  test(
    "E2E-11 after a crash behind each of its commits it ends as without one, and nothing is asked or done again that was done",
    { timeout: 600_000 },
    async () => {
      const whole = await wholeRun(new Stage("whole"));
      let lost = 0;
      for (let commits = 1, isOver = false; !isOver; commits += 1) {
        const stage = new Stage(`after ${commits}`);
        const first = await stage.open(dyingAfter(commits));
        let view: RunView | null = null;
        try {
          view = await stage.play(first, (await stage.start(first)).id);
        } catch (error) {
          if (!isPawlError(error) || error.kind !== "environment") throw error;
          lost += 1;
        }
        await stage.close().catch(() => undefined);
        isOver = view !== null;
        if (view === null) {
          const second = await stage.open();
          view = await stage.play(second, (await stage.start(second)).id);
          await stage.close();
        }
        expect(facts(view), `after commit ${commits}`).toEqual(whole);
        expect(readFileSync(`${stage.release}.share`, "utf8")).toBe("100\n");
        rmSync(stage.home, { recursive: true, force: true });
      }
      expect(lost).toBeGreaterThan(20);
    },
  );
});
