/**
 * Case-insensitive search in stored lines without decoding or lower-casing them.
 *
 * A stored line is UTF-8 JSON, read as Latin-1: one character a byte. A needle becomes a regular expression over these
 * bytes, in which each character stands for every character that `foldCase` turns into it. So what it finds is never
 * less than what `foldCase(value).includes(needle)` finds, and sometimes more (a member name, a level).
 */

/** "I" with a dot above is the one character whose lower case is two: "i" and a combining dot. */
const DOTTED_CAPITAL_I = "\u0130";
const COMBINING_DOT = "\u0307";
/** Half of a surrogate pair, which a needle may end in: four bytes of UTF-8, or the escape that JSON writes alone ones as. */
const ANY_SURROGATE = "(?:\\\\ud[89a-f][0-9a-f]{2}|[\\xf0-\\xf4][\\x80-\\xbf]{3})";
/** The end of the last Unicode block with letters that have a case. */
const CASED_END = 0x20000;

/** The other character outside ASCII whose lower case is in it. */
const KELVIN_SIGN = "\u212a";

/**
 * A global pattern that matches, in the bytes of a stored line, every place a string that contains `needle` can be at.
 * No alternative in it begins another, so it never tries a place in two ways: a hostile needle costs its length, not more.
 *
 * @param needle folded, not empty
 */
export function bytePattern(needle: string): RegExp {
  const characters = [...needle];
  return new RegExp(characters.map((character, at) => bytesOf(character, characters, at)).join(""), "g");
}

/** Characters of a needle that a pattern is made of: hostile text costs the product of its length and this. */
const WINDOW = 12;
/** Of a needle that repeats itself: at least so many, and so many for each that is different. */
const LEAST_WINDOW = 3;
const REPETITIONS = 2;

/**
 * The part of a needle that stored lines are tested for before they are parsed: what contains the needle contains it.
 * The most different characters tell most; of equals the last, as identifiers end in what sets them apart.
 */
export function tellingPart(needle: string): string {
  const characters = [...needle];
  const part = mostDifferent(characters, WINDOW);
  const different = new Set(part).size;
  // What repeats itself nearly matches at each place of a text that does, too: then a short part costs less and tells as much.
  return mostDifferent(part, Math.max(LEAST_WINDOW, REPETITIONS * different)).join("");
}

function mostDifferent(characters: readonly string[], window: number): string[] {
  let best = 0;
  let most = 0;
  for (let at = 0; at === 0 || at + window <= characters.length; at++) {
    const different = new Set(characters.slice(at, at + window)).size;
    if (different < most) continue;
    most = different;
    best = at;
  }
  return characters.slice(best, best + window);
}

/** Text as the bytes of its UTF-8, one character each. */
export function toByteString(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function bytesOf(character: string, needle: readonly string[], at: number): string {
  if (character.length === 1 && !character.isWellFormed()) return ANY_SURROGATE;
  if (character === "i") return letterI(needle[at + 1]);
  if (character === COMBINING_DOT && at === 0) return oneOf([COMBINING_DOT, DOTTED_CAPITAL_I]);
  // The dot behind an "i" has been dealt with together with it.
  if (character === COMBINING_DOT && needle[at - 1] === "i") return "";
  return oneOf(variantsOf(character));
}

/** "i" and what comes behind it: only a dot, or nothing, can be the rest of the dotted capital. */
function letterI(next: string | undefined): string {
  if (next === COMBINING_DOT) return oneOf([`i${COMBINING_DOT}`, `I${COMBINING_DOT}`, DOTTED_CAPITAL_I]);
  return oneOf(next === undefined ? ["i", "I", DOTTED_CAPITAL_I] : ["i", "I"]);
}

/** Every character whose lower case is this one; itself first. */
function variantsOf(character: string): string[] {
  if (character >= "\u0080") return [character, ...(upperCases().get(character) ?? [])];
  if (character === "k") return ["k", "K", KELVIN_SIGN];
  const upper = character.toUpperCase();
  return upper === character ? [character] : [character, upper];
}

function oneOf(texts: readonly string[]): string {
  if (texts.length === 1) return texts.map(literal).join("");
  // Letters of one byte as a class: each of several alternatives would be tried again where what follows does not match.
  const letters = texts.filter(isLetter);
  const others = texts.filter((text) => !isLetter(text)).map(literal);
  if (letters.length === 0) return `(?:${others.join("|")})`;
  const letter = `[${letters.join("")}]`;
  return others.length === 0 ? letter : `(?:${[letter, ...others].join("|")})`;
}

/** Whether a text is one ASCII letter, which no class or escape gives another meaning. */
function isLetter(text: string): boolean {
  return /^[a-z]$/i.test(text);
}

/** Text as it stands in JSON, as a pattern of its bytes. */
function literal(text: string): string {
  const bytes = toByteString(JSON.stringify(text).slice(1, -1));
  return bytes.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

let upperCaseTable: Map<string, string[]> | undefined;

/** Lower case to upper cases, outside ASCII. Made at the first search that needs it; a few milliseconds. */
function upperCases(): Map<string, string[]> {
  upperCaseTable ??= invertLowerCase();
  return upperCaseTable;
}

function invertLowerCase(): Map<string, string[]> {
  // Folded, sigma has one small form.
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
