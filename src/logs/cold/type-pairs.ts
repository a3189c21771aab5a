import { categoryBit, LEVELS } from "../entry.ts";

/** A category with a type. */
export interface TypePair {
  category: string;
  type: string;
  categoryBit: number;
  /** By severity: what `Tally` has counted and not yet passed on. */
  counts: number[];
}

/** Where a line has both names: from the category's first character to behind the type's last one, in ASCII without escapes. */
export interface NameOffsets {
  from: number;
  /** Behind the category. */
  middle: number;
  /** Where the type begins. */
  type: number;
  to: number;
  /** Of the bytes from `from` to `to`. */
  hash: number;
}

/** A power of two. */
const CACHE_PLACES = 256;

/** The pairs of a segment: each is one object, found by its names or by the bytes of a line. */
export class TypePairs {
  readonly #pairs = new Map<string, Map<string, TypePair>>();
  /** What was found last under a hash. */
  readonly #cache: ({ pair: TypePair; bytes: Uint8Array } | null)[] = new Array(CACHE_PLACES).fill(null);

  of(category: string, type: string): TypePair {
    let types = this.#pairs.get(category);
    if (types === undefined) {
      types = new Map();
      this.#pairs.set(category, types);
    }
    let pair = types.get(type);
    if (pair === undefined) {
      pair = { category, type, categoryBit: categoryBit(category), counts: LEVELS.map(() => 0) };
      types.set(type, pair);
    }
    return pair;
  }

  at(bytes: Uint8Array, { from, middle, type, to, hash }: NameOffsets): TypePair {
    const place = hash & (CACHE_PLACES - 1);
    const cached = this.#cache[place];
    if (cached && isAt(cached.bytes, bytes, from, to)) return cached.pair;
    const whole = new Uint8Array(bytes.subarray(from, to));
    const names = Buffer.from(whole.buffer).toString("latin1");
    const pair = this.of(names.slice(0, middle - from), names.slice(type - from));
    this.#cache[place] = { pair, bytes: whole };
    return pair;
  }
}

function isAt(wanted: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (wanted.length !== to - from) return false;
  for (let at = 0; at < wanted.length; at++) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}
