/** A run of twenty thousand steps: that it ends, and that its steps cost no more at the end than at the beginning. */
import { expect, onTestFinished, test } from "vitest";
import { Project } from "../host/kit.ts";

/** Takes the steps of one run one at a time: the workflow's code waits at `pass` until it is let through. */
class Gate {
  private waiting: (() => void) | undefined;
  private arrived: (() => void) | undefined;
  private isOpen = false;

  pass(): Promise<void> {
    return new Promise((through) => {
      if (this.isOpen) return through();
      this.waiting = through;
      this.arrived?.();
    });
  }

  /** Resolves when a step stands at the gate. */
  async arrival(): Promise<void> {
    if (this.waiting === undefined) await new Promise<void>((resolve) => (this.arrived = resolve));
    this.arrived = undefined;
  }

  /** Lets one step through, and gives the milliseconds until the next one stands there. */
  async step(): Promise<number> {
    await this.arrival();
    const through = this.waiting;
    this.waiting = undefined;
    const begun = performance.now();
    through?.();
    await this.arrival();
    return performance.now() - begun;
  }

  open(): void {
    this.isOpen = true;
    this.waiting?.();
  }
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

test("RUN-14 case 125 case 126 step 10,000 costs what step 10 costs, within a fifth, and a run of 20,000 steps ends", async () => {
  const project = new Project();
  const gates = new Map<string, Gate>();
  Reflect.set(globalThis, "pawlGate", (visit: string) => gates.get(visit.slice(0, visit.indexOf("/")))?.pass());
  onTestFinished(() => void Reflect.deleteProperty(globalThis, "pawlGate"));
  const file = project.write(
    "long.workflow.ts",
    `import { z } from "zod";
import { compute, workflow } from "pawl";
export default workflow({ name: "long", input: z.object({}), maxSteps: 30_000 })
  .node("step", compute(async ({ visit }) => { await globalThis.pawlGate(visit); return Number(visit.slice(visit.lastIndexOf(".") + 1)); }, { route: (n) => (n < 19_999 ? "more" : "enough") }), { more: "step", enough: "end" })
  .node("end", compute(({ outputs }) => outputs.step))
  .build();
`,
  );
  const host = await project.open();
  const begin = async () => {
    const { id } = await project.start(host, file);
    const gate = new Gate();
    gates.set(id, gate);
    return { id, gate, end: host.drive(id) };
  };
  const old = await begin();
  for (let step = 0; step < 10_000; step += 1) await old.gate.step();
  const young = await begin();
  for (let step = 0; step < 10; step += 1) await young.gate.step();
  // Turn by turn, so that whatever else this machine does meets both alike.
  const costs: { readonly old: number[]; readonly young: number[] } = { old: [], young: [] };
  for (let pair = 0; pair < 300; pair += 1) {
    costs.old.push(await old.gate.step());
    costs.young.push(await young.gate.step());
  }
  expect(median(costs.old) / median(costs.young)).toBeLessThan(1.2);
  await host.cancel(young.id, "user");
  young.gate.open();
  await young.end;
  old.gate.open();
  expect(await old.end).toMatchObject({ state: "completed", result: 19_999 });
});
