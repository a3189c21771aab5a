import type { Entry } from "../entry.ts";
import type { DataCondition, LogFilter, Scalar } from "../query/filter.ts";
import { GramCollector, gramsOfNeedle, hashGram } from "./grams.ts";
import { HashSet64, TokenHasher } from "./hash.ts";

/**
 * Tokens: what an entry holds, as hashes. A segment's filter knows those of all its entries; a query names those that an
 * entry must have to pass. Each kind is in the filter as a whole or not at all.
 */
export const TOKEN_KIND = {
  /** session, traceId, spanId. */
  id: 1,
  /** A path of `data` that has a value, and one whose value is a given string. */
  text: 2,
  /** A path of `data` with a given number, boolean or null. */
  scalar: 4,
  /** Three letters, and four, that follow each other in the message or in a string of `data`. */
  three: 8,
  four: 16,
} as const;
export type TokenKind = (typeof TOKEN_KIND)[keyof typeof TOKEN_KIND];

export interface TokenHash {
  a: number;
  b: number;
}

/** An entry passes only if it has one of these tokens. */
export interface TokenTest {
  kind: TokenKind;
  anyOf: readonly TokenHash[];
}

const ID_SEED = 0x69640000;
const PATH_SEED = 0x70617468;
/** What stands behind a path: that there is something, or what. */
const MARK = { any: 1, string: 2, number: 3, boolean: 4, null: 5 } as const;

/** Tokens of one kind: those of the whole segment, and which frames have them. */
export class TokenSets {
  readonly all = new HashSet64();
  readonly inFrame = new HashSet64();
  /** Three numbers a pair of token and frame: both halves of the hash, and the frame's place. */
  readonly pairs: number[] = [];

  close(frame: number): void {
    this.inFrame.forEach((a, b) => {
      this.all.add(a, b);
      this.pairs.push(a, b, frame);
    });
    this.inFrame.clear();
  }
}

/** Collects the tokens of a segment's entries, frame by frame. */
export class TokenCollector {
  readonly #hasher = new TokenHasher();
  readonly #kinds = new Map<TokenKind, TokenSets>();
  readonly #ids = this.#newKind(TOKEN_KIND.id);
  readonly #texts = this.#newKind(TOKEN_KIND.text);
  readonly #scalars = this.#newKind(TOKEN_KIND.scalar);
  readonly #grams = new GramCollector(this.#newKind(TOKEN_KIND.three), this.#newKind(TOKEN_KIND.four), this.#hasher);
  #frame = 0;

  get kinds(): ReadonlyMap<TokenKind, TokenSets> {
    return this.#kinds;
  }

  add(entry: Entry): void {
    this.#id(0, entry.session);
    this.#id(1, entry.traceId);
    this.#id(2, entry.spanId);
    this.#grams.add(entry.message);
    if (entry.data !== undefined) this.#members(PATH_SEED, ~PATH_SEED, entry.data);
  }

  /** All entries of a frame have been added. */
  closeFrame(): void {
    for (const kind of this.#kinds.values()) kind.close(this.#frame);
    this.#grams.forget();
    this.#frame++;
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
      // An array's places are names like an object's.
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

  #newKind(kind: TokenKind): HashSet64 {
    const sets = new TokenSets();
    this.#kinds.set(kind, sets);
    return sets.inFrame;
  }
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function hashId(hasher: TokenHasher, member: number, id: string): TokenHasher {
  return hasher
    .reset(ID_SEED + member, member)
    .text(id)
    .finish();
}

/** @param hasher at a path @param value undefined: any */
function hashValue(hasher: TokenHasher, value: Scalar | undefined): TokenHasher {
  switch (typeof value) {
    case "undefined":
      return hasher.unit(MARK.any).finish();
    case "string":
      return hasher.unit(MARK.string).text(value).finish();
    case "number":
      // The shortest text that reads back as this number; 0 for -0, as they are equal.
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

/** Values of one `in` that are looked for; longer lists are not told by the filter. */
const MOST_ALTERNATIVES = 16;
/** Tests of one query: each further one makes the statement longer and tells less. */
const MOST_TESTS = 24;

/** What an entry must have to pass a filter, as far as tokens can tell. All tests hold together. */
export function tokenTestsOf(filter: LogFilter): TokenTest[] {
  const hasher = new TokenHasher();
  const hash = ({ a, b }: TokenHasher): TokenHash => ({ a, b });
  const tests: TokenTest[] = [];
  const wanted = [filter.session, filter.traceId];
  wanted.forEach((id, index) => {
    if (id !== null) tests.push({ kind: TOKEN_KIND.id, anyOf: [hash(hashId(hasher, index, id))] });
  });
  for (const condition of filter.data) tests.push(...dataTests(hasher, condition));
  if (filter.search !== null) {
    const { threes, fours } = gramsOfNeedle(filter.search);
    for (const gram of fours) tests.push({ kind: TOKEN_KIND.four, anyOf: [hash(hashGram(hasher, gram, 0, 4))] });
    for (const gram of threes) tests.push({ kind: TOKEN_KIND.three, anyOf: [hash(hashGram(hasher, gram, 0, 3))] });
  }
  return tests.slice(0, MOST_TESTS);
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

/** Null where the values are too many, or of both kinds. */
function valueTest(hasher: TokenHasher, path: readonly string[], values: readonly Scalar[]): TokenTest | null {
  const texts = values.filter((value) => typeof value === "string").length;
  if (values.length > MOST_ALTERNATIVES || (texts > 0 && texts < values.length)) return null;
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
