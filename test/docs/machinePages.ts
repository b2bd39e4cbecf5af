/** A page for each statechart, generated from the chart itself: a diagram, and what every state answers to every event. */
import type { AnyStateMachine, AnyStateNode } from "xstate";

interface Move {
  readonly guard: string | null;
  readonly target: string;
  readonly actions: readonly string[];
}

/** What a machine's owner answers where the chart has no transition: to each event, in a state and after the end. */
export interface Silence {
  readonly answer: (event: string) => string;
  readonly afterEnd: (event: string) => string;
  /** Actions that do nothing but answer, by what they answer. */
  readonly answers: { readonly [action: string]: string };
  /** One sentence that explains these words. */
  readonly legend: string;
}

const noNotice: Silence = {
  answer: () => "-",
  afterEnd: () => "ended",
  answers: {},
  legend: "`·` means that it stays and acts; a dash that it takes no notice.",
};

/** Markdown of one machine. `about` says in a sentence what it models. */
export function machinePage(machine: AnyStateMachine, about: string, silence = noNotice): string {
  const states = [...leaves(machine.root)];
  const events = [...new Set([...statesOf(machine.root)].flatMap((node) => [...node.transitions.keys()]))].filter((type) => type !== "");
  return [
    `# ${machine.id}`,
    "",
    `${about} Version ${machine.config.version ?? "none"}. Generated from the chart; \`npm test -- -u\` writes it again.`,
    "",
    "```mermaid",
    "stateDiagram-v2",
    ...diagram(machine.root, "  "),
    ...fromAnywhere(machine.root),
    "```",
    "",
    `What each state does at each event: the target, with its guard in brackets; ${silence.legend}`,
    "",
    `| state | ${events.map(escaped).join(" | ")} |`,
    `| --- | ${events.map(() => "---").join(" | ")} |`,
    ...states.map((state) => `| ${pathOf(state)} | ${events.map((event) => answer(state, event, silence)).join(" | ")} |`),
    "",
  ].join("\n");
}

function* statesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node;
  for (const child of childrenOf(node)) yield* statesOf(child);
}

function* leaves(node: AnyStateNode): Generator<AnyStateNode> {
  const children = childrenOf(node);
  if (children.length === 0) yield node;
  for (const child of children) yield* leaves(child);
}

const childrenOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states) as AnyStateNode[]; // XState types the map's values loosely

const pathOf = (node: AnyStateNode): string => (node.path.length === 0 ? "(root)" : node.path.join("."));

const escaped = (text: string): string => text.replaceAll("|", "\\|");

/** The innermost state that has transitions for the event answers, as XState decides it. */
function answer(state: AnyStateNode, event: string, silence: Silence): string {
  if (state.type === "final" && state.parent === state.machine.root) return silence.afterEnd(event);
  const said: string[] = [];
  for (let node: AnyStateNode | undefined = state; node; node = node.parent) {
    for (const move of movesOf(node, event)) {
      said.push(`${wordOf(move, silence)}${move.guard === null ? "" : ` [${move.guard}]`}`);
      if (move.guard === null) return said.join(", else ");
    }
  }
  return [...said, silence.answer(event)].join(", else ");
}

function wordOf({ target, actions }: Move, { answers }: Silence): string {
  if (target !== "·") return target;
  const [only, ...more] = actions;
  if (only !== undefined && more.length === 0 && answers[only] !== undefined) return answers[only];
  return `· ${actions.join(", ")}`.trimEnd();
}

const movesOf = (node: AnyStateNode, event: string): readonly Move[] =>
  (node.transitions.get(event) ?? []).map((transition) => ({
    guard: nameOf(transition.guard),
    target: transition.target?.map((target: AnyStateNode) => pathOf(target)).join(", ") ?? "·",
    actions: transition.actions.map((action: unknown) => nameOf(action) ?? "assign"),
  }));

function nameOf(of: unknown): string | null {
  if (of === undefined) return null;
  if (typeof of === "string") return of;
  if (typeof of === "object" && of !== null && "type" in of) return String(of.type);
  return typeof of === "function" && of.name !== "" ? of.name : "(inline)";
}

function diagram(node: AnyStateNode, indent: string): string[] {
  const lines: string[] = [];
  const [first] = node.initial?.target ?? [];
  if (first) lines.push(`${indent}[*] --> ${idOf(first)}`);
  for (const child of childrenOf(node)) {
    if (childrenOf(child).length > 0) lines.push(`${indent}state "${child.key}" as ${idOf(child)} {`, ...diagram(child, `${indent}  `), `${indent}}`);
    else lines.push(`${indent}state "${child.key}" as ${idOf(child)}`);
    for (const [event, transitions] of child.transitions) {
      for (const transition of transitions) {
        const guard = nameOf(transition.guard);
        for (const target of transition.target ?? [])
          lines.push(`${indent}${idOf(child)} --> ${idOf(target)}: ${labelOf(event)}${guard === null ? "" : ` [${guard}]`}`);
      }
    }
    if (child.type === "final") lines.push(`${indent}${idOf(child)} --> [*]`);
  }
  return lines;
}

/** Transitions of the root itself hold in every state. */
function fromAnywhere(root: AnyStateNode): string[] {
  const moves = [...root.transitions].flatMap(([event, transitions]) =>
    transitions.flatMap((transition) => (transition.target ?? []).map((target: AnyStateNode) => `  any --> ${idOf(target)}: ${labelOf(event)}`)),
  );
  return moves.length === 0 ? [] : ['  state "any state that is not final" as any', ...moves];
}

const idOf = (node: AnyStateNode): string => node.id.replaceAll(/[^A-Za-z0-9]/g, "_");

/** Mermaid reads a colon as the end of the label. */
const labelOf = (event: string): string =>
  event
    .replace(/^xstate\.after\.(\w+)\..*$/, "after $1")
    .replace(/^xstate\.(done|error)\.actor\.(.*)$/, "$2 $1")
    .replaceAll(":", " ");
