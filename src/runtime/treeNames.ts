/** The system ids of a tree while a dispatch is computed: as its group left them, and as its own steps change them. */
import type { ActorRecord } from "../../persistence/store.ts";
import { PawlError } from "../errors.ts";
import type { Draft } from "./draft.ts";
import { NeedsNames, type StepResult, type SystemNames } from "./step.ts";

export class TreeNames {
  private readonly draft: Draft;
  /** Actors whose stop waits until they have taken their step: their system ids are free already, as live. */
  private readonly stopping = new Set<string>();
  /** System ids of actors that are about to start, with their ids. */
  private readonly starting = new Map<string, string>();

  constructor(draft: Draft) {
    this.draft = draft;
  }

  async of(root: string): Promise<SystemNames> {
    const names = new Map(await this.draft.named(root));
    for (const [name, id] of names) if ([...this.stopping].some((stopping) => isWithin(id, stopping))) names.delete(name);
    for (const [name, id] of this.starting) names.set(name, id);
    return names;
  }

  /** Takes a step. A machine that looks for actors by their system ids is stepped again with them: it must begin anew, for the first try may have left traces. */
  async given(actor: string, root: string, step: (names?: SystemNames) => StepResult | Promise<StepResult>): Promise<StepResult> {
    const { turn } = this.draft;
    try {
      const result = step();
      return result instanceof Promise ? await turn.known(actor, result) : result;
    } catch (error) {
      if (!(error instanceof NeedsNames)) throw error;
      const result = step(await this.of(root));
      return result instanceof Promise ? turn.known(actor, result) : result;
    }
  }

  /** @throws invalidMachine when another actor of the tree has the name */
  async claim(systemId: string, id: string, parent: Pick<ActorRecord, "id" | "root">): Promise<void> {
    const holder = (await this.of(parent.root)).get(systemId);
    if (holder !== undefined && holder !== id)
      throw new PawlError(
        "invalidMachine",
        `Actor "${parent.id}" gives the system id "${systemId}" to a child, and "${holder}" of the same tree has it. Stop that one before, or give the child another systemId.`,
        { subject: parent.id },
      );
    this.starting.set(systemId, id);
  }

  /** It stands in the draft now, or will never start. */
  started(systemId: string | null): void {
    if (systemId !== null) this.starting.delete(systemId);
  }

  stops(id: string): void {
    this.stopping.add(id);
  }

  stopped(id: string): void {
    this.stopping.delete(id);
  }
}

/** The actor, or one below it. */
const isWithin = (id: string, actor: string): boolean => id === actor || id.startsWith(`${actor}/`);
