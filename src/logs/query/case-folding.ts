/**
 * Case-insensitive search in stored lines without decoding or lower-casing them.
 *
 * A stored line is UTF-8 JSON, read as Latin-1: one character a byte. A needle becomes a regular expression over these
 * bytes, in which each character stands for every character that `foldCase` maps to it. The pattern matches every line
 * that `foldCase(value).includes(needle)` matches, and sometimes more (a member name, a level).
 */

/** "I" with a dot above is the only character whose lower case has two characters: "i" and a combining dot. */
const DOTTED_CAPITAL_I = "\u0130";
const COMBINING_DOT = "\u0307";
/**
 * Half of a surrogate pair at the end of a needle: four bytes of UTF-8, or the escape that JSON writes for a lone one.
 */
const ANY_SURROGATE = "(?:\\\\ud[89a-f][0-9a-f]{2}|[\\xf0-\\xf4][\\x80-\\xbf]{3})";
/** The end of the last Unicode block with letters that have a case. */
const CASED_END = 0x20000;

/** The other character outside ASCII whose lower case is in ASCII. */
const KELVIN_SIGN = "\u212a";

/**
 * Returns a global pattern that matches, in the bytes of a stored line, every place where a string with `needle` can
 * be. No alternative in it is a prefix of another, so the pattern never tries a place twice: a hostile needle costs at
 * most its length.
 *
 * @param needle folded, not empty
 * @param written a text as it is in the bytes: escaped as in JSON or, with `toByteString`, as it is
 */
export function bytePattern(needle: string, written = jsonBytes): RegExp {
  const characters = [...needle];
  return new RegExp(characters.map((character, at) => bytesOf(character, characters, at, written)).join(""), "g");
}

/** Maximum characters of a needle in a pattern. Hostile text costs the product of its length and this number. */
const WINDOW = 12;
/** For a repetitive needle: minimum length of the pattern, and characters for each distinct one. */
const MIN_WINDOW = 3;
const REPETITIONS = 2;

/**
 * Returns the part of a needle for which stored lines are tested before parsing. Every line with the needle has the
 * part. Prefers the part with the most distinct characters, then the last one, because identifiers differ at their
 * ends.
 */
export function tellingPart(needle: string): string {
  const characters = [...needle];
  const part = mostDifferent(characters, WINDOW);
  const different = new Set(part).size;
  // A repetitive needle nearly matches everywhere in a repetitive text. A short part costs less and excludes as much.
  return mostDifferent(part, Math.max(MIN_WINDOW, REPETITIONS * different)).join("");
}

function mostDifferent(characters: readonly string[], window: number): string[] {
  let best = 0;
  let highest = 0;
  for (let at = 0; at === 0 || at + window <= characters.length; at++) {
    const different = new Set(characters.slice(at, at + window)).size;
    if (different < highest) continue;
    highest = different;
    best = at;
  }
  return characters.slice(best, best + window);
}

/** Characters of a text up to which a test for ASCII takes less than the two calls of the runtime. */
const TESTED_CHARACTERS = 256;
const WIDE = /[\u0080-\uffff]/;

/** Returns a text as the bytes of its UTF-8, one character each. ASCII is unchanged. */
export function toByteString(text: string): string {
  if (text.length <= TESTED_CHARACTERS && !WIDE.test(text)) return text;
  return Buffer.from(text, "utf8").toString("latin1");
}

function bytesOf(character: string, needle: readonly string[], at: number, written: typeof jsonBytes): string {
  if (character.length === 1 && !character.isWellFormed()) return ANY_SURROGATE;
  if (character === "i") return letterI(needle[at + 1], written);
  if (character === COMBINING_DOT && at === 0) return oneOf([COMBINING_DOT, DOTTED_CAPITAL_I], written);
  // The dot after an "i" was handled together with the "i".
  if (character === COMBINING_DOT && needle[at - 1] === "i") return "";
  return oneOf(variantsOf(character), written);
}

/** Returns the pattern of "i". Only a dot, or nothing, can be the rest of the dotted capital. */
function letterI(next: string | undefined, written: typeof jsonBytes): string {
  if (next === COMBINING_DOT) return oneOf([`i${COMBINING_DOT}`, `I${COMBINING_DOT}`, DOTTED_CAPITAL_I], written);
  return oneOf(next === undefined ? ["i", "I", DOTTED_CAPITAL_I] : ["i", "I"], written);
}

/** Returns every character whose lower case is the given one, which comes first. */
function variantsOf(character: string): string[] {
  if (character >= "\u0080") return [character, ...(upperCases().get(character) ?? [])];
  if (character === "k") return ["k", "K", KELVIN_SIGN];
  const upper = character.toUpperCase();
  return upper === character ? [character] : [character, upper];
}

function oneOf(texts: readonly string[], written: typeof jsonBytes): string {
  const literal = (text: string) => escaped(written(text));
  if (texts.length === 1) return texts.map(literal).join("");
  // Writes one-byte letters as a class. The engine would try each of several alternatives if the rest does not match.
  const letters = texts.filter(isLetter);
  const others = texts.filter((text) => !isLetter(text)).map(literal);
  if (letters.length === 0) return `(?:${others.join("|")})`;
  const letter = `[${letters.join("")}]`;
  return others.length === 0 ? letter : `(?:${[letter, ...others].join("|")})`;
}

/** Whether a text is one ASCII letter, which has no special meaning in a class or after an escape. */
function isLetter(text: string): boolean {
  return /^[a-z]$/i.test(text);
}

/** Returns the bytes of a text as JSON writes it. */
function jsonBytes(text: string): string {
  return toByteString(JSON.stringify(text).slice(1, -1));
}

/** Returns a pattern that matches exactly the given bytes. */
function escaped(bytes: string): string {
  return bytes.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

let upperCaseTable: Map<string, string[]> | undefined;

/** Returns the upper cases of each lower case character outside ASCII. Built in a few milliseconds at the first use. */
function upperCases(): Map<string, string[]> {
  upperCaseTable ??= invertLowerCase();
  return upperCaseTable;
}

function invertLowerCase(): Map<string, string[]> {
  // Folded text has only one lower case sigma.
  const table = new Map([["σ", ["ς"]]]);
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
