/** What went wrong with human decisions elsewhere, and must not here. */
import { expect, test, vi } from "vitest";
import { decisionLines } from "../../src/cli/render/lists.ts";
import { noPaint } from "../../src/cli/render/style.ts";
import { fakeClock } from "../../src/runtime/clock.ts";
import { askNode, openCode, person, Project } from "./kit.ts";

const ends = `.node("after", compute(({ outputs }) => { mark("after"); return outputs.ask; })).node("end", compute(() => "ended"))`;
const workflow = `${askNode()}${ends}`;
const withDefault = `, onTimeout: { afterMs: 60_000, response: { choice: "stop" } }`;
const step = (name: string, to: string): string => `.node("${name}", action({ run: async () => { mark("${name}"); } }), "${to}")`;

test("case 8 case 17 what ran before the questions runs once, whatever is answered and however often the host is opened anew", async () => {
  const project = new Project();
  const ask = (name: string, to: string): string =>
    `.node("${name}", humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "${name}?", subject: 1 }) }), { go: "${to}", stop: "end", replan: "${name}" })`;
  const file = project.workflow(
    `${step("one", "two")}${step("two", "first")}${ask("first", "second")}${ask("second", "last")}${step("last", "end")}.node("end", compute(() => "ended"))`,
  );
  const host = await project.open();
  const { id } = await project.run(host, file);
  await host.close();
  for (const _question of ["first", "second"]) {
    const again = await project.open();
    await again.answer({ decision: openCode(await again.run(id)), choice: "go", source: person });
    await again.drive(id);
    await again.close();
  }
  expect(project.side).toEqual(["one", "two", "last"]);
});

test("case 18 two questions that are open at once each get their own answer, in whichever order", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(workflow);
  const [a, b] = [await project.run(host, file, { task: "a" }), await project.run(host, file, { task: "b" })];
  await host.answer({ decision: openCode(b), choice: "stop", source: person });
  await host.answer({ decision: openCode(a), choice: "go", source: person });
  expect((await host.drive(a.id)).result).toEqual({ choice: "go" });
  expect((await host.drive(b.id)).result).toBe("ended");
});

test("case 22 case 26 an answer while the host goes away is recorded or refused, and the run goes on with it at the next start, never stopped", async () => {
  for (const order of ["answer first", "close first"]) {
    const project = new Project();
    const host = await project.open();
    const parked = await project.run(host, project.workflow(workflow));
    const decision = openCode(parked);
    const answering = () =>
      host.answer({ decision, choice: "go", source: person }).then(
        ({ status }) => status,
        () => "gone" as const,
      );
    const [told] = order === "answer first" ? await Promise.all([answering(), host.close()]) : (await Promise.all([host.close(), answering()])).toReversed();
    const next = await project.open();
    const before = await next.run(parked.id);
    expect(before.decisions[0]?.state, order).toBe(told === "accepted" ? "accepted" : "open");
    if (told !== "accepted") await next.answer({ decision, choice: "go", source: person });
    expect(await next.drive(parked.id), order).toMatchObject({ state: "completed", result: { choice: "go" } });
    expect(
      project.side.filter((line) => line === "after"),
      order,
    ).toEqual(["after"]);
    await next.close();
  }
});

test("case 28 no timer stands between an answer and the next node: with a clock that does not move the run goes on", async () => {
  const project = new Project();
  const host = await project.open({ clock: fakeClock(), adopt: "all" });
  const parked = await project.run(host, project.workflow(workflow));
  await host.answer({ decision: openCode(parked), choice: "go", source: person });
  await vi.waitFor(async () => expect((await host.run(parked.id)).state).toBe("completed"));
  expect(await host.run(parked.id)).toMatchObject({ visits: [{ node: "ask" }, { node: "after" }] });
});

test("case 30 case 33 after a default the loop asks anew: an answer to the old card leaves the new question untouched, its own answer settles it", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  const parked = await project.run(
    host,
    project.workflow(`${askNode(`{ go: "after", stop: "ask", replan: "ask" }`, withDefault)}${ends.split('.node("end"')[0]}`),
  );
  const [old] = parked.decisions;
  clock.advance(60_001);
  const again = await vi.waitFor(async () => {
    const view = await host.drive(parked.id);
    expect(view.decisions).toHaveLength(2);
    return view;
  });
  const now = again.decisions[1];
  const press = { choice: "go", source: person, requestDigest: old?.request.digests.request } as const;
  expect(await host.answer({ decision: old?.id ?? "", ...press })).toMatchObject({ status: "refused", code: "defaulted" });
  expect(await host.answer({ decision: now?.id ?? "", ...press })).toMatchObject({ status: "refused", code: "stale" });
  expect((await host.decision(now?.id ?? "")).state).toBe("open");
  expect(await host.answer({ decision: openCode(again), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  expect(await host.drive(parked.id)).toMatchObject({
    state: "completed",
    result: { choice: "go" },
    decisions: [{ state: "defaulted" }, { state: "accepted" }],
  });
});

test("DEC-40 case 34 a question that expires, while its host runs or while nothing does, is no approval: no response, no person, and the run timed out", async () => {
  for (const isOpen of [true, false]) {
    const project = new Project();
    const clock = fakeClock();
    const expiring = `.node("ask", humanDecision({ audience: "operator", choices: approval, request: ({ input }) => ({ title: "Go on?", subject: input, expiresAt: ${clock.now() + 60_000} }) }), { go: "after", stop: "end", replan: "ask" })`;
    const host = await project.open({ clock });
    const parked = await project.run(host, project.workflow(`${expiring}${ends}`));
    if (isOpen) clock.advance(60_001);
    else await host.close();
    const then = isOpen ? host : await project.open({ clock: fakeClock(clock.now() + 3_600_000) });
    const view = await vi.waitFor(async () => {
      const found = await then.drive(parked.id);
      expect(found.endedAt).not.toBeNull();
      return found;
    });
    expect(view).toMatchObject({
      state: "timedOut",
      reason: { code: "decisionExpired" },
      decisions: [{ state: "expired", choice: null, settlement: { receipt: null } }],
    });
    expect(await then.answer({ decision: parked.decisions[0]?.id ?? "", choice: "go", source: person })).toMatchObject({ status: "refused", code: "expired" });
    expect(project.side).not.toContain("after");
  }
});

test("DEC-41 case 29 a clock that is set back moves nothing: no time runs backward, and what the deadline settled stays settled", async () => {
  const project = new Project();
  const start = fakeClock().now();
  const opened = async (at: number) => project.open({ clock: fakeClock(at) });
  const first = await opened(start);
  const file = project.workflow(`${askNode(undefined, withDefault)}${ends}`);
  const [early, late] = [await project.run(first, file), await project.run(first, file)];
  await first.close();
  const back = await opened(start - 3_600_000);
  expect(await back.answer({ decision: openCode(early), choice: "go", source: person })).toMatchObject({ status: "accepted" });
  const { settledAt, createdAt } = await back.decision(early.decisions[0]?.id ?? "");
  expect(settledAt).toBeGreaterThanOrEqual(createdAt);
  expect((await back.decision(openCode(late))).state).toBe("open");
  await back.close();
  const past = await opened(start + 60_001);
  await vi.waitFor(async () => expect((await past.decision(late.decisions[0]?.id ?? "")).state).toBe("defaulted"));
  await past.close();
  const again = await opened(start);
  expect(await again.answer({ decision: late.decisions[0]?.id ?? "", choice: "go", source: person })).toMatchObject({ status: "refused", code: "defaulted" });
  expect(await again.drive(late.id)).toMatchObject({ state: "completed", result: "ended" });
});

test("case 40 the list tells how long each question has been open", async () => {
  const project = new Project();
  const clock = fakeClock();
  const host = await project.open({ clock });
  await project.run(host, project.workflow(workflow));
  clock.advance(3 * 24 * 3_600_000);
  await project.run(host, project.workflow(workflow, { name: "other" }));
  const page = await host.decisions();
  const lines = decisionLines(page, { now: clock.now(), width: 120, paint: noPaint, command: (...words) => words.join(" "), again: ["decisions"] });
  expect(lines.slice(1, 3).map((line) => /open +(\S+)/.exec(line)?.[1])).toEqual(["3d", "0s"]);
});
