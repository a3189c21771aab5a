import { TokenHasher } from "./bloom.ts";
import type { TokenTable } from "./token-table.ts";

/**
 * Grams: runs of three or four letters, by which a segment that cannot contain a searched text is skipped. A letter is
 * "a" to "z" or any code unit outside ASCII. Digits are left out, because random numbers and hexadecimal ids would fill
 * every filter with grams that every needle of their kind has. Of an id only the letters remain; hexadecimal has only
 * 216 runs of three and 1,296 of four.
 *
 * Whether a gram counts depends on the gram only, and text is lowered as `search` lowers it, in UTF-16 code units. So
 * each gram of a needle is a gram of every text that contains the needle, in any script.
 */

/** Sigma as it is in a folded needle. */
const SIGMA = "\u03c3";

const A = 97;
const LETTERS = 26;
const ASCII_END = 0x80;
const LETTER_BITS = 5;
const LETTER_MASK = (1 << LETTER_BITS) - 1;
const THREE_MASK = (1 << (3 * LETTER_BITS)) - 1;
const FOUR_MASK = (1 << (4 * LETTER_BITS)) - 1;

/** Maximum number of a needle's grams that are tested: a few tell as much as all. */
const NEEDLE_FOURS = 6;
const NEEDLE_THREES = 2;

function isLetter(unit: number): boolean {
  return unit >= ASCII_END || (unit >= A && unit < A + LETTERS);
}

/** Marks a byte that is not a letter; other bytes have their index in the alphabet, lowered. */
const NO_LETTER = 255;
const LETTER_OF_BYTE = new Uint8Array(256).fill(NO_LETTER);
for (let letter = 0; letter < LETTERS; letter++) {
  LETTER_OF_BYTE[A + letter] = letter;
  LETTER_OF_BYTE[A - 32 + letter] = letter;
}

/**
 * The round in which an ASCII gram was last added, by its letters: most of a text's grams have occurred before. All
 * collectors share one pair of tables, because allocating two megabytes costs more than a small segment; each collector
 * takes rounds of its own.
 */
const seenThrees = new Uint16Array(THREE_MASK + 1);
const seenFours = new Uint16Array(FOUR_MASK + 1);
const LAST_ROUND = 0xffff;
let lastRound = 0;

function newRound(): number {
  if (lastRound === LAST_ROUND) {
    seenThrees.fill(0);
    seenFours.fill(0);
    lastRound = 0;
  }
  return ++lastRound;
}

/** Collects the grams of many texts. A collector must finish before 65,535 others have begun. */
export class GramCollector {
  readonly #threes: TokenTable;
  readonly #fours: TokenTable;
  readonly #hasher = new TokenHasher();
  readonly #round = newRound();

  constructor(threes: TokenTable, fours: TokenTable) {
    this.#threes = threes;
    this.#fours = fours;
  }

  add(text: string): void {
    const lower = text.toLowerCase();
    const round = this.#round;
    /** The consecutive letters before this one, and how many of them are ASCII. */
    let run = 0;
    let asciiRun = 0;
    let gram = 0;
    for (let at = 0; at < lower.length; at++) {
      const unit = lower.charCodeAt(at);
      if (unit < ASCII_END) {
        if (unit < A || unit >= A + LETTERS) {
          run = 0;
          asciiRun = 0;
          continue;
        }
        run++;
        asciiRun++;
        gram = ((gram << LETTER_BITS) | (unit - A)) & FOUR_MASK;
        if (asciiRun >= 4) {
          // If these four letters were added, their last three were added, too.
          if (seenFours[gram] === round) continue;
          seenFours[gram] = round;
        }
      } else {
        run++;
        asciiRun = 0;
      }
      if (run < 3) continue;
      if (run >= 4) this.#addGram(this.#fours, lower, at - 3, 4);
      if (asciiRun >= 3) {
        const three = gram & THREE_MASK;
        if (seenThrees[three] === round) continue;
        seenThrees[three] = round;
      }
      this.#addGram(this.#threes, lower, at - 2, 3);
    }
  }

  /** Like `add`, for a text in ASCII bytes. */
  addAscii(bytes: Uint8Array, from: number, to: number): void {
    const round = this.#round;
    let run = 0;
    let gram = 0;
    for (let at = from; at < to; at++) {
      const letter = LETTER_OF_BYTE[bytes[at] ?? 0] ?? NO_LETTER;
      if (letter === NO_LETTER) {
        run = 0;
        continue;
      }
      run++;
      gram = ((gram << LETTER_BITS) | letter) & FOUR_MASK;
      if (run < 3) continue;
      if (run >= 4) {
        if (seenFours[gram] === round) continue;
        seenFours[gram] = round;
        this.#addPackedGram(this.#fours, gram, 4);
      }
      const three = gram & THREE_MASK;
      if (seenThrees[three] === round) continue;
      seenThrees[three] = round;
      this.#addPackedGram(this.#threes, three, 3);
    }
  }

  #addPackedGram(set: TokenTable, gram: number, length: number): void {
    const hasher = this.#hasher.reset(GRAM_SEED, length);
    for (let shift = (length - 1) * LETTER_BITS; shift >= 0; shift -= LETTER_BITS) {
      hasher.unit(A + ((gram >>> shift) & LETTER_MASK));
    }
    const { a, b } = hasher.finish();
    set.add(a, b);
  }

  #addGram(set: TokenTable, lower: string, from: number, length: number): void {
    const { a, b } = hashGram(this.#hasher, lower, from, length);
    set.add(a, b);
  }
}

/**
 * Returns grams that every text with this needle has: at most a few of each length, spread over the needle. None of
 * them has a sigma, because a text may have either of its lower case forms.
 */
export function gramsOfNeedle(
  needle: string,
  most = { threes: NEEDLE_THREES, fours: NEEDLE_FOURS },
): { threes: string[]; fours: string[] } {
  return { threes: spreadOver(gramsOf(needle, 3), most.threes), fours: spreadOver(gramsOf(needle, 4), most.fours) };
}

/** Returns the different grams of a length in a lower case text. */
function gramsOf(lower: string, length: number): string[] {
  const grams = new Set<string>();
  let run = 0;
  for (let at = 0; at < lower.length; at++) {
    run = isLetter(lower.charCodeAt(at)) ? run + 1 : 0;
    if (run >= length) grams.add(lower.slice(at + 1 - length, at + 1));
  }
  return [...grams].filter((gram) => !gram.includes(SIGMA));
}

function spreadOver<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]).filter(
    (item) => item !== undefined,
  );
}

/** @returns the given hasher, finished */
export function hashGram(hasher: TokenHasher, text: string, from: number, length: number): TokenHasher {
  hasher.reset(GRAM_SEED, length);
  for (let at = from; at < from + length; at++) hasher.unit(text.charCodeAt(at));
  return hasher.finish();
}

const GRAM_SEED = 0x6772616d;
