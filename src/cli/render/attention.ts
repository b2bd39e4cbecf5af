/** What waits for a person, in a few lines each; pure. */
import { wrap } from "../../text/cells.ts";
import { visibleLine } from "../../text/visible.ts";
import type { AwaitedView, DecisionView, EffectView } from "../../host/api.ts";
import { deadlineText } from "./deadline.ts";
import { nodePath } from "../../visitNames.ts";
import { age, localTime } from "./time.ts";

/** Who is asked, since when, until when and what happens then. */
export function decisionFacts(decision: DecisionView, now: number): string {
  const deadline = deadlineText(decision, now);
  const facts = [
    `for ${visibleLine(decision.audience)}`,
    `node ${visibleLine(nodePath(decision.visit) || decision.node)}`,
    `open for ${age(now - decision.createdAt)}`,
  ];
  return (deadline === "" ? facts : [...facts, deadline]).join(" · ");
}

export function openDecisionLines(decision: DecisionView, now: number, width: number): readonly string[] {
  return [
    ...wrap(`Decision ${decision.code}: ${visibleLine(decision.title)}`, width),
    ...indented(decisionFacts(decision, now), width),
    ...deliveryLines(decision, width),
  ];
}

/** Why those who are asked cannot see it, or answer it. */
export function deliveryLines({ delivery }: DecisionView, width: number): readonly string[] {
  return delivery === null || delivery.problem === null ? [] : wrap(delivery.problem, width);
}

/** What a checkpoint asks for. */
export function checkpointLines({ node, title, prompt }: Extract<AwaitedView, { kind: "checkpoint" }>, width: number): readonly string[] {
  const lines = prompt === "" ? [] : prompt.split("\n").flatMap((line) => indented(visibleLine(line), width));
  return [...wrap(`Checkpoint ${visibleLine(node)}: ${visibleLine(title)}`, width), ...lines];
}

function indented(text: string, width: number): readonly string[] {
  const indent = width > 12 ? "  " : "";
  return wrap(text, width - indent.length).map((line) => indent + line);
}

/** Which work, since when, and what to look for outside. */
export function ambiguousLines(effect: EffectView, now: number, width: number): readonly string[] {
  const since = effect.ambiguousSince ?? effect.createdAt;
  const node = nodeOf(effect);
  const error = effect.error === null ? "" : ` Last word of it: ${visibleLine(effect.error.message)}`;
  return wrap(
    `Unknown outcome: ${node}, attempt ${effect.attempt}, began and was cut off; unknown since ${localTime(since, now)}.${error} Check where it works whether it took effect; it used the key ${visibleLine(effect.visit ?? effect.key)}.`,
    width,
  );
}

/** The node an effect works for, as people call it; the effect's type where it has none. */
export const nodeOf = ({ visit, type }: Pick<EffectView, "visit" | "type">): string => visibleLine((visit === null ? "" : nodePath(visit)) || type);
