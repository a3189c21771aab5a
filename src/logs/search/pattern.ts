/**
 * Patterns of messages: the message with a mark in place of each part that varies. A pattern follows from the message alone,
 * so the same message has the same pattern at all times, and each entry has exactly one.
 */

/** Version of the rules below. Patterns of different versions are not comparable. */
export const PATTERN_VERSION = 1;

/** Characters of a message that a pattern is made of. The rest of a longer message is left out. */
const MAX_MESSAGE = 2000;

const HEX = "[0-9a-fA-F]";
const DATE = String.raw`\d{4}-\d\d-\d\d`;
const TIME = String.raw`\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`;

/** In place of a mark: the text does not vary. */
const KEPT = null;

/** Marks and what they replace, in order of precedence. Each alternative reads a bounded number of characters. */
const RULES: readonly [mark: string | null, pattern: string][] = [
  ["<STR>", String.raw`"(?:[^"\\]|\\.){0,200}"`],
  // An apostrophe within a word is no quote.
  ["<STR>", String.raw`(?<!\w)'(?:[^'\\]|\\.){0,200}'(?!\w)`],
  ["<DATETIME>", String.raw`(?<!\d)${DATE}[T ]${TIME}(?:Z|[+-]\d\d:?\d\d)?(?!\d)`],
  ["<DATE>", String.raw`(?<!\d)${DATE}(?!\d)`],
  ["<TIME>", String.raw`(?<!\d)${TIME}(?!\d)`],
  ["<UUID>", String.raw`(?<!\w)${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}(?!\w)`],
  ["<IP4>", String.raw`(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])`],
  ["<IP6>", String.raw`(?<![\w:])(?:${HEX}{1,4}:){3,7}(?::?${HEX}{1,4}){1,7}(?![\w:])`],
  // A part of a path with a digit, except a version: /v1/users/<*>/orders
  [KEPT, String.raw`\/v\d{1,3}(?![\w.~%-])`],
  ["/<*>", String.raw`\/(?=[\w.~%-]{0,200}\d)[\w.~%-]{1,200}`],
  ["<N>", String.raw`0[xX]${HEX}{1,200}(?!\w)`],
  ["<N>", String.raw`(?<!\w)(?=${HEX}{0,200}\d)(?=${HEX}{0,200}[a-fA-F])${HEX}{8,200}(?!\w)`],
  ["<N>", String.raw`\d{1,200}(?:\.\d{1,200}(?![\w.]))?`],
];

const VARIABLE = new RegExp(RULES.map(([, pattern]) => `(${pattern})`).join("|"), "gs");

/** Returns the pattern of a message. Takes time linear in its length. */
export function patternOf(message: string): string {
  const text = message.length > MAX_MESSAGE ? message.slice(0, MAX_MESSAGE) : message;
  return text.replace(VARIABLE, (found, ...groups: unknown[]) => {
    const rule = groups.findIndex((group) => group !== undefined);
    return RULES[rule]?.[0] ?? found;
  });
}

/** Work units of finding a pattern, of each character, and of each quote, which may begin 200 characters that are looked through. */
const PATTERN_WORK = 400;
const CHARACTER_WORK = 20;
const QUOTE_WORK = 300;

/** Returns the work units of `patternOf`. */
export function patternWorkOf(message: string): number {
  let quotes = 0;
  const length = Math.min(message.length, MAX_MESSAGE);
  for (let at = 0; at < length; at++) {
    const character = message[at];
    if (character === '"' || character === "'") quotes++;
  }
  return PATTERN_WORK + length * CHARACTER_WORK + quotes * QUOTE_WORK;
}

/** Every mark, with what may belong to it. */
const MARK = /\/?<[A-Z0-9*]+>/gi;

/** Returns the longest text that each message of a pattern has as it is, whatever the case; "" if there is none. */
export function constantPartOf(pattern: string): string {
  // The end of a long message may be half of a surrogate pair, which no stored text has.
  const parts = pattern.split(MARK).filter((part) => part.isWellFormed());
  return parts.reduce((best, part) => (part.length > best.length ? part : best), "");
}
