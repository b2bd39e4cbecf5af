/** JSON for programs that stays harmless when a person looks at it. */

// JSON leaves these as they are, but terminals obey or hide them.
const steering = /[\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

/** One line of JSON; the same value when parsed. */
export function jsonLine(value: unknown): string {
  return `${(JSON.stringify(value) ?? "null").replace(steering, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
