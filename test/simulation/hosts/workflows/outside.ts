/** How a workflow's step reaches the simulated world. */

/** What a step tells of itself. */
interface Step {
  readonly visit: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

type Door = (step: Step) => Promise<{ readonly serial: number }>;

/** The world stands here while it runs. */
export const doorName = Symbol.for("pawl.simulation.door");

export async function reach({ visit, attempt, idempotencyKey, signal }: Step): Promise<{ readonly serial: number }> {
  const door = (globalThis as { [name: symbol]: Door | undefined })[doorName]; // the scenario puts it there
  if (!door) throw new Error("nobody is outside");
  return door({ visit, attempt, idempotencyKey, signal });
}
