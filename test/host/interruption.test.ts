import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { canMount, remount, smallFileSystem } from "../persistence/places.ts";
import type { RunView } from "../../src/host/api.ts";
import { livingMembers, startTokenOf } from "../../src/host/processes.ts";
import { askNode, hostProcess, Project } from "./kit.ts";

/** Says its group, ignores TERM like its child, and works until the file `go` is there. */
const stubborn = (project: Project, more = ""): string =>
  `.node("work", shell({ command: "sh", args: ["-c", ${JSON.stringify(`trap "" TERM; echo $$ > ${project.file("ready")}; echo begun >> ${project.file("side.txt")}; (trap "" TERM; while :; do sleep 0.05; done) & while [ ! -e ${project.file("go")} ]; do sleep 0.05; done; kill -9 $!; echo worked >> ${project.file("side.txt")}`)}]${more} }))`;

const sleeping = (project: Project): string => `.node("work", shell({ command: "sh", args: ["-c", "echo $$ > ${project.file("ready")}; sleep 100"] }))`;

const outcome = (promise: Promise<RunView>): Promise<RunView | Error> =>
  promise.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));

test("HOST-20 case 85 cancel ends a shell step's whole group within 2 s, and the run is cancelled", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, project.workflow(stubborn(project)));
  const driven = host.drive(id);
  const pgid = Number(await project.appears("ready"));
  expect(livingMembers(pgid).length).toBeGreaterThan(1);
  const since = Date.now();
  const view = await host.cancel(id, "user");
  expect(Date.now() - since).toBeLessThan(2_300);
  expect(livingMembers(pgid)).toEqual([]);
  expect(view).toMatchObject({ state: "cancelled", reason: { code: "userCancelled" }, current: null, visits: [{ node: "work", status: "cancelled" }] });
  expect((await driven).state).toBe("cancelled");
  expect(await host.drive(id)).toEqual(view);
  expect(await host.cancel(id, "user")).toEqual(view);
});

test("HOST-20 case 86 of three runs one is cancelled and two finish", async () => {
  const project = new Project();
  const host = await project.open();
  const file = project.workflow(
    `.node("wait", action({ run: async ({ input, signal }) => { mark("at " + input.task); while (!existsSync(${JSON.stringify(project.file("go"))})) { signal.throwIfAborted(); await new Promise((r) => setTimeout(r, 10)); } return input.task; } }))`,
  );
  const ids = await Promise.all(["a", "b", "c"].map(async (task) => (await project.start(host, file, { task })).id));
  const driven = Promise.all(ids.map((id) => host.drive(id)));
  await vi.waitFor(() => expect(project.side.toSorted()).toEqual(["at a", "at b", "at c"]), { timeout: 5_000 });
  await host.cancel(ids[1] ?? "", "agent");
  project.write("go", "");
  expect((await driven).map(({ state, result, reason }) => [state, result, reason?.code])).toEqual([
    ["completed", "a", undefined],
    ["cancelled", null, "agentCancelled"],
    ["completed", "c", undefined],
  ]);
});

test("HOST-20 case 84 a run is cancelled in every state it can be in", async () => {
  const project = new Project();
  const host = await project.open();
  const ask = project.workflow(`${askNode()}.node("after", compute(() => 1)).node("end", compute(() => 2))`, { name: "ask" });
  const work = project.workflow(sleeping(project), { name: "work" });
  const unsure = project.workflow(`.node("send", action({ once: true, run: () => { throw new Error("connection lost"); } }))`, { name: "unsure" });
  project.write("node_modules/dep/package.json", `{"name":"dep","type":"module","exports":"./index.js"}`);
  project.write("node_modules/dep/index.js", "export const value = 1;");
  const gone = project.workflow(`.node("a", compute(() => value))`, { name: "gone", head: `import { value } from "dep";` });
  const reached: { readonly [state in "queued" | "running" | "waiting" | "ambiguous" | "blocked"]: () => Promise<string> } = {
    queued: async () => (await project.start(host, ask)).id,
    running: async () => {
      const { id } = await project.start(host, work);
      void host.drive(id);
      await project.appears("ready");
      return id;
    },
    waiting: async () => (await project.run(host, ask)).id,
    ambiguous: async () => (await project.run(host, unsure)).id,
    blocked: async () => {
      const { id } = await project.start(host, gone);
      rmSync(project.file("node_modules"), { recursive: true });
      return (await host.drive(id)).id;
    },
  };
  for (const [state, reach] of Object.entries(reached)) {
    const id = await reach();
    expect((await host.run(id)).state).toBe(state);
    const view = await host.cancel(id, "user");
    expect(view).toMatchObject({ state: "cancelled", reason: { code: "userCancelled" } });
    expect(view.decisions.filter((decision) => decision.state === "open")).toEqual([]);
    expect((await host.drive(id)).state).toBe("cancelled");
  }
  // What an abandoned effect did is still not known: it stays listed.
  expect((await host.effects({ state: ["ambiguous"] })).items).toHaveLength(1);
});

test("HOST-20 a run whose owner was killed is cancelled with what it left running", async () => {
  const project = new Project();
  const other = hostProcess(project, project.workflow(sleeping(project)));
  const id = await other.run;
  const pgid = Number(await project.appears("ready"));
  process.kill(other.pid, "SIGKILL");
  await other.ended;
  expect(livingMembers(pgid)).not.toEqual([]);
  const host = await project.open();
  expect((await host.cancel(id, "user")).state).toBe("cancelled");
  expect(livingMembers(pgid)).toEqual([]);
});

test("HOST-21 an interrupted drive ends the step's processes and leaves the run safe; driven again it goes on with the next attempt", async () => {
  const project = new Project();
  const host = await project.open();
  const { id } = await project.start(host, project.workflow(stubborn(project)));
  const controller = new AbortController();
  const driven = host.drive(id, { signal: controller.signal });
  const pgid = Number(await project.appears("ready"));
  controller.abort();
  expect(await driven).toMatchObject({ state: "running", current: "work", visits: [{ status: "running" }] });
  expect(livingMembers(pgid)).toEqual([]);
  project.write("go", "");
  expect(await host.drive(id)).toMatchObject({ state: "completed", visits: [{ status: "accepted", attempt: 2 }] });
  expect(project.side).toEqual(["begun", "begun", "worked"]);
});

test("HOST-21 closing the host during a step does the same", async () => {
  const project = new Project();
  const first = await project.open();
  const { id } = await project.start(first, project.workflow(stubborn(project)));
  const driven = outcome(first.drive(id));
  const pgid = Number(await project.appears("ready"));
  await first.close();
  expect(livingMembers(pgid)).toEqual([]);
  expect(await driven).toMatchObject({ code: "closed" });
  project.write("go", "");
  const second = await project.open();
  expect(await second.drive(id)).toMatchObject({ state: "completed" });
});

test("HOST-22 a killed owner's command is ended before its second attempt begins", async () => {
  const project = new Project();
  const script = `trap "" TERM; if [ -e ready ]; then echo second >> beats; sleep 0.5; exit 0; fi; echo $$ > ready; while :; do echo beat >> beats; sleep 0.02; done`;
  const file = project.workflow(`.node("work", shell({ command: "sh", args: ["-c", ${JSON.stringify(script)}] }))`);
  const other = hostProcess(project, file);
  const id = await other.run;
  const pgid = Number(await project.appears("ready"));
  process.kill(other.pid, "SIGKILL");
  await other.ended;
  expect(startTokenOf(pgid)).not.toBeNull();
  const host = await project.open();
  expect(await host.drive(id)).toMatchObject({ state: "completed", visits: [{ attempt: 2 }] });
  expect(livingMembers(pgid)).toEqual([]);
  expect(readFileSync(project.file("beats"), "utf8")).toMatch(/^(beat\n)+second\n$/);
});

test("HOST-23 an effect at most once whose outcome is unknown is never repeated; a person confirms it, and the run goes on", async () => {
  const project = new Project();
  const file = project.workflow(
    `.node("send", action({ once: true, output: z.object({ id: z.number() }), run: async () => { mark("sent"); await new Promise(() => {}); } }), "use").node("use", compute(({ outputs }) => outputs.send.id + 1))`,
  );
  const other = hostProcess(project, file);
  const id = await other.run;
  await project.appears("side.txt");
  process.kill(other.pid, "SIGKILL");
  await other.ended;
  const host = await project.open();
  const stuck = await host.drive(id);
  expect(stuck).toMatchObject({ state: "ambiguous", current: "send", visits: [{ status: "ambiguous", endedAt: null }] });
  const [effect] = stuck.ambiguous;
  const key = effect?.key ?? "";
  expect(effect).toMatchObject({ run: id, once: true, state: "ambiguous", visit: `${id}/graph/send.1` });
  await expect(host.confirmEffect(key, { id: "no number" })).rejects.toMatchObject({ code: "invalidInput", message: expect.stringContaining("id:") });
  await expect(host.confirmEffect("r_none/graph@1:0", 1)).rejects.toMatchObject({ code: "unknownEffect" });
  expect((await host.run(id)).state).toBe("ambiguous");
  expect(await host.confirmEffect(key, { id: 4 })).toMatchObject({ state: "confirmed" });
  await expect(host.confirmEffect(key, { id: 5 })).rejects.toMatchObject({ code: "refused", message: expect.stringContaining("is confirmed") });
  await expect(host.retryEffect(key)).rejects.toMatchObject({ code: "refused" });
  expect(await host.drive(id)).toMatchObject({ state: "completed", result: 5, ambiguous: [] });
  expect(project.side).toEqual(["sent"]);
});

test("HOST-23 or has it done again, under the same key", async () => {
  const project = new Project();
  const host = await project.open();
  const view = await project.run(
    host,
    project.workflow(
      `.node("send", action({ once: true, run: ({ attempt, idempotencyKey }) => { mark("try " + attempt + " " + idempotencyKey.split("/").at(-1)); if (attempt === 1) throw new Error("connection lost"); return "sent"; } }))`,
    ),
  );
  expect(view).toMatchObject({ state: "ambiguous", ambiguous: [{ error: { message: "connection lost" } }] });
  expect(await host.retryEffect(view.ambiguous[0]?.key ?? "")).toMatchObject({ state: "planned", attempt: 2 });
  expect(await host.drive(view.id)).toMatchObject({ state: "completed", result: "sent" });
  expect(project.side).toEqual(["try 1 send.1", "try 2 send.1"]);
});

test("HOST-23 a `once` command that cannot even start fails, for nothing happened", async () => {
  const project = new Project();
  const host = await project.open();
  const view = await project.run(host, project.workflow(`.node("work", shell({ once: true, command: "no-such-command-here" }))`));
  expect(view).toMatchObject({ state: "failed", ambiguous: [], reason: { code: "effectFailed", message: expect.stringContaining("Command not found") } });
});

test("HOST-24 a shell step runs where the run was started, whoever drives it on from wherever, and relative to that", async () => {
  const project = new Project();
  project.write("sub/dir/file", "");
  const file = project.workflow(
    `.node("here", shell({ command: "pwd", parse: ({ stdout }) => stdout.trim() }), "below").node("below", shell({ command: "pwd", cwd: "sub/dir", parse: ({ stdout }) => stdout.trim() }), "both").node("both", compute(({ outputs }) => [outputs.here, outputs.below]))`,
  );
  const first = await project.open();
  const { id } = await project.start(first, file);
  await first.close();
  expect(process.cwd()).not.toBe(project.directory);
  const second = await project.open();
  expect(await second.drive(id)).toMatchObject({ state: "completed", result: [project.directory, project.file("sub/dir")] });
});

test("HOST-24 a shell step's time limit ends its group and takes the timedOut route", async () => {
  const project = new Project();
  const host = await project.open();
  for (const [name, timeoutMs] of [
    ["value", "300"],
    ["callback", "() => 300"],
  ] as const) {
    const view = await project.run(
      host,
      project.workflow(
        `.node("work", shell({ command: "sh", args: ["-c", "echo $$ > ${project.file(name)}; sleep 100"], timeoutMs: ${timeoutMs} }), { done: "late", timedOut: "late" }).node("late", compute(({ results }) => results.work?.status))`,
        { name },
      ),
    );
    expect(view).toMatchObject({
      state: "completed",
      result: "timedOut",
      visits: [{ node: "work", status: "timedOut", error: { reason: "nodeTimedOut" } }, {}],
    });
    const pgid = Number(readFileSync(project.file(name), "utf8"));
    await vi.waitFor(() => expect(livingMembers(pgid)).toEqual([]), { timeout: 3_000 });
  }
});

test("HOST-24 a step's lines are told while it runs, and the next steps read its output", async () => {
  const project = new Project();
  const host = await project.open();
  const lines: string[] = [];
  host.subscribe((event) => {
    if (event.kind === "line") lines.push(`${event.node}: ${event.text}`);
  });
  const view = await project.run(
    host,
    project.workflow(
      `.node("work", shell({ command: "sh", args: ["-c", "echo one; echo two >&2; echo three"] }), "read").node("read", compute(({ outputs }) => outputs.work.stdout.split("\\n").length))`,
    ),
  );
  expect(view).toMatchObject({ state: "completed", result: 3 });
  expect(lines.toSorted()).toEqual(["work: one", "work: three", "work: two"]);
});

test.runIf(canMount)("HOST-25 case 136 a full disk stops the run with its reason; nothing is lost, and it goes on when there is space", async () => {
  const project = new Project();
  const small = smallFileSystem(2_048);
  const options = { home: `${small}/home` };
  const file = project.workflow(
    `.node("first", compute(() => { mark("first"); return "kept"; }), "big").node("big", compute(() => { mark("big"); return "x".repeat(4_000_000); }), "last").node("last", compute(({ outputs }) => [outputs.first, outputs.big.length > 100_000]))`,
  );
  const first = await project.open(options);
  const { id } = await project.start(first, file);
  const stopped = await outcome(first.drive(id));
  expect("code" in stopped && stopped.code).toBe("storageFull");
  // The reason stands in every further answer too, until the directory is opened again.
  await expect(first.drive(id)).rejects.toMatchObject({ code: "storageFull" });
  expect(await first.run(id)).toMatchObject({
    state: "running",
    visits: [
      { node: "first", status: "accepted" },
      { node: "big", status: "running" },
    ],
  });
  await first.close();
  remount(small, "size=32m");
  const second = await project.open(options);
  expect(await second.drive(id)).toMatchObject({ state: "completed", result: ["kept", true] });
  expect(project.side).toEqual(["first", "big", "big"]);
});

test.runIf(canMount)("HOST-25 a cancel that cannot be saved ends the processes all the same, and says that it is not saved", async () => {
  const project = new Project();
  const small = smallFileSystem(4_096);
  const options = { home: `${small}/home` };
  const first = await project.open(options);
  const { id } = await project.start(first, project.workflow(sleeping(project)));
  const driven = outcome(first.drive(id));
  const pgid = Number(await project.appears("ready"));
  expect(() => writeFileSync(`${small}/filler`, Buffer.alloc(8_000_000))).toThrow("ENOSPC");
  await expect(first.cancel(id, "user")).rejects.toMatchObject({
    code: "storageFull",
    message: expect.stringMatching(/were ended, but its cancellation is not saved/),
  });
  expect(livingMembers(pgid)).toEqual([]);
  expect(await driven).toMatchObject({ code: "storageFull" });
  await first.close();
  rmSync(`${small}/filler`);
  const second = await project.open(options);
  expect((await second.cancel(id, "user")).state).toBe("cancelled");
});
