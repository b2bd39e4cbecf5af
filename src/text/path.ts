/** Paths into JSON values as people read them in messages: `blocks[3].items[0]`. */

/** The path of keys and indexes as text; the empty text for the root. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (typeof step === "string" && /^[A-Za-z_$][\w$-]*$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(String(step))}]`;
  }
  return text;
}
