/** Makes a readable presentation out of a plan of any shape, for authors who have the plan and no wish to lay it out. */
import { count } from "./strings.ts";
import { presentationLimits, presentationSchema, type DecisionBlock, type DecisionPresentation } from "./presentation.ts";

/** Keys of an object that say in a line what it is about, best first. */
const summaryKeys = ["summary", "title", "goal", "name"];
/** Objects nested deeper than this are shown as JSON. */
const deepest = 3;
/** Longest value that stands beside its label. */
const besideLabel = 200;

/**
 * A presentation that shows all of `plan`: strings as paragraphs, lists as bullets, flat fields side by side, nested ones in sections, what is deeper as JSON.
 * Control characters are written out, so that any text can be shown; a plan too large for a presentation is refused when the decision is made.
 */
export function planPresentation(plan: unknown, options: { readonly summary?: string } = {}): DecisionPresentation {
  const shownPlan: unknown = JSON.parse(JSON.stringify(plan) ?? "null"); // what the subject's digest covers: a Date is its text, no key is undefined
  const found = options.summary === undefined ? summaryIn(shownPlan) : undefined;
  const summary = options.summary ?? found?.text ?? "Plan";
  const rest = found === undefined ? shownPlan : Object.fromEntries(Object.entries(found.of).filter(([key]) => key !== found.key));
  const blocks = shorten(blocksOf(rest, [], 0));
  return { schema: presentationSchema, summary: oneLine(summary), blocks: blocks.length <= presentationLimits.blocks ? blocks : json(rest) };
}

function summaryIn(plan: unknown): { readonly key: string; readonly text: string; readonly of: object } | undefined {
  if (typeof plan !== "object" || plan === null || Array.isArray(plan)) return undefined;
  for (const key of summaryKeys) {
    const text: unknown = Object.entries(plan).find(([name]) => name === key)?.[1];
    if (typeof text === "string" && text.trim() !== "" && !text.includes("\n") && text.length <= presentationLimits.stringUnits) return { key, text, of: plan };
  }
  return undefined;
}

function blocksOf(value: unknown, path: readonly string[], depth: number): DecisionBlock[] {
  if (isScalar(value)) return prose(scalar(value));
  if (depth > deepest) return json(value);
  if (Array.isArray(value)) return listBlocks(value, path, depth);
  return recordBlocks(Object.entries(value ?? {}), path, depth);
}

function listBlocks(list: readonly unknown[], path: readonly string[], depth: number): DecisionBlock[] {
  if (list.every(isBullet)) return chunks(list.map((item) => oneLine(scalar(item)))).map((items) => ({ kind: "bullets", items }));
  return list.flatMap((item, i) => within([...path, count(i + 1)], item, depth));
}

function recordBlocks(entries: readonly (readonly [string, unknown])[], path: readonly string[], depth: number): DecisionBlock[] {
  const flat = entries.filter(([, value]) => isBesideLabel(value));
  const fields: DecisionBlock[] = chunks(flat.map(([key, value]) => ({ label: label(key), value: oneLine(scalar(value)) }))).map((part) => ({
    kind: "fields",
    fields: part,
  }));
  return [...fields, ...entries.filter(([, value]) => !isBesideLabel(value)).flatMap(([key, value]) => within([...path, label(key)], value, depth))];
}

function within(path: readonly string[], value: unknown, depth: number): DecisionBlock[] {
  const inside = blocksOf(value, path, depth + 1);
  // A section of nothing but sections needs no title of its own: theirs begin with it.
  return inside[0]?.kind === "section" ? inside : [{ kind: "section", title: path.join(" / ") }, ...inside];
}

/** Paragraphs, parted where the text has empty lines; longer ones than a string may be, in pieces. */
function prose(text: string): DecisionBlock[] {
  return text
    .split(/\n{2,}/)
    .filter((part) => part.trim() !== "")
    .flatMap((part) => pieces(part).map((piece): DecisionBlock => ({ kind: "paragraph", text: piece })));
}

function json(value: unknown): DecisionBlock[] {
  return pieces(shown(JSON.stringify(value, null, 2) ?? "null")).map((text) => ({ kind: "preformatted", text }));
}

/** Many short blocks of one text are one block with empty lines in it: keeps a long plan within the number of blocks. */
function shorten(blocks: readonly DecisionBlock[]): DecisionBlock[] {
  if (blocks.length <= presentationLimits.blocks) return [...blocks];
  const joined: DecisionBlock[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.kind === "paragraph" && last?.kind === "paragraph" && last.text.length + block.text.length + 2 <= presentationLimits.stringUnits)
      joined[joined.length - 1] = { kind: "paragraph", text: `${last.text}\n\n${block.text}` };
    else joined.push(block);
  }
  return joined;
}

/** Cut at line ends where there are any, never inside a code point. */
function pieces(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > presentationLimits.stringUnits) {
    const atLine = rest.lastIndexOf("\n", presentationLimits.stringUnits - 1);
    let end = atLine > 0 ? atLine + 1 : presentationLimits.stringUnits;
    if (atLine <= 0 && /[\uD800-\uDBFF]/.test(rest.charAt(end - 1))) end -= 1;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...parts, rest];
}

function chunks<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / presentationLimits.items) }, (_, i) =>
    items.slice(i * presentationLimits.items, (i + 1) * presentationLimits.items),
  );
}

/** Empty lists and objects are told in a word, like null. */
function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null || Object.keys(value).length === 0;
}

function isBullet(value: unknown): boolean {
  return isScalar(value) && scalar(value).length <= presentationLimits.stringUnits && !scalar(value).includes("\n");
}

function isBesideLabel(value: unknown): boolean {
  return isScalar(value) && scalar(value).length <= besideLabel && !scalar(value).includes("\n");
}

function scalar(value: unknown): string {
  if (typeof value === "string") return shown(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "none";
}

function label(key: string): string {
  const text = oneLine(key);
  return text.trim() === "" ? JSON.stringify(text) : text;
}

function oneLine(text: string): string {
  return shown(text).replace(/[\n\t]+/g, " ");
}

/** LF line ends; other control characters and half surrogates written out, as the contract refuses them raw. Format characters stay. */
function shown(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]|\p{Cs}/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}
