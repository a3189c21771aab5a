import type { Entry } from "../../entry.ts";
import { type DataCondition, foldCase, type LogFilter, type Scalar } from "../../query/filter.ts";
import type { LineTokens } from "../scan/line-tokens.ts";
import { TokenHasher } from "./bloom.ts";
import { GramCollector, gramsOfNeedle, hashGram } from "./grams.ts";
import { TokenTable } from "./token-table.ts";

/**
 * Tokens: hashes of what an entry contains. A segment's filter holds the tokens of all its entries; a query names
 * tokens that an entry must have to pass. A filter holds all tokens of a kind or none.
 */
export const TOKEN_KIND = {
  /** session, traceId, spanId. */
  id: 1,
  /** A path of `data` that has a value, and a path with a given string. */
  text: 2,
  /** A path of `data` with a given number, boolean or null. */
  scalar: 4,
  /** Runs of three and of four letters in the message or in a string of `data`. Booleans have none here. */
  three: 8,
  four: 16,
} as const;
export type TokenKind = (typeof TOKEN_KIND)[keyof typeof TOKEN_KIND];

export interface TokenHash {
  a: number;
  b: number;
}

/** A condition: an entry passes only if it has one of these tokens. */
export interface TokenTest {
  kind: TokenKind;
  anyOf: readonly TokenHash[];
}

const ID_SEED = 0x69640000;
/** Initial state of the hashes for paths of `data`: this number and its complement. */
export const PATH_SEED = 0x70617468;
/** Follows a path in a hash: the path has any value, or a value of this type. */
export const MARK = { any: 1, string: 2, number: 3, boolean: 4, null: 5 } as const;

/** @param member 0 session, 1 traceId, 2 spanId */
export function hashId(hasher: TokenHasher, member: number, id: string): TokenHasher {
  return atId(hasher, member).text(id).finish();
}

/** Returns the hasher in the initial state for an id. */
export function atId(hasher: TokenHasher, member: number): TokenHasher {
  return hasher.reset(ID_SEED + member, member);
}

/**
 * @param hasher state after the path
 * @param value `undefined`: any value
 */
export function hashValue(hasher: TokenHasher, value: Scalar | undefined): TokenHasher {
  switch (typeof value) {
    case "undefined":
      return hasher.unit(MARK.any).finish();
    case "string":
      return hasher.unit(MARK.string).text(value).finish();
    case "number":
      // Hashes the shortest text that reads back as this number; "0" for -0, because the two are equal.
      return hasher.unit(MARK.number).text(String(value)).finish();
    case "boolean":
      return hasher
        .unit(MARK.boolean)
        .unit(value ? 1 : 0)
        .finish();
    default:
      return hasher.unit(MARK.null).finish();
  }
}

/** Maximum number of values of one `in` that are tested. Longer lists are not tested by the filter. */
const MAX_ALTERNATIVES = 16;
/** Maximum number of tests of one query. Each further test makes the statement longer and excludes less. */
const MAX_TESTS = 24;
/** Number of grams of a value of `data`. They exclude segments that the value's own token lets pass by chance. */
const VALUE_GRAMS = { threes: 2, fours: 2 };
/** Number of characters of a value whose grams are taken. A value may have 250,000 characters. */
const VALUE_CHARACTERS = 256;

/** Returns the conditions on tokens that an entry must meet to pass a filter. All tests must hold. */
export function tokenTestsOf(filter: LogFilter): TokenTest[] {
  const hasher = new TokenHasher();
  const hash = ({ a, b }: TokenHasher): TokenHash => ({ a, b });
  const tests: TokenTest[] = [];
  /** Weaker conditions, added last. */
  const further: TokenTest[] = [];
  const wanted = [filter.session, filter.traceId];
  wanted.forEach((id, index) => {
    if (id !== null) tests.push({ kind: TOKEN_KIND.id, anyOf: [hash(hashId(hasher, index, id))] });
  });
  for (const condition of filter.data) {
    tests.push(...dataTests(hasher, condition));
    if (condition.op === "eq") further.push(...equalityTests(hasher, condition.path, condition.value));
  }
  if (filter.search !== null && !isInBoolean(filter.search)) tests.push(...gramTests(hasher, filter.search));
  return [...tests, ...further].slice(0, MAX_TESTS);
}

/**
 * Whether `search` may find a boolean by this text. Filters hold only the grams of strings, so those grams decide
 * nothing then. No number has two consecutive letters, so a text with a gram occurs in no number.
 */
function isInBoolean(needle: string): boolean {
  return "true".includes(needle) || "false".includes(needle);
}

/** @param needle in lower case */
function gramTests(hasher: TokenHasher, needle: string, max?: typeof VALUE_GRAMS): TokenTest[] {
  const { threes, fours } = gramsOfNeedle(needle, max);
  const test = (kind: TokenKind, gram: string): TokenTest => {
    const { a, b } = hashGram(hasher, gram, 0, gram.length);
    return { kind, anyOf: [{ a, b }] };
  };
  return [...fours.map((gram) => test(TOKEN_KIND.four, gram)), ...threes.map((gram) => test(TOKEN_KIND.three, gram))];
}

/** Tests the path with its value, and the grams of the value: two rare coincidences seldom occur together. */
function equalityTests(hasher: TokenHasher, path: readonly string[], value: Scalar): TokenTest[] {
  const grams = typeof value === "string" ? gramTests(hasher, foldCase(beginningOf(value)), VALUE_GRAMS) : [];
  return [anyTest(hasher, path), ...grams];
}

/** Ends between two characters, because half of a character may be lowered in another way than the whole. */
function beginningOf(value: string): string {
  const cut = value.slice(0, VALUE_CHARACTERS);
  return cut.length < value.length && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

function dataTests(hasher: TokenHasher, condition: DataCondition): TokenTest[] {
  switch (condition.op) {
    case "eq":
      return [valueTest(hasher, condition.path, [condition.value])].filter((test) => test !== null);
    case "in": {
      const test = valueTest(hasher, condition.path, condition.value);
      return test === null ? [anyTest(hasher, condition.path)] : [test];
    }
    case "ne":
      return [];
    case "exists":
      return condition.value ? [anyTest(hasher, condition.path)] : [];
    default:
      return [anyTest(hasher, condition.path)];
  }
}

function anyTest(hasher: TokenHasher, path: readonly string[]): TokenTest {
  const { a, b } = hashValue(atPath(hasher, path), undefined);
  return { kind: TOKEN_KIND.text, anyOf: [{ a, b }] };
}

/** Returns `null` if there are too many values, or values of both kinds. */
function valueTest(hasher: TokenHasher, path: readonly string[], values: readonly Scalar[]): TokenTest | null {
  const texts = values.filter((value) => typeof value === "string").length;
  if (values.length > MAX_ALTERNATIVES || (texts > 0 && texts < values.length)) return null;
  const anyOf = values.map((value) => {
    const { a, b } = hashValue(atPath(hasher, path), value);
    return { a, b };
  });
  return { kind: texts > 0 ? TOKEN_KIND.text : TOKEN_KIND.scalar, anyOf };
}

function atPath(hasher: TokenHasher, path: readonly string[]): TokenHasher {
  hasher.reset(PATH_SEED, ~PATH_SEED);
  for (const name of path) hasher.text(name);
  return hasher;
}

/** Collects the tokens of a segment's entries, block by block. */
export class TokenCollector {
  readonly #hasher = new TokenHasher();
  readonly #ids: TokenTable;
  readonly #texts: TokenTable;
  readonly #scalars: TokenTable;
  readonly #threes: TokenTable;
  readonly #fours: TokenTable;
  readonly #grams: GramCollector;
  readonly kinds: ReadonlyMap<TokenKind, TokenTable>;

  /** @param table makes the table of a kind */
  constructor(table: () => TokenTable = () => new TokenTable()) {
    [this.#ids, this.#texts, this.#scalars, this.#threes, this.#fours] = [table(), table(), table(), table(), table()];
    this.#grams = new GramCollector(this.#threes, this.#fours, this.#hasher);
    this.kinds = new Map<TokenKind, TokenTable>([
      [TOKEN_KIND.id, this.#ids],
      [TOKEN_KIND.text, this.#texts],
      [TOKEN_KIND.scalar, this.#scalars],
      [TOKEN_KIND.three, this.#threes],
      [TOKEN_KIND.four, this.#fours],
    ]);
  }

  /** Adds the tokens of an entry, member by member. */
  add(entry: Entry): void {
    this.#id(0, entry.session);
    this.#id(1, entry.traceId);
    this.#id(2, entry.spanId);
    this.#grams.add(entry.message);
    if (entry.data !== undefined) this.addData(entry.data);
  }

  /** Adds the tokens of members of `data`. */
  addData(members: object): void {
    this.#members(PATH_SEED, ~PATH_SEED, members);
  }

  /** Adds the tokens of a line that were found in its bytes. */
  addLine(tokens: LineTokens, line: Uint8Array): void {
    addAll(this.#ids, tokens.ids);
    addAll(this.#texts, tokens.texts);
    addAll(this.#scalars, tokens.scalars);
    this.#addGrams(tokens.plain, line);
    this.#addGrams(tokens.unescaped, tokens.scratch);
    for (const text of tokens.decoded) this.#grams.add(text);
  }

  /** Closes the block, after all its entries were added. */
  closeBlock(): void {
    for (const table of this.kinds.values()) table.closeBlock();
    this.#grams.forget();
  }

  #addGrams(ranges: LineTokens["plain"], bytes: Uint8Array): void {
    for (let at = 0; at < ranges.length; at += 2) this.#grams.addAscii(bytes, ranges.at(at), ranges.at(at + 1));
  }

  #id(member: number, id: string | undefined): void {
    if (id === undefined) return;
    const { a, b } = hashId(this.#hasher, member, id);
    this.#ids.add(a, b);
  }

  #members(pathA: number, pathB: number, record: object): void {
    for (const [name, value] of Object.entries(record)) this.#member(pathA, pathB, name, value);
  }

  #member(pathA: number, pathB: number, name: string, value: unknown): void {
    const path = this.#hasher.reset(pathA, pathB).text(name);
    const { a, b } = path;
    const any = hashValue(path, undefined);
    this.#texts.add(any.a, any.b);
    if (typeof value === "object" && value !== null) {
      // Array indices are names, like those of an object.
      this.#members(a, b, value);
      return;
    }
    if (!isScalar(value)) return;
    const token = hashValue(this.#hasher.reset(a, b), value);
    if (typeof value !== "string") {
      this.#scalars.add(token.a, token.b);
      return;
    }
    this.#texts.add(token.a, token.b);
    this.#grams.add(value);
  }
}

function addAll(table: TokenTable, hashes: LineTokens["ids"]): void {
  for (let at = 0; at < hashes.length; at += 2) table.add(hashes.at(at), hashes.at(at + 1));
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
