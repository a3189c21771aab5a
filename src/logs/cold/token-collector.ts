import type { Entry } from "../entry.ts";
import type { Scalar } from "../query/filter.ts";
import { GramCollector } from "./grams.ts";
import { TokenHasher } from "./hash.ts";
import type { LineTokens } from "./line-tokens.ts";
import { TokenTable } from "./token-table.ts";
import { hashId, hashValue, PATH_SEED, TOKEN_KIND, type TokenKind } from "./tokens.ts";

/** Collects the tokens of a segment's entries, frame by frame. */
export class TokenCollector {
  readonly #hasher = new TokenHasher();
  readonly #ids = new TokenTable();
  readonly #texts = new TokenTable();
  readonly #scalars = new TokenTable();
  readonly #threes = new TokenTable();
  readonly #fours = new TokenTable();
  readonly #grams = new GramCollector(this.#threes, this.#fours, this.#hasher);
  readonly kinds: ReadonlyMap<TokenKind, TokenTable> = new Map<TokenKind, TokenTable>([
    [TOKEN_KIND.id, this.#ids],
    [TOKEN_KIND.text, this.#texts],
    [TOKEN_KIND.scalar, this.#scalars],
    [TOKEN_KIND.three, this.#threes],
    [TOKEN_KIND.four, this.#fours],
  ]);

  /** What an entry says, member by member. */
  add(entry: Entry): void {
    this.#id(0, entry.session);
    this.#id(1, entry.traceId);
    this.#id(2, entry.spanId);
    this.#grams.add(entry.message);
    if (entry.data !== undefined) this.#members(PATH_SEED, ~PATH_SEED, entry.data);
  }

  /** The same of a line whose tokens have been found in its bytes. */
  addLine(tokens: LineTokens, line: Uint8Array): void {
    addAll(this.#ids, tokens.ids);
    addAll(this.#texts, tokens.texts);
    addAll(this.#scalars, tokens.scalars);
    this.#addGrams(tokens.plain, line);
    this.#addGrams(tokens.unescaped, tokens.scratch);
    for (const text of tokens.decoded) this.#grams.add(text);
  }

  /** All entries of a frame have been added. */
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
}

function addAll(table: TokenTable, hashes: LineTokens["ids"]): void {
  for (let at = 0; at < hashes.length; at += 2) table.add(hashes.at(at), hashes.at(at + 1));
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
