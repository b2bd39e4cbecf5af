/** The real command about workflows themselves. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { fixture, type Fixture } from "./fixture.ts";

const timeout = 60_000;

let one: Fixture | undefined;
const setup = (): Fixture => (one = fixture());
afterEach(() => one?.remove());

const simple = `
import { z } from "zod";
import { compute, workflow } from "pawl";
export default workflow({ name: "simple", input: z.object({}) }).node("only", compute(() => 1)).build();
`;

test("CLI-60 graph writes a workflow's graph in each format, and a run's after its file is gone", { timeout }, () => {
  const { folder, piped } = setup();
  const file = join(folder, "simple.workflow.ts");
  writeFileSync(file, simple);
  const drawn = `flowchart TD\n  start((" ")) --> n1\n  n1["only<br/>compute"]\n  completed(["completed"])\n  n1 --> completed\n`;
  expect(piped(["graph", "simple.workflow.ts"])).toEqual({ code: 0, err: "", out: drawn });
  expect(piped(["graph", "simple.workflow.ts", "--format", "dot"]).out).toMatch(/^digraph "simple" \{\n[^]*\n\}\n$/);
  const graph = JSON.parse(piped(["graph", "simple.workflow.ts", "--format", "json"]).out);
  expect(graph).toMatchObject({ schema: "pawl.graph.v1", name: "simple" });
  expect(JSON.parse(piped(["graph", "simple.workflow.ts", "--json"]).out)).toEqual({
    workflow: "simple",
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    graph,
    included: {},
  });
  const run = JSON.parse(piped(["run", "simple.workflow.ts", "--input", "{}", "--json"]).out.trimEnd().split("\n").at(-1) ?? "");
  rmSync(file);
  expect(piped(["graph", "--run", run.id ?? run.run.id]).out).toBe(drawn);
});

test("CLI-60 graph says what to name when nothing, or too much, is named, and where a file is wrong", { timeout }, () => {
  const { folder, piped } = setup();
  expect(piped(["graph"])).toMatchObject({ code: 2, err: expect.stringContaining("Name a workflow, or a run with --run, and not both") });
  expect(piped(["graph", "simple", "--run", "r_1"])).toMatchObject({ code: 2, out: "" });
  expect(piped(["graph", "approval.workflow.ts", "--format", "svgx"])).toMatchObject({ code: 2, err: expect.stringContaining("mermaid, json, dot") });
  writeFileSync(join(folder, "bad.workflow.ts"), `${simple.replace(".build()", '.node("lost", compute(() => 2)).build()')}`);
  expect(piped(["graph", "bad.workflow.ts"])).toMatchObject({ code: 2, err: expect.stringMatching(/bad\.workflow\.ts:4[^]*no route leads to node "lost"/) });
});

test("CLI-60 a file that never ends, prints, or ends its process, keeps no drawing and no terminal", { timeout: 120_000 }, () => {
  const { folder, piped } = setup();
  const file = (name: string, first: string): string => {
    writeFileSync(join(folder, name), `${first}\n${simple}`);
    return name;
  };
  const loud = piped(["graph", file("loud.workflow.ts", 'console.log("\\u001b[2J\\u001b]0;owned\\u0007hi");')]);
  expect([loud.code, loud.err, loud.out.startsWith("flowchart TD\n"), loud.out.includes("hi")]).toEqual([0, "", true, false]);
  for (const [name, first] of [
    ["loop.workflow.ts", "for (;;);"],
    ["never.workflow.ts", "await new Promise(() => {});"],
  ] as const) {
    const { code, out, err } = piped(["graph", file(name, first)]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(new RegExp(`${name}.*took longer than 20000 ms`));
  }
  const gone = piped(["graph", file("gone.workflow.ts", "process.exit(0);")]);
  expect([gone.code, gone.out]).toEqual([2, ""]);
  expect(gone.err).toContain("gone.workflow.ts");
});

test("CLI-61 workflows lists what has a name here, what is hidden, and how to start one", { timeout }, () => {
  const { folder, piped } = setup();
  expect(piped(["workflows"])).toMatchObject({ code: 0, out: expect.stringContaining(".pi/workflows") });
  mkdirSync(join(folder, ".pi/workflows"), { recursive: true });
  mkdirSync(join(folder, ".pi/agent/workflows"), { recursive: true });
  for (const file of ["ship.workflow.ts", "ship.workflow.js", "status.workflow.ts"]) writeFileSync(join(folder, ".pi/workflows", file), simple);
  writeFileSync(join(folder, ".pi/agent/workflows/own.workflow.ts"), simple);
  const { out } = piped(["workflows"], { HOME: folder });
  expect(out).toMatch(/^NAME\s+FROM\s+STARTS\s+FILE\n/);
  expect(out).toContain("no: hidden by the first");
  expect(out).toContain("no: a command has this name");
  expect(out).toMatch(/\nown\s+yours\s/);
  expect(out).toMatch(/\nStart one: [^\n]* run ship /);
  const { items } = JSON.parse(piped(["workflows", "--json"], { HOME: folder }).out);
  expect(items.map(({ name, origin, isReserved }: { name: string; origin: string; isReserved: boolean }) => [name, origin, isReserved])).toEqual([
    ["ship", "project", false],
    ["status", "project", true],
    ["ship", "project", false],
    ["own", "user", false],
  ]);
});
