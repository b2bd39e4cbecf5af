import { expect, test, vi } from "vitest";
import type { EmbeddedOptions } from "../../src/host/embedded.ts";
import { Project, watch } from "./kit.ts";

const head = `import { notify } from "pawl";`;
const nodes = `.node("say", notify({ kind: "progress", text: ({ input }) => "Half of " + input.task + " is done." }), "end")
.node("end", notify({ kind: "final", text: "All is done." }))`;

const told = (events: ReturnType<typeof watch>): unknown[] =>
  events.flatMap((event) => (event.kind === "notification" ? [[event.node, event.as, event.text]] : []));

for (const options of [{}, { author: "workers" }] satisfies Partial<EmbeddedOptions>[])
  test(`NOTE-1 a notify node tells its text once a visit, and its run shows it and goes on (${"author" in options ? "workers" : "in process"})`, async () => {
    const project = new Project();
    const host = await project.open(options);
    const events = watch(host);
    const view = await project.run(host, project.workflow(nodes, { head }), { task: "it" });
    expect(view).toMatchObject({
      state: "completed",
      result: { kind: "final", text: "All is done." },
      visits: [
        { node: "say", kind: "notify", status: "accepted", output: { kind: "progress", text: "Half of it is done." } },
        { node: "end", kind: "notify", status: "accepted" },
      ],
    });
    await vi.waitFor(() =>
      expect(told(events)).toEqual([
        ["say", "progress", "Half of it is done."],
        ["end", "final", "All is done."],
      ]),
    );
  });

test("NOTE-2 a long text is told whole and in its order", async () => {
  const project = new Project();
  const host = await project.open();
  const events = watch(host);
  const long = `.node("say", notify({ kind: "progress", text: "x".repeat(16_000) }), "end").node("end", notify({ kind: "final", text: "short" }))`;
  await project.run(host, project.workflow(long, { head }));
  await vi.waitFor(() => expect(told(events)).toHaveLength(2));
  expect(told(events)).toEqual([
    ["say", "progress", "x".repeat(16_000)],
    ["end", "final", "short"],
  ]);
});

test("NOTE-3 a text that is none fails the visit and tells nothing", async () => {
  const project = new Project();
  const host = await project.open();
  const events = watch(host);
  const wrong = `.node("say", notify({ kind: "final", text: () => "x".repeat(16_001) }), "end").node("end", compute(() => 1))`;
  expect(await project.run(host, project.workflow(wrong, { head }))).toMatchObject({ state: "failed", reason: { code: "nodeFailed" } });
  expect(told(events)).toEqual([]);
});

test("NOTE-4 who opens the directory later is told nothing again", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, project.workflow(nodes, { head }));
  const events = watch(host);
  expect(await host.drive(id)).toMatchObject({ state: "completed" });
  await vi.waitFor(() => expect(told(events)).toHaveLength(2));
  await host.close();
  const second = await project.open({ adopt: "all" });
  const later = watch(second);
  expect(await second.drive(id)).toMatchObject({ state: "completed", visits: [{ attempt: 1 }, { attempt: 1 }] });
  expect(told(later)).toEqual([]);
});
