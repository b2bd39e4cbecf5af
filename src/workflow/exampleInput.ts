/** An input that a workflow takes, made up from its schema alone: for the message to somebody whose own does not fit. */
import { z, type ZodType } from "zod";

/** Longer ones help nobody. */
const longest = 300;

interface Described {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly properties?: { readonly [name: string]: Described };
  readonly required?: readonly string[];
  readonly items?: Described;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly minLength?: number;
}

/** JSON text of an input that the schema surely takes; null when none can be made up, because of a rule that JSON Schema cannot say for one. */
export async function exampleInput(schema: ZodType): Promise<string | null> {
  try {
    const example = sample(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Described); // JSON Schema, of which only these words are read
    const text = JSON.stringify(example);
    return text !== undefined && text.length <= longest && (await schema.safeParseAsync(example)).success ? text : null;
  } catch {
    return null; // a schema that throws has told so before
  }
}

function sample(described: Described): unknown {
  if (described.default !== undefined) return described.default;
  if (described.const !== undefined) return described.const;
  if (described.enum !== undefined) return described.enum[0];
  const [first] = described.anyOf ?? described.oneOf ?? [];
  if (first !== undefined) return sample(first);
  switch (described.type) {
    case "object":
      return Object.fromEntries((described.required ?? []).map((name) => [name, sample(described.properties?.[name] ?? {})]));
    case "array":
      return Array.from({ length: described.minItems ?? 0 }, () => sample(described.items ?? {}));
    case "string":
      return "text".padEnd(described.minLength ?? 0, " text");
    case "number":
    case "integer":
      return described.minimum ?? 1;
    case "boolean":
      return true;
    default:
      return null;
  }
}
