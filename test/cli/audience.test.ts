/** What a terminal shows of who may answer, and who tried. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { fixture, type Fixture } from "./fixture.ts";

const timeout = 60_000;

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

/** Decisions for operators are shown by Telegram, and no terminal may answer them. */
function forTelegramAlone(home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = join(home, "channels.json");
  writeFileSync(
    path,
    JSON.stringify({
      schema: "pawl.channels.v1",
      audiences: { operator: { channels: ["telegram:ops"], local: false } },
      telegram: { ops: { credential: "bot", users: [77], chats: [-100] } },
    }),
  );
  chmodSync(path, 0o600);
}

test(
  "DEC-24 DEC-26 a terminal that may not answer is not asked, and says who nobody has been shown; an answer typed all the same is refused",
  { timeout },
  async () => {
    const { home, piped, terminal } = setup();
    forTelegramAlone(home);
    const run = terminal(["run", "approval.workflow.ts", "--task", "dark mode"]);
    expect(await run.exit).toBe(3);
    const shown = run.lines().join("\n").replace(/\s+/g, " ");
    expect(shown).toContain("Nobody can answer: not delivered by telegram:ops");
    expect(shown).not.toContain("Your choice");
    expect(shown).not.toMatch(/ answer [0-9A-Z]{7} go/);
    const [decision] = JSON.parse(piped(["decisions", "--json"]).out).items;
    expect(decision.delivery).toMatchObject({ local: false, isDelivered: false });
    expect(piped(["decisions"]).out).toContain("open, not delivered");
    const answer = terminal(["answer", decision.code, "go"]);
    expect(await answer.exit).toBe(2);
    expect(answer.lines().join("\n")).toContain("You are not allowed to answer this.");
    const audit = piped(["show", decision.run, "--audit"]).out;
    expect(audit).toMatch(/Audit of decision/);
    expect(audit).toMatch(/\(terminal\) +unauthorised/);
  },
);

test("DEC-28 show --audit names everybody who tried, with what each was told; without it nobody is named", { timeout }, async () => {
  const { piped, terminal } = setup();
  piped(["run", "approval.workflow.ts", "--task", "dark mode"]);
  const [decision] = JSON.parse(piped(["decisions", "--json"]).out).items;
  expect(piped(["show", decision.run, "--audit"]).out).toContain("Nobody has tried to answer it.");
  const answer = terminal(["answer", decision.code, "go"]);
  expect(await answer.exit).toBe(0);
  expect(piped(["show", decision.run]).out).not.toContain("(terminal)");
  expect(piped(["show", decision.run, "--audit"]).out).toMatch(/\S+ \(terminal\) +go +won/);
  const { audits } = JSON.parse(piped(["show", decision.run, "--audit", "--json"]).out);
  expect(audits).toMatchObject([{ code: decision.code, state: "accepted", unlisted: 0, candidates: [{ kind: "human", outcome: "won", choice: "go" }] }]);
});
