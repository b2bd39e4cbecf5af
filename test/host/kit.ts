/** A state directory and a project of a test's own, with real workflow files in it, and hosts that are closed when the test is over. */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";
import type { EmbeddedHost, RunEvent, RunView } from "../../src/host/api.ts";
import { openEmbedded, type EmbeddedOptions } from "../../src/host/embedded.ts";

export const person = { kind: "human", channel: "terminal", actor: "tester" } as const;

export class Project {
  readonly directory = mkdtempSync(path.join(realpathSync(tmpdir()), "pawl-host-"));
  readonly home = path.join(this.directory, "home");

  constructor() {
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  file(name: string): string {
    return path.join(this.directory, name);
  }

  write(name: string, text: string): string {
    mkdirSync(path.dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
    return this.file(name);
  }

  append(name: string, text: string): void {
    appendFileSync(this.file(name), text);
  }

  /** A workflow file. `nodes` is the chain of calls between `workflow()` and `.build()`; `name` and `input` may be set. */
  workflow(nodes: string, { name = "job", input = "z.object({ task: z.string().default('t') })", head = "" } = {}): string {
    return this.write(
      `${name}.workflow.ts`,
      `import { appendFileSync, existsSync } from "node:fs";
import { z } from "zod";
import { action, choices, compute, humanDecision, NotApplied, shell, text, workflow } from "pawl";
${head}
const mark = (line: string) => appendFileSync(${JSON.stringify(this.file("side.txt"))}, line + "\\n");
const approval = choices({ go: { label: "Go" }, stop: { label: "Stop" }, replan: { label: "Again", input: text("What?", { max: 20 }) } });
export default workflow({ name: ${JSON.stringify(name)}, input: ${input} })
${nodes}
.build();
`,
    );
  }

  /** Lines of the side file that the steps write to. */
  get side(): readonly string[] {
    return existsSync(this.file("side.txt"))
      ? readFileSync(this.file("side.txt"), "utf8")
          .split("\n")
          .filter((line) => line !== "")
      : [];
  }

  async open(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedHost> {
    const host = await openEmbedded({ home: this.home, ...options });
    onTestFinished(() => host.close());
    return host;
  }

  start(host: EmbeddedHost, workflow: string, input: unknown = {}, idempotencyKey?: string): Promise<{ readonly id: string; readonly duplicate: boolean }> {
    return host.start({ workflow, input, cwd: this.directory, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
  }

  /** Starts and drives until it rests. */
  async run(host: EmbeddedHost, workflow: string, input: unknown = {}): Promise<RunView> {
    return host.drive((await this.start(host, workflow, input)).id);
  }

  appears(name: string): Promise<string> {
    return vi.waitFor(() => readFileSync(this.file(name), "utf8").trim() || Promise.reject(new Error(`${name} is empty`)), { timeout: 10_000, interval: 10 });
  }
}

/** Everything that happens from now on. */
export function watch(host: EmbeddedHost): RunEvent[] {
  const events: RunEvent[] = [];
  host.subscribe((event) => events.push(event));
  return events;
}

/** Code of the run's open decision. */
export function openCode(view: RunView): string {
  const open = view.decisions.find(({ state }) => state === "open");
  if (open === undefined) throw new Error(`no decision of ${view.id} is open; it is ${view.state}`);
  return open.code;
}

export const askNode = (targets = `{ go: "after", stop: "end", replan: "ask" }`, more = ""): string =>
  `.node("ask", humanDecision({ audience: "operator", choices: approval, request: ({ input }) => { mark("asked"); return { title: "Go on?", subject: input }; }${more} }), ${targets})`;

export interface HostProcess {
  readonly pid: number;
  /** Id of the run, once it is known. */
  readonly run: Promise<string>;
  /** What it printed at its end; rejects when it was killed or failed. */
  readonly view: Promise<RunView>;
  readonly ended: Promise<void>;
}

/** Another process that owns the project's state directory; killed when the test is over. */
export function hostProcess(project: Project, workflow: string, known?: string): HostProcess {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("children/host.ts", import.meta.url)), project.home, workflow, project.directory, ...(known === undefined ? [] : [known])],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  onTestFinished(() => void child.kill("SIGKILL"));
  const line = async (name: string): Promise<string> => {
    await Promise.race([vi.waitUntil(() => output.includes(`\n${name} `) || output.startsWith(`${name} `), { timeout: 15_000, interval: 10 }), ended]);
    const found = output.split("\n").find((text) => text.startsWith(`${name} `));
    if (found === undefined) throw new Error(`the other host said no ${name}: ${errors}`);
    return found.slice(name.length + 1);
  };
  const run = line("run");
  const view = ended.then(async () => JSON.parse(await line("view")) as RunView); // what children/host.ts prints
  for (const promise of [run, view]) promise.catch(() => undefined);
  return { pid: child.pid ?? 0, run, view, ended };
}
