/** Actors that are about to start. The first transition of each is computed where its parent asks for it, as live, so that it sees the tree of
 *  that moment; it is carried out when its turn comes. */
import type { ActorRecord } from "../../persistence/store.ts";
import { childActor, type FindDefinition } from "./children.ts";
import type { Definition } from "./definition.ts";
import type { Draft } from "./draft.ts";
import type { Mailboxes } from "./mailboxes.ts";
import { dataOf } from "./outgoing.ts";
import { inLiveOrder, type ChildLink, type StepRecord, type StepResult, type Stepper } from "./step.ts";
import type { TreeNames } from "./treeNames.ts";

type Parent = Pick<ActorRecord, "id" | "root" | "revision">;

export interface NewActor {
  readonly id: string;
  readonly definition: Definition;
  readonly input: unknown;
  readonly parent: Parent | null;
  readonly childKey: string | null;
  readonly systemId: string | null;
}

export interface Prepared {
  readonly actor: NewActor;
  /** Its records stand in the order in which a live actor carries them out. */
  readonly result: StepResult;
  readonly children: Children;
}

/** Those of a step's children that are durable actors. */
export type Children = ReadonlyMap<ChildLink, Prepared>;

export interface NurseryOptions {
  readonly draft: Draft;
  readonly env: { readonly stepper: (definition: Definition) => Stepper; readonly findDefinition: FindDefinition };
  readonly names: TreeNames;
  readonly mailboxes: Pick<Mailboxes<unknown>, "open">;
  /** Bounds how many start in one dispatch. @throws cascadeLimit */
  readonly count: (actor: string) => void;
}

export class Nursery {
  private readonly options: NurseryOptions;

  constructor(options: NurseryOptions) {
    this.options = options;
  }

  async prepare(given: NewActor): Promise<Prepared> {
    const { id, parent, definition, childKey } = given;
    const { env, names, count } = this.options;
    count(id);
    const root = parent?.root ?? id;
    // What the actor starts with is what is stored: nothing shared with whoever gave it.
    const actor: NewActor = { ...given, input: dataOf(given.input, inputOf(id)) };
    if (definition.stepper) this.options.draft.turn.begin(id);
    const result = await names.given(id, root, (known) => env.stepper(definition).init(id, parent?.id ?? null, actor.input, childKey, known));
    const children = await this.prepareChildren(result.asked, { id, root, revision: 1 }, definition, true);
    const isActive = (link: ChildLink): boolean => (children.get(link)?.result.status ?? "active") === "active";
    return { actor, result: { ...result, records: inLiveOrder(result.asked, result.next.snapshot, isActive) }, children };
  }

  /** Gives the children of a step their ids before any of them starts: what is sent to one meanwhile waits for it. `isFirst`: the step is its actor's first. */
  async prepareChildren(records: readonly StepRecord[], parent: Parent, definition: Definition, isFirst: boolean): Promise<Children> {
    const { env, names, mailboxes } = this.options;
    const children = new Map<ChildLink, Prepared>();
    for (const asked of records) {
      // A live actor frees the system ids of what it stops at once, except while it starts.
      if (asked.kind === "stop" && !isFirst && asked.link?.actor !== undefined) names.stops(asked.link.actor);
      const child = asked.kind === "spawn" ? await childActor(env.findDefinition, parent.id, definition, asked) : null;
      if (asked.kind !== "spawn" || !child) continue;
      const { key, input, systemId } = asked;
      const id = await this.childId(parent, key, child.visit);
      asked.link.actor = id;
      mailboxes.open(id);
      if (systemId !== null) await names.claim(systemId, id, parent);
      children.set(asked.link, await this.prepare({ id, definition: child.definition, input, parent, childKey: key, systemId }));
    }
    return children;
  }

  /** `<parent>/<visit>` for nodes; else `<parent>/<key>`, with the parent's revision when that name was used before. */
  private async childId(parent: Parent, key: string, visit: string | undefined): Promise<string> {
    if (visit !== undefined) return `${parent.id}/${visit}`;
    const id = `${parent.id}/${key}`;
    return (await this.options.draft.actor(id)) ? `${id}.${parent.revision}` : id;
  }
}

export const inputOf = (actor: string): string => `input of actor "${actor}"`;
