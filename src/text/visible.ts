/** Text of unknown origin made safe to show: what would steer a terminal, hide or reorder text is written out as `\u{202E}`.
 *  Stored data is never changed by this; every channel and screen passes what it shows through here. */

/** Everything that is looked at twice; most text holds none of it. Lone surrogates are code points of their own under the `u` flag. */
const suspicious = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Cs}\u2028\u2029\uFFF9-\uFFFB]/gu;

/** Scripts whose letters ZWJ and ZWNJ legitimately join or part. */
const joiningScripts = [
  "Arabic",
  "Syriac",
  "Mongolian",
  "Nko",
  "Devanagari",
  "Bengali",
  "Gurmukhi",
  "Gujarati",
  "Oriya",
  "Tamil",
  "Telugu",
  "Kannada",
  "Malayalam",
  "Sinhala",
  "Khmer",
  "Myanmar",
  "Tibetan",
];
const joiningLetter = `(?:(?=[\\p{L}\\p{M}])[${joiningScripts.map((script) => `\\p{Script=${script}}`).join("")}])`;
const afterJoining = new RegExp(`${joiningLetter}$`, "u");
const beforeJoining = new RegExp(`^${joiningLetter}`, "u");

/** A pictograph with what may follow it inside one emoji. */
const afterPictograph = /\p{Extended_Pictographic}(?:\uFE0F|\p{Emoji_Modifier})?$/u;
const beforePictograph = /^\p{Extended_Pictographic}/u;
const tagFlag = /^\p{RGI_Emoji_Tag_Sequence}/v;
const tagFlagBase = "\u{1F3F4}";

/** How far a character's own neighbourhood reaches, in UTF-16 units: the longest flag has fourteen. */
const reach = 16;

/** The text with LF line ends, and with every other control, bidi control and invisible character written out; LF and tab stay. */
export function visible(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(suspicious, (character: string, offset: number, whole: string) => (mayStay(character, offset, whole) ? character : written(character)));
}

/** As `visible`, on one line: line ends and tabs become spaces. For titles, labels, names, messages. */
export function visibleLine(text: string): string {
  return visible(text).replace(/[\n\t]+/g, " ");
}

/** A code point written out: `\u{1B}`. */
export function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

function mayStay(character: string, offset: number, text: string): boolean {
  if (character === "\n" || character === "\t") return true;
  const before = text.slice(Math.max(0, offset - reach), offset);
  const after = text.slice(offset + character.length, offset + character.length + reach);
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x200d && afterPictograph.test(before) && beforePictograph.test(after)) return true;
  if (code === 0x200c || code === 0x200d) return afterJoining.test(before) && beforeJoining.test(after);
  if (code === 0xfe0e || code === 0xfe0f) return /\p{Extended_Pictographic}$/u.test(before) || (/[0-9#*]$/.test(before) && after.startsWith("\u20E3"));
  if ((code >= 0xfe00 && code <= 0xfe0d) || (code >= 0xe0100 && code <= 0xe01ef)) return /\p{Script=Han}$/u.test(before);
  if (code >= 0x180b && code <= 0x180f) return /\p{Script=Mongolian}$/u.test(before);
  if (code >= 0xe0020 && code <= 0xe007f) return isInTagFlag(offset, text);
  return false;
}

function isInTagFlag(offset: number, text: string): boolean {
  const from = Math.max(0, offset - reach);
  const base = text.slice(from, offset).lastIndexOf(tagFlagBase);
  if (base === -1) return false;
  const flag = tagFlag.exec(text.slice(from + base, from + base + reach))?.[0];
  return flag !== undefined && offset < from + base + flag.length;
}

// Linear in the text's length: no part can match what its neighbour matches.
const controlSequence = /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]/g;
const controlString = /(?:\u001B[\]PX^_]|[\u009D\u0090\u0098\u009E\u009F])[^\u0007\u001B\u0080-\u009F]*(?:\u0007|\u001B\\|\u009C)/g;
const shortSequence = /\u001B[ -/]*[0-Z\\^-~]/g;

/** Output of a program without the colours and links it made for a terminal. Not for decisions: it drops text. Pass the result through `visible`. */
export function withoutAnsi(text: string): string {
  return text.replace(controlString, "").replace(controlSequence, "").replace(shortSequence, "");
}
