import { type Entry, OWN_MEMBERS } from "../../entry.ts";
import type { Scalar } from "../../query/filter.ts";
import { foldCase } from "../../query/fold-case.ts";
import { TokenHasher } from "./bloom.ts";
import { GramCollector } from "./grams.ts";
import { TokenTable } from "./token-table.ts";

/**
 * Tokens: hashes of what an entry contains. A segment's filter holds the tokens of all its entries; a query names
 * tokens that an entry must have to pass (`token-tests.ts`). A filter holds all tokens of a kind or none.
 *
 * A path of `data` is the names joined by dots, without indices of arrays, as the query language finds values: `items.id`
 * is the path of a value in `{"items":[{"id":7}]}` and in `{"items.id":7}`. Texts are folded, and a number or boolean is
 * its text.
 */
export const TOKEN_KIND = {
  /** Runs of three and of four letters in the message or in a string of `data`. Booleans have none here. */
  three: 8,
  four: 16,
  /** session, traceId, spanId, each folded. */
  foldedId: 64,
  /** A path of `data` that has a value, and a path with a given string, folded. */
  foldedText: 128,
  /** A path of `data` with a given number, boolean or null. */
  foldedScalar: 256,
  /** No tokens: the runs of the filter are also those of the names of members of `data`. */
  names: 512,
} as const;
export type TokenKind = (typeof TOKEN_KIND)[keyof typeof TOKEN_KIND];

/**
 * Kinds of the filters of earlier versions. Their tokens have texts as they are, other marks for other types, and indices of
 * arrays as names. 32 is `ALL_SLOTS`.
 */
export const EXACT_KIND = { id: 1, text: 2, scalar: 4 } as const;
export type ExactKind = (typeof EXACT_KIND)[keyof typeof EXACT_KIND];

export interface TokenHash {
  a: number;
  b: number;
}

const ID_SEED = 0x69640000;
/** Initial state of the hashes for paths of `data`: this number and its complement. */
export const PATH_SEED = 0x70617468;
const DOT = 46;
/** Follows a path in a hash, and is no code unit: the path has any value, the value of this text, or null. */
export const MARK = { any: 0x20001, value: 0x20002, null: 0x20003 } as const;

/** Returns the hasher in the initial state for an id. @param member 0 session, 1 traceId, 2 spanId */
export function atId(hasher: TokenHasher, member: number): TokenHasher {
  return hasher.reset(ID_SEED + member, member);
}

/** @param id folded, unless for a filter of an earlier version */
export function hashId(hasher: TokenHasher, member: number, id: string): TokenHasher {
  return atId(hasher, member).text(id).finish();
}

/** Returns the hasher in the state for members of `data` itself. */
export function atData(hasher: TokenHasher): TokenHasher {
  return hasher.reset(PATH_SEED, ~PATH_SEED);
}

/** Returns the hasher in the state for a path. */
export function atPath(hasher: TokenHasher, names: readonly string[]): TokenHasher {
  atData(hasher);
  for (const [index, name] of names.entries()) atMember(hasher, name, index > 0);
  return hasher;
}

/**
 * Returns the hasher in the state for a value of an own member, which has the tokens of a member of `data`: queries find both
 * by one path.
 */
export function atOwnValue(hasher: TokenHasher, member: number): TokenHasher {
  return atPath(hasher, [OWN_MEMBERS[member] ?? ""]).unit(MARK.value);
}

/** Adds a name to the path of its object. @param isNested whether the object is not `data` itself */
export function atMember(hasher: TokenHasher, name: string, isNested: boolean): TokenHasher {
  return (isNested ? hasher.unit(DOT) : hasher).units(name);
}

/**
 * @param hasher state after the path
 * @param value a text, folded; `null`; `undefined`: any value
 */
export function hashValue(hasher: TokenHasher, value: string | null | undefined): TokenHasher {
  if (value === undefined) return hasher.unit(MARK.any).finish();
  if (value === null) return hasher.unit(MARK.null).finish();
  return hasher.unit(MARK.value).text(value).finish();
}

/** Marks of filters of earlier versions. */
const EXACT_MARK = { any: 1, string: 2, number: 3, boolean: 4, null: 5 } as const;

/**
 * Returns the token of a path and its value for filters of earlier versions.
 * @param names of the path; the index of an item is a name
 * @param value `undefined`: any value
 */
export function hashExactValue(hasher: TokenHasher, names: readonly string[], value: Scalar | undefined): TokenHasher {
  atData(hasher);
  for (const name of names) hasher.text(name);
  switch (typeof value) {
    case "undefined":
      return hasher.unit(EXACT_MARK.any).finish();
    case "string":
      return hasher.unit(EXACT_MARK.string).text(value).finish();
    case "number":
      // Hashes the shortest text that reads back as this number; "0" for -0, because the two are equal.
      return hasher.unit(EXACT_MARK.number).text(String(value)).finish();
    case "boolean":
      return hasher
        .unit(EXACT_MARK.boolean)
        .unit(value ? 1 : 0)
        .finish();
    default:
      return hasher.unit(EXACT_MARK.null).finish();
  }
}

/** Collects the tokens of a segment's entries. */
export class TokenCollector {
  readonly ids: TokenTable;
  readonly texts: TokenTable;
  readonly scalars: TokenTable;
  readonly grams: GramCollector;
  readonly kinds: ReadonlyMap<TokenKind, TokenTable>;
  readonly #hasher = new TokenHasher();

  /** @param table makes the table of a kind */
  constructor(table: () => TokenTable = () => new TokenTable()) {
    const [threes, fours] = [table(), table()];
    [this.ids, this.texts, this.scalars] = [table(), table(), table()];
    this.grams = new GramCollector(threes, fours);
    this.kinds = new Map<TokenKind, TokenTable>([
      [TOKEN_KIND.three, threes],
      [TOKEN_KIND.four, fours],
      [TOKEN_KIND.foldedId, this.ids],
      [TOKEN_KIND.foldedText, this.texts],
      [TOKEN_KIND.foldedScalar, this.scalars],
    ]);
  }

  /** Adds the tokens of an entry, member by member. */
  add(entry: Entry): void {
    this.#id(0, entry.session);
    this.#id(1, entry.traceId);
    this.#id(2, entry.spanId);
    this.grams.add(entry.message);
    const { a, b } = atData(this.#hasher);
    for (const name of OWN_MEMBERS) if (entry[name] !== undefined) this.#member(a, b, name, entry[name], false);
    if (entry.data !== undefined) this.addData(entry.data);
  }

  /** Adds the tokens of members of `data`. */
  addData(members: object): void {
    const { a, b } = atData(this.#hasher);
    this.#members(a, b, members, false);
  }

  /** Frees its memory. */
  release(): void {
    for (const table of this.kinds.values()) table.release();
  }

  #id(member: number, id: string | undefined): void {
    if (id === undefined) return;
    const { a, b } = hashId(this.#hasher, member, foldCase(id));
    this.ids.add(a, b);
  }

  #members(pathA: number, pathB: number, record: object, isNested: boolean): void {
    for (const [name, value] of Object.entries(record)) {
      this.grams.add(name);
      this.#member(pathA, pathB, name, value, isNested);
    }
  }

  #member(pathA: number, pathB: number, name: string, value: unknown, isNested: boolean): void {
    const { a, b } = atMember(this.#hasher.reset(pathA, pathB), name, isNested);
    const any = hashValue(this.#hasher, undefined);
    this.texts.add(any.a, any.b);
    this.addValue(a, b, value);
  }

  /** Adds the tokens of a value. @param pathA,pathB hash of its path, see `atPath` */
  addValue(pathA: number, pathB: number, value: unknown): void {
    // An item of an array has the array's path.
    if (Array.isArray(value)) for (const item of value) this.addValue(pathA, pathB, item);
    else if (typeof value === "object" && value !== null) this.#members(pathA, pathB, value, true);
    else if (typeof value === "string") {
      const { a, b } = hashValue(this.#hasher.reset(pathA, pathB), foldCase(value));
      this.texts.add(a, b);
      this.grams.add(value);
    } else if (value === null || typeof value === "number" || typeof value === "boolean") {
      const { a, b } = hashValue(this.#hasher.reset(pathA, pathB), value === null ? null : String(value));
      this.scalars.add(a, b);
    }
  }
}
