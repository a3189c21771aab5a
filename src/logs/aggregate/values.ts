import type { HeldBytes } from "./by-group.ts";

/** Returns a text that keeps no larger one in memory; `null` if it is not JSON. */
export type Copy = (text: string) => string | null;

/** Different values that `values` lists for one group. */
export const LISTED_VALUES = 100;
const LIST_BYTES = 80;
const VALUE_BYTES = 32;

/** Type ranks by the first character of a JSON text; a minus or digit is a number. */
const TYPE_RANKS: Readonly<Record<string, number>> = { f: 0, t: 0, '"': 2, "[": 3, "{": 3, n: 4 };
const NUMBER_RANK = 1;
const TEXT_RANK = 2;

/**
 * Compares JSON texts: booleans, numbers, strings, arrays and objects, null. Numbers compare by value, the others by
 * their bytes.
 */
export function compareTexts(a: string, b: string): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === NUMBER_RANK) return Number(a) - Number(b);
  // Without the closing quote, so that a string comes before its continuations.
  const [textA, textB] = rankA === TEXT_RANK ? [a.slice(0, -1), b.slice(0, -1)] : [a, b];
  return textA < textB ? -1 : textA > textB ? 1 : 0;
}

function rankOf(text: string): number {
  return TYPE_RANKS[text[0] ?? ""] ?? NUMBER_RANK;
}

export type ValuesState = (readonly [group: number, texts: readonly string[], isCut: boolean])[];

interface ValueList {
  /** JSON texts in order. */
  texts: string[];
  /** Whether the group has further values. */
  isCut: boolean;
}

/** The different values of one field by group, the first hundred by order. */
export class Values {
  readonly #held: HeldBytes;
  readonly #lists = new Map<number, ValueList>();

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** @param text JSON; copied if it is kept */
  add(group: number, text: string, copy: Copy): void {
    let list = this.#lists.get(group);
    if (list === undefined) {
      list = { texts: [], isCut: false };
      this.#lists.set(group, list);
      this.#held.add(LIST_BYTES);
    }
    const { texts } = list;
    const at = positionOf(texts, text);
    if (texts[at] === text) return;
    if (texts.length === LISTED_VALUES) {
      list.isCut = true;
      if (at === LISTED_VALUES) return;
    }
    const own = copy(text);
    if (own === null) return;
    texts.splice(at, 0, own);
    this.#held.add(own.length + VALUE_BYTES);
    if (texts.length > LISTED_VALUES) this.#held.add(-(texts.pop()?.length ?? 0) - VALUE_BYTES);
  }

  textsOf(group: number): readonly string[] {
    return this.#lists.get(group)?.texts ?? [];
  }

  isCut(group: number): boolean {
    return this.#lists.get(group)?.isCut ?? false;
  }

  merge(state: ValuesState, own: Int32Array): void {
    for (const [other, texts, isCut] of state) {
      const group = own[other] ?? 0;
      for (const text of texts) this.add(group, text, same);
      const list = this.#lists.get(group);
      if (list && isCut) list.isCut = true;
    }
  }

  state(): ValuesState {
    return [...this.#lists].map(([group, { texts, isCut }]) => [group, [...texts], isCut]);
  }
}

function same(text: string): string {
  return text;
}

/** Returns the index of the first text that is not before another. */
function positionOf(texts: readonly string[], text: string): number {
  let low = 0;
  let high = texts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTexts(texts[middle] ?? "", text) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
