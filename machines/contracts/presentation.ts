/** What a person is shown to decide on: `pawl.decision-presentation.v1`. Its limits are checked when the decision is made, so that every channel can show all of it. */
import { z } from "zod";
import { renderPresentation, type PresentationText } from "../../src/text/presentation.ts";
import { partUnits, splitParts } from "../../src/text/parts.ts";
import { count, parsed, plainString } from "./strings.ts";

export const presentationSchema = "pawl.decision-presentation.v1";

/** Sizes in UTF-16 units. */
export const presentationLimits = { units: 64_000, blocks: 256, items: 256, stringUnits: 16_000, parts: 20 } as const;

const line = plainString({ max: presentationLimits.stringUnits });
const prose = plainString({ max: presentationLimits.stringUnits, lines: true });
const title = plainString({ min: 1, max: presentationLimits.stringUnits });

const atMost = (max: number, things: string) => ({
  error: (issue: { input?: unknown }) => `${Array.isArray(issue.input) ? count(issue.input.length) : "too many"} ${things}, the limit is ${count(max)}`,
});

export const DecisionBlock = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("paragraph"), text: prose }),
    z.strictObject({ kind: z.literal("section"), title }),
    z.strictObject({ kind: z.literal("bullets"), items: z.array(line).max(presentationLimits.items, atMost(presentationLimits.items, "items in a block")) }),
    z.strictObject({
      kind: z.literal("fields"),
      fields: z.array(z.strictObject({ label: title, value: line })).max(presentationLimits.items, atMost(presentationLimits.items, "items in a block")),
    }),
    z.strictObject({ kind: z.literal("preformatted"), text: prose }),
  ],
  { error: "expected a block whose kind is paragraph, section, bullets, fields or preformatted" },
);
export type DecisionBlock = z.infer<typeof DecisionBlock>;

export const DecisionPresentation = z
  .strictObject({
    schema: z.literal(presentationSchema),
    summary: title,
    blocks: z.array(DecisionBlock).max(presentationLimits.blocks, atMost(presentationLimits.blocks, "blocks")),
  })
  .superRefine((presentation, context) => {
    const units = strings(presentation).reduce((sum, text) => sum + text.length, 0);
    if (units > presentationLimits.units) {
      context.addIssue({ code: "custom", message: `has ${count(units)} UTF-16 units in all, the limit is ${count(presentationLimits.units)}` });
      return;
    }
    const parts = transportParts(presentation);
    if (parts > presentationLimits.parts)
      context.addIssue({
        code: "custom",
        message: `takes ${count(parts)} parts of ${count(partUnits)} units in the strictest channel, the limit is ${presentationLimits.parts}`,
      });
  });
export type DecisionPresentation = z.infer<typeof DecisionPresentation>;

/** What an author writes: the schema's name may be left out. */
export interface PresentationInput extends PresentationText {
  readonly schema?: typeof presentationSchema;
}

/**
 * A presentation as it is stored and digested: CRLF and CR became LF, everything else is as it was given.
 * @throws invalidValue naming limit, value and path for anything that the contract forbids.
 */
export function normalisePresentation(value: unknown, what = "presentation"): DecisionPresentation {
  const named = isRecord(value) && value["schema"] === undefined ? { ...value, schema: presentationSchema } : value;
  return parsed(DecisionPresentation, withLf(named), what);
}

/** How many messages the strictest channel needs for it. */
export function transportParts(presentation: DecisionPresentation): number {
  return splitParts(renderPresentation(presentation, Infinity).join("\n")).length;
}

function strings({ summary, blocks }: Pick<DecisionPresentation, "summary" | "blocks">): string[] {
  return [summary, ...blocks.flatMap(blockStrings)];
}

function blockStrings(block: DecisionBlock): readonly string[] {
  switch (block.kind) {
    case "section":
      return [block.title];
    case "bullets":
      return block.items;
    case "fields":
      return block.fields.flatMap(({ label, value }) => [label, value]);
    case "paragraph":
    case "preformatted":
      return [block.text];
  }
}

/** The value with LF line ends in all its strings; as deep as a presentation goes. */
function withLf(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return value.replace(/\r\n?/g, "\n");
  if (depth > 5) return value;
  if (Array.isArray(value)) return value.map((item) => withLf(item, depth + 1));
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withLf(item, depth + 1)])) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
