/**
 * Case-insensitive search in stored lines without decoding or lower-casing them.
 *
 * A stored line is UTF-8 JSON, read as Latin-1: one character a byte. A needle becomes a regular expression over these
 * bytes, in which each character stands for every character that `toLowerCase` turns into it. So what it finds is never
 * less than what `value.toLowerCase().includes(needle)` finds, and sometimes more (a member name, a level).
 */

/** "I" with a dot above is the one character whose lower case is two: "i" and a combining dot. */
const DOTTED_CAPITAL_I = "\u0130";
const COMBINING_DOT = "\u0307";
/** Half of a surrogate pair, which a needle may end in: four bytes of UTF-8, or the escape that JSON writes alone ones as. */
const ANY_SURROGATE = "(?:\\\\ud[89a-f][0-9a-f]{2}|[\\xf0-\\xf4][\\x80-\\xbf]{3})";
/** The end of the last Unicode block with letters that have a case. */
const CASED_END = 0x20000;

/** Characters outside ASCII whose lower case is, or begins with, an ASCII letter: Kelvin sign, dotted I. */
const ASCII_EXTRAS: Readonly<Record<string, string>> = { k: "\u212a", i: DOTTED_CAPITAL_I };

/**
 * A global pattern that matches, in the bytes of a stored line, every place a string that contains `needle` can be at.
 * Null where the needle tells nothing about the bytes.
 *
 * @param needle in lower case
 */
export function bytePattern(needle: string): RegExp | null {
  let source = "";
  let certain = false;
  for (const character of needle) {
    source += bytesOf(character);
    certain ||= character !== COMBINING_DOT;
  }
  return certain ? new RegExp(source, "g") : null;
}

/** Text as the bytes of its UTF-8, one character each. */
export function toByteString(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function bytesOf(character: string): string {
  if (character === COMBINING_DOT) return `(?:${literal(character)})?`;
  if (character.length === 1 && !character.isWellFormed()) return ANY_SURROGATE;
  const variants = variantsOf(character).map(literal);
  return variants.length === 1 ? `${variants[0]}` : `(?:${variants.join("|")})`;
}

/** Every character whose lower case is, or begins with, this one; itself first. */
function variantsOf(character: string): string[] {
  if (character >= "\u0080") return [character, ...(upperCases().get(character) ?? [])];
  const upper = character.toUpperCase();
  const extra = ASCII_EXTRAS[character];
  return [character, ...(upper === character ? [] : [upper]), ...(extra === undefined ? [] : [extra])];
}

/** A character as it stands in JSON, as a pattern of its bytes. */
function literal(character: string): string {
  const bytes = toByteString(JSON.stringify(character).slice(1, -1));
  return bytes.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

let upperCaseTable: Map<string, string[]> | undefined;

/** Lower case to upper cases, outside ASCII. Made at the first search that needs it; a few milliseconds. */
function upperCases(): Map<string, string[]> {
  upperCaseTable ??= invertLowerCase();
  return upperCaseTable;
}

function invertLowerCase(): Map<string, string[]> {
  // The lower case of sigma depends on what follows it, so either form may stand where the other was looked for.
  const table = new Map([
    ["σ", ["ς"]],
    ["ς", ["σ", "Σ"]],
  ]);
  for (let code = 0x80; code < CASED_END; code++) {
    const character = String.fromCodePoint(code);
    const lower = character.toLowerCase();
    if (lower === character || character === DOTTED_CAPITAL_I) continue;
    const known = table.get(lower);
    if (known) known.push(character);
    else table.set(lower, [character]);
  }
  return table;
}
