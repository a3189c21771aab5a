import type { HashSet64, TokenHasher } from "./hash.ts";

/**
 * Grams: runs of three and of four letters, by which a segment that cannot hold a searched text is told. A letter is "a"
 * to "z" or any code unit outside ASCII. Digits are left out: random numbers and hexadecimal ids would fill every filter
 * with grams that every needle of their kind has. What stays of an id are its letters, of which hexadecimal has only 216
 * threes and 1,296 fours.
 *
 * Whether a gram counts depends on itself alone, and text is lowered as `search` lowers it, in UTF-16 code units. So each
 * gram of a needle is a gram of every text that contains the needle, in any script.
 */

const A = 97;
const LETTERS = 26;
const ASCII_END = 0x80;
const THREES = LETTERS ** 3;
const FOURS = LETTERS ** 4;

/** Grams of a needle that are looked for: its first ones tell as much as all of them do together. */
const NEEDLE_FOURS = 6;
const NEEDLE_THREES = 2;

function isLetter(unit: number): boolean {
  return unit >= ASCII_END || (unit >= A && unit < A + LETTERS);
}

/** Collects the grams of many texts. */
export class GramCollector {
  readonly #threes: HashSet64;
  readonly #fours: HashSet64;
  readonly #hasher: TokenHasher;
  /** ASCII grams that have been added, by their place in the alphabet's order: most of a text has been seen before. */
  readonly #seenThrees = new Uint8Array(THREES);
  readonly #seenFours = new Uint8Array(FOURS);

  constructor(threes: HashSet64, fours: HashSet64, hasher: TokenHasher) {
    this.#threes = threes;
    this.#fours = fours;
    this.#hasher = hasher;
  }

  add(text: string): void {
    const lower = text.toLowerCase();
    let run = 0;
    let asciiRun = 0;
    let place = 0;
    for (let at = 0; at < lower.length; at++) {
      const unit = lower.charCodeAt(at);
      if (!isLetter(unit)) {
        run = 0;
        asciiRun = 0;
        continue;
      }
      run++;
      if (unit < ASCII_END) {
        asciiRun++;
        place = (place * LETTERS + unit - A) % FOURS;
      } else asciiRun = 0;
      if (run >= 3 && !isSeen(this.#seenThrees, asciiRun >= 3 ? place % THREES : -1)) {
        const { a, b } = hashGram(this.#hasher, lower, at - 2, 3);
        this.#threes.add(a, b);
      }
      if (run >= 4 && !isSeen(this.#seenFours, asciiRun >= 4 ? place : -1)) {
        const { a, b } = hashGram(this.#hasher, lower, at - 3, 4);
        this.#fours.add(a, b);
      }
    }
  }
}

function isSeen(seen: Uint8Array, place: number): boolean {
  if (place < 0) return false;
  if (seen[place] === 1) return true;
  seen[place] = 1;
  return false;
}

/** The grams that every text with this needle has: at most a few of each length, spread over the needle. */
export function gramsOfNeedle(needle: string): { threes: string[]; fours: string[] } {
  return { threes: spreadOver(gramsOf(needle, 3), NEEDLE_THREES), fours: spreadOver(gramsOf(needle, 4), NEEDLE_FOURS) };
}

/** Different grams of a length in a text in lower case. */
function gramsOf(lower: string, length: number): string[] {
  const grams = new Set<string>();
  let run = 0;
  for (let at = 0; at < lower.length; at++) {
    run = isLetter(lower.charCodeAt(at)) ? run + 1 : 0;
    if (run >= length) grams.add(lower.slice(at + 1 - length, at + 1));
  }
  return [...grams];
}

function spreadOver<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]).filter(
    (item) => item !== undefined,
  );
}

/** @returns the hasher itself, finished */
export function hashGram(hasher: TokenHasher, text: string, from: number, length: number): TokenHasher {
  hasher.reset(GRAM_SEED, length);
  for (let at = from; at < from + length; at++) hasher.unit(text.charCodeAt(at));
  return hasher.finish();
}

const GRAM_SEED = 0x6772616d;
