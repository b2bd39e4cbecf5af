/** How a state directory grows with a run, and what large values do to it. */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import BetterSqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { openReader } from "../../src/host/embedded.ts";
import { openCode, person, Project } from "./kit.ts";

const timeout = 120_000;
const MiB = 1024 * 1024;

const databaseOf = (project: Project): string => path.join(project.home, "pawl.db");

/** One number out of the database, read beside its owner. */
function numberIn(project: Project, sql: string): number {
  const db = new BetterSqlite(databaseOf(project), { readonly: true });
  try {
    return db.prepare<[], { n: number }>(sql).get()?.n ?? 0;
  } finally {
    db.close();
  }
}

const largestRow = (project: Project): number =>
  Math.max(
    numberIn(project, "select max(length(snapshot)) as n from actors"),
    numberIn(project, "select max(length(coalesce(payload_json, '')) + length(coalesce(snapshot, '')) + length(state_value)) as n from journal"),
    numberIn(project, "select max(length(coalesce(input_json, '')) + length(coalesce(output_json, ''))) as n from effects"),
    numberIn(project, "select max(length(input_json)) as n from runs"),
  );

const loop = (times: number, letters: number): string =>
  `.node("step", compute(({ visit }) => ({ n: Number(visit.slice(visit.lastIndexOf(".") + 1)), text: (visit + " ").repeat(${letters}).slice(0, ${letters}) }), { route: ({ n }) => (n < ${times} ? "more" : "enough") }), { more: "step", enough: "end" })
   .node("end", compute(() => "done"))`;

/** The same with a bound on its entries that allows it. */
const looping = (project: Project, name: string, times: number, letters: number): string => {
  const file = project.workflow(loop(times, letters), { name });
  return project.write(`${name}.workflow.ts`, readFileSync(file, "utf8").replace("input: z.object", "maxSteps: 30_000, input: z.object"));
};

test("RUN-10 case 116 a thousand loops with outputs of 2 KB grow the file in a line, by at most 5 KB a step", { timeout }, async () => {
  const project = new Project();
  const grown: number[] = [];
  for (const times of [10, 500, 1_000]) {
    const file = looping(project, `loop${times}`, times, 2_000);
    const host = await project.open();
    const before = numberIn(project, "select page_count * page_size as n from pragma_page_count, pragma_page_size");
    expect((await project.run(host, file)).state).toBe("completed");
    grown.push(numberIn(project, "select page_count * page_size as n from pragma_page_count, pragma_page_size") - before);
    await host.close();
  }
  const [few = 0, half = 0, all = 0] = grown;
  const [first, second] = [(half - few) / 490, (all - half) / 500];
  // What an output holds itself is counted with the step.
  expect(first).toBeLessThan(5 * 1024);
  expect(second / first).toBeGreaterThan(0.9);
  expect(second / first).toBeLessThan(1.1);
});

test("RUN-11 case 117 case 118 an output of 20 MB that passes three nodes is one value beside small rows", { timeout }, async () => {
  const project = new Project();
  const file = project.workflow(
    `.node("one", compute(() => "x".repeat(20_000_000)), "two").node("two", compute(({ outputs }) => outputs.one), "three").node("three", compute(({ outputs }) => outputs.two))`,
  );
  const host = await project.open();
  const view = await project.run(host, file);
  expect(view.state).toBe("completed");
  expect(view.result).toHaveLength(20_000_000);
  expect(largestRow(project)).toBeLessThan(64 * 1024);
  expect(numberIn(project, "select count(*) as n from blobs where length(bytes) > 1000000")).toBe(1);
  expect(numberIn(project, "select page_count * page_size as n from pragma_page_count, pragma_page_size")).toBeLessThan(21 * MiB);
});

test("RUN-12 case 124 a run that waits with 64 MB behind it goes on within two seconds of opening", { timeout }, async () => {
  const project = new Project();
  const file = project.workflow(
    `.node("big", compute(() => Array.from({ length: 64 }, (_, i) => String(i % 10).repeat(1_000_000 - 40))), "ask")
     .node("ask", humanDecision({ audience: "operator", choices: approval, request: () => ({ title: "Go on?", subject: 1 }) }), { go: "after", stop: "after", replan: "ask" })
     .node("after", compute(({ outputs }) => outputs.big.length))`,
  );
  const first = await project.open();
  const { id } = await project.run(first, file);
  const code = openCode(await first.run(id));
  await first.close();
  // Of this process, whatever else the machine does meanwhile.
  const begun = process.cpuUsage();
  const second = await project.open();
  await second.answer({ decision: code, choice: "go", source: person });
  const view = await second.drive(id);
  const { user, system } = process.cpuUsage(begun);
  expect(view).toMatchObject({ state: "completed", result: 64 });
  expect(numberIn(project, "select max(length(bytes)) as n from blobs")).toBeGreaterThan(63_000_000);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});

test("RUN-13 case 134 a viewer that looks without pause while 80 MB are written never makes the log grow", { timeout }, async () => {
  const project = new Project();
  const file = looping(project, "long", 800, 100_000);
  const host = await project.open();
  const { id } = await project.start(host, file);
  const viewer = await openReader({ home: project.home });
  let [largest, looks, over] = [0, 0, false];
  const looking = (async () => {
    for (; !over; looks += 1) {
      await viewer.runs();
      if (looks % 10 === 0) await viewer.run(id);
      largest = Math.max(largest, statSync(`${databaseOf(project)}-wal`).size);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  expect((await host.drive(id)).state).toBe("completed");
  over = true;
  await looking;
  expect(looks).toBeGreaterThan(100);
  expect(statSync(databaseOf(project)).size).toBeGreaterThan(75 * MiB);
  expect(largest).toBeLessThan(16 * MiB);
  await viewer.close();
});
