import { expect, test, vi } from "vitest";
import type { AnswerResult } from "../../src/host/api.ts";
import { askNode, person, Project } from "./kit.ts";

const workflow = `${askNode()}.node("after", compute(({ outputs }) => outputs.ask)).node("end", compute(() => "ended"))`;

test("DEC-27 case 9 an answer in the very moment of the question is never too early, a thousand times", { timeout: 300_000 }, async () => {
  const project = new Project();
  const host = await project.open({ adopt: "all" });
  const file = project.workflow(workflow);
  const results: Promise<AnswerResult>[] = [];
  host.subscribe((event) => {
    if (event.kind !== "decision" || event.state !== "open") return;
    const last = results.length % 91 === 90;
    results.push(host.answer({ decision: event.decision, choice: last ? "go" : "replan", ...(last ? {} : { text: "again" }), source: person }));
  });
  for (let run = 1; run <= 11; run += 1) {
    const { id } = await project.start(host, file);
    const view = await vi.waitFor(
      async () => {
        const found = await host.run(id);
        expect(found.endedAt).not.toBeNull();
        return found;
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(view).toMatchObject({ state: "completed", result: { choice: "go" } });
    expect(view.decisions).toHaveLength(91);
    const last = view.decisions.at(-1)?.id;
    expect(new Set(view.decisions.slice(0, -1).map(({ settlement }) => settlement?.replacedBy))).toEqual(new Set([last]));
    expect(await host.decision(view.decisions[0]?.id ?? "")).toMatchObject({ settlement: { replacedBy: last } });
  }
  expect((await Promise.all(results)).filter(({ status }) => status !== "accepted")).toEqual([]);
  expect(results.length).toBeGreaterThan(1_000);
});
