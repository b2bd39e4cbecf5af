/** The kinds of nodes. Apart from the graph's schemas: what only reads state needs their names and no more. */

/** Kinds whose visit is an effect of the graph itself. */
export const effectKinds = ["compute", "action", "shell", "notify"] as const;
export type EffectKind = (typeof effectKinds)[number];

/** Kinds whose visit is an actor of its own, with a machine in machines/nodes. */
export const actorKinds = ["agent", "choose", "assistantMessage", "humanDecision", "wait", "checkpoint", "include", "batch", "machine"] as const;
export type ActorKind = (typeof actorKinds)[number];

/** Kinds that an agent works on: they are told when their run stands still, and say nothing meanwhile. */
export const agentKinds = ["agent", "choose", "assistantMessage"] as const satisfies readonly ActorKind[];
export const isAgentKind = (kind: string): boolean => agentKinds.some((one) => one === kind);

/** Node kinds that this build can run. */
export const nodeKinds = [...effectKinds, ...actorKinds] as const;
export type NodeKind = EffectKind | ActorKind;

export const isActorKind = (kind: NodeKind): kind is ActorKind => actorKinds.some((one) => one === kind);
