/** The rules of one node at run time: its settings, its callbacks, its cases and targets. */
import { choiceContracts } from "../../machines/contracts/choices.ts";
import { messageOf } from "../errors.ts";
import { agentProblems } from "./agentChecks.ts";
import type { Choices } from "./choices.ts";
import { isSchema } from "./schema.ts";
import { closestTo } from "../text/closest.ts";
import { compositionProblems } from "./compositionChecks.ts";
import type { DraftNode } from "./checks.ts";
import { choiceIdPattern, doneCase, isSoftCase, reservedCases, softCases } from "./graph.ts";
import { nodeKinds } from "./kinds.ts";
import type { NodeBehaviour, NodeSettings } from "./nodes/node.ts";
import { machineProblems } from "./machineChecks.ts";

export const maxStatusDetailUnits = 120;

/** What makes a node, in the order of the docs. */
const factories = [
  "compute()",
  "action()",
  "shell()",
  "batch()",
  "agent()",
  "choose()",
  "assistantMessage()",
  "notify()",
  "humanDecision()",
  "checkpoint()",
  "wait()",
  "include()",
  "machineNode()",
];

/** Every problem of a node, as sentences that name it. `ids`: all node ids of the workflow. */
export function nodeProblems({ id, definition, next }: DraftNode, ids: readonly string[]): string[] {
  const name = `node "${String(id)}"`;
  if (!isNode(definition)) return [`${name} is no node; make it with ${factories.slice(0, -1).join(", ")} or ${factories.at(-1) ?? ""}.`];
  const { settings, behaviour } = definition;
  const inside = [...settingProblems(settings), ...behaviourProblems(behaviour)];
  return [...inside, ...nextProblems(settings, next, ids)].map((problem) => `${name} ${problem}`);
}

function isNode(value: unknown): value is DraftNode["definition"] {
  if (typeof value !== "object" || value === null || !("settings" in value) || !("behaviour" in value)) return false;
  const { behaviour } = value;
  return typeof behaviour === "object" && behaviour !== null && "kind" in behaviour && nodeKinds.some((kind) => kind === behaviour.kind);
}

/** True for what `timeoutMs` may be, callbacks aside. */
export const isTimeout = (value: unknown): value is number | null => value === null || (typeof value === "number" && Number.isFinite(value) && value > 0);

function settingProblems({ timeoutMs, statusDetail, retry, once }: NodeSettings): string[] {
  const problems: string[] = [];
  if (timeoutMs !== undefined && typeof timeoutMs !== "function" && !isTimeout(timeoutMs))
    problems.push(`has timeoutMs ${String(timeoutMs)}; give milliseconds above 0, null for no deadline, or a callback that gives either.`);
  if (typeof once !== "boolean") problems.push(`has once ${String(once)}; give true or false.`);
  if (statusDetail !== undefined && (typeof statusDetail !== "string" || statusDetail.length > maxStatusDetailUnits))
    problems.push(`has a statusDetail that is not text of at most ${maxStatusDetailUnits} characters.`);
  if (retry !== undefined) {
    const { maxAttempts, initialMs, factor = 1, maxMs = 0 } = retry;
    if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1 || maxAttempts > 100)
      problems.push(`has retry.maxAttempts ${String(maxAttempts)}; give a whole number from 1 to 100.`);
    for (const [key, value, least] of [
      ["initialMs", initialMs, 0],
      ["factor", factor, 1],
      ["maxMs", maxMs, 0],
    ] as const)
      if (!(Number.isFinite(value) && value >= least)) problems.push(`has retry.${key} ${String(value)}; give a finite number of at least ${least}.`);
  }
  return problems;
}

const isCallback = (value: unknown): boolean => typeof value === "function";
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

function behaviourProblems(behaviour: NodeBehaviour): string[] {
  switch (behaviour.kind) {
    case "compute":
    case "action":
      return [
        ...(isCallback(behaviour.run) ? [] : ["has no function to run."]),
        ...(behaviour.output === null || isSchema(behaviour.output) ? [] : ["has an output that is no zod schema."]),
        ...routeProblems(behaviour.route),
      ];
    case "shell": {
      const { command, args, cwd, env, stdin } = behaviour.command;
      const problems = [
        ...(behaviour.parse === null || isCallback(behaviour.parse) ? [] : ["has a parse that is no function."]),
        ...routeProblems(behaviour.route),
      ];
      if (!isText(command) && !isCallback(command)) problems.push("has no command; give the program's name, or a callback that gives it.");
      if (args !== undefined && !isCallback(args) && !(Array.isArray(args) && args.every((arg) => typeof arg === "string")))
        problems.push("has args that are no list of texts; give a list, or a callback that gives one.");
      for (const [key, value] of [
        ["cwd", cwd],
        ["stdin", stdin],
      ] as const)
        if (value !== undefined && typeof value !== "string" && !isCallback(value)) problems.push(`has a ${key} that is neither text nor a callback.`);
      if (
        env !== undefined &&
        !isCallback(env) &&
        (typeof env !== "object" || env === null || Object.values(env).some((value) => value !== undefined && typeof value !== "string"))
      )
        problems.push("has an env whose values are not all text.");
      return problems;
    }
    case "agent":
    case "choose":
    case "assistantMessage":
    case "notify":
      return agentProblems(behaviour);
    case "humanDecision":
      return [
        ...(isText(behaviour.audience) || isCallback(behaviour.audience) ? [] : ['has no audience; name one, such as "operator".']),
        ...(isCallback(behaviour.request) ? [] : ["has no request; give a callback that returns { title, subject }."]),
        ...choiceProblems(behaviour.choices),
      ];
    case "machine":
      return [...machineProblems(behaviour), ...routeProblems(behaviour.route)];
    case "checkpoint":
    case "batch":
      return [...compositionProblems(behaviour), ...routeProblems(behaviour.route)];
    case "wait":
    case "include":
      return compositionProblems(behaviour);
  }
}

const routeProblems = (route: unknown): string[] => (route === null || isCallback(route) ? [] : ["has a route that is no function."]);

function choiceProblems(choices: Choices): string[] {
  if (typeof choices !== "object" || choices === null || Object.values(choices).some((choice) => typeof choice !== "object" || choice === null))
    return ['has no choices; give at least one, such as { go: { label: "Go" } }.'];
  try {
    choiceContracts(choices);
    return [];
  } catch (error) {
    return [`has choices that cannot be offered: ${messageOf(error)}`];
  }
}

function nextProblems(settings: NodeSettings, next: unknown, ids: readonly string[]): string[] {
  // What it could end with is not known, which was told already.
  if (settings.cases?.length === 0) return [];
  const single = settings.cases?.length === 1 && settings.cases[0] === doneCase;
  if (typeof next === "string")
    return single
      ? targetProblems("its target", next, ids)
      : [`has cases of its own${casesText(settings)}; give each a target: { case: "node" } in place of "${next}".`];
  if (next !== undefined && (typeof next !== "object" || next === null || Array.isArray(next)))
    return ["has a next that is neither a node's id nor an object of targets by case."];
  const routes: [string, unknown][] = next === undefined ? [] : Object.entries(next).filter(([, target]) => target !== undefined);
  const routed = routes.map(([name]) => name);
  const problems = routes.flatMap(([name, target]) => targetProblems(`the target of "${name}"`, target, ids));
  if (settings.cases === null) {
    const own = routed.filter((name) => !isSoftCase(name));
    return [...problems, ...(own.length > 0 ? caseProblems(own) : ["has a route but no targets; give each case that it may name a target."])];
  }
  if (!single)
    problems.push(
      ...caseProblems(settings.cases),
      ...settings.cases.filter((name) => !routed.includes(name)).map((name) => `has no target for its case "${name}"; add ${name}: "<node>" to its next.`),
    );
  const known = [...settings.cases, ...softCases];
  for (const name of routed) if (!known.includes(name)) problems.push(`has no case "${name}". ${closestTo(name, known)}`);
  return problems;
}

const casesText = ({ cases }: NodeSettings): string => (cases ? ` (${cases.join(", ")})` : "");

function targetProblems(what: string, target: unknown, ids: readonly string[]): string[] {
  return typeof target === "string" && ids.includes(target)
    ? []
    : [`goes to ${typeof target === "string" ? `"${target}"` : String(target)} (${what}), but no node is named so. ${closestTo(String(target), ids)}`];
}

function caseProblems(cases: readonly string[]): string[] {
  return cases.flatMap((name) => {
    if (reservedCases.includes(name)) return [`uses the reserved name "${name}" for a case; choose another (taken: ${reservedCases.join(", ")}).`];
    return choiceIdPattern.test(name) ? [] : [`has the case "${name}"; a case is a letter or _, then up to 63 letters, digits, _ or -.`];
  });
}
