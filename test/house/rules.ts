/** Rule ids: those that docs/spec.md states, and those that tests name. */
import { parseSync, Visitor } from "vite";

/** `STORE-12`, as it stands at the start of a rule or a test's name. */
const ruleId = /^[A-Z]{2,9}-\d+(?![\w-])/;

/** Rules of a page in the form `- STORE-1  One sentence.`, in order. */
export function statedRules(page: string): { readonly id: string; readonly text: string }[] {
  return [...page.matchAll(/^(?:- )?([A-Z]{2,9}-\d+) +(\S.*)$/gm)].map(([, id = "", text = ""]) => ({ id, text }));
}

/** The ids a name begins with: one, or several with commas or blanks between. */
export function idsOf(name: string): string[] {
  const ids: string[] = [];
  for (let rest = name; ;) {
    const id = ruleId.exec(rest)?.[0];
    if (id === undefined) return ids;
    ids.push(id);
    rest = rest.slice(id.length).replace(/^[\s,:;+&]+/, "");
  }
}

/** Names of tests and suites in a test file, and its other strings: a table of cases may hold names too. */
export function namesIn(path: string, text: string): { readonly tests: string[]; readonly strings: string[] } {
  const tests: string[] = [];
  const strings: string[] = [];
  new Visitor({
    CallExpression(node) {
      const callee = text.slice(node.callee.start, node.callee.end);
      const name = node.arguments[0];
      if (!/^(test|it|describe)\b/.test(callee) || name === undefined) return;
      if (name.type === "Literal" && typeof name.value === "string") tests.push(name.value);
      if (name.type === "TemplateLiteral") tests.push(name.quasis[0]?.value.raw ?? "");
    },
    Literal(node) {
      if (typeof node.value === "string") strings.push(node.value);
    },
    TemplateElement(node) {
      strings.push(node.value.raw);
    },
  }).visit(parseSync(path, text).program);
  return { tests, strings };
}
