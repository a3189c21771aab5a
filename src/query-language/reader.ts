import { SyntaxFault } from "./error.ts";
import { IDENTIFIER } from "./fields.ts";
import type { Field, Regex } from "./syntax.ts";
import type { TableColumn } from "./table-columns.ts";

/** What a piece of a query is, for its color. */
export type TokenKind = "field" | "operator" | "text" | "value" | "regex" | "keyword" | "function" | "pipe";

/** A piece of a query, from `start` to `end` in UTF-16 offsets. */
export interface Token {
  kind: TokenKind;
  start: number;
  end: number;
}

/** What may be written at a place of a query, for completion. */
export interface Place {
  /** `filter`: a field or a text. `key`: a field to group or sort by. */
  kind: "filter" | "value" | "key" | "pipe" | "function" | "keyword" | "number" | "duration" | "name";
  /** UTF-16 offset at which what is being written begins. */
  start: number;
  /** The field whose value is written. */
  field: Field | null;
  /** Columns of the table that the pipes before make; `null`: entries. */
  columns: readonly TableColumn[] | null;
  /** The words that are accepted, if they are few. */
  words: readonly string[];
}

const SPACE = /\s*/y;
const QUOTED = /"(?:[^"\\]|\\[\s\S])*"/y;
const REGEX = /~\/((?:[^/\\]|\\[\s\S])*)\//y;
const NAME = new RegExp(IDENTIFIER, "uy");
const INDEX = /\[(\d{1,9})\]/y;
const WORD = /[^\s()|"]+/y;
const PIPED_WORD = /[^\s()|",]+/y;
const CONTROL = /\p{Cc}/gu;

/** Reads a query from left to right. Records its tokens, and what was expected last. */
export class QueryReader {
  readonly text: string;
  readonly tokens: Token[] = [];
  at = 0;
  /** Whether a pipe has begun: then a comma ends a word. */
  isPiped = false;
  place: Place = { kind: "filter", start: 0, field: null, columns: null, words: [] };

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** The character at the position; an empty string at the end. */
  get next(): string {
    return this.text[this.at] ?? "";
  }

  skipSpace(): void {
    this.#match(SPACE);
  }

  /** States what may follow, for completion. */
  expect(
    kind: Place["kind"],
    columns: readonly TableColumn[] | null,
    field: Field | null = null,
    words: readonly string[] = [],
  ): void {
    this.place = { kind, start: this.at, field, columns, words };
  }

  startsWith(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  /** Reads a text if it is here. */
  take(text: string, kind: TokenKind): boolean {
    if (!this.startsWith(text)) return false;
    this.#record(kind, text.length);
    return true;
  }

  /** Reads a word of letters if it is here and ends here. */
  takeKeyword(word: string): boolean {
    return this.peekWord() === word && this.take(word, "keyword");
  }

  peekWord(): string {
    const at = this.at;
    const word = this.#match(this.isPiped ? PIPED_WORD : WORD)?.[0] ?? "";
    this.at = at;
    return word;
  }

  /** Reads up to white space, a parenthesis, a quote or `|`. @returns an empty string if there is no word */
  word(kind: TokenKind): string {
    const word = this.peekWord();
    if (word !== "") this.#record(kind, word.length);
    return word;
  }

  /** @returns `null` if there is no quote here */
  quoted(kind: TokenKind): string | null {
    if (this.next !== '"') return null;
    const start = this.at;
    const found = this.#match(QUOTED)?.[0];
    if (found === undefined) throw new SyntaxFault("The quote is not closed", start, ['"']);
    this.tokens.push({ kind, start, end: this.at });
    try {
      // White space and control characters stand for themselves.
      const escaped = found.replaceAll(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
      return String(JSON.parse(escaped));
    } catch {
      throw new SyntaxFault("The quote has an unknown escape", start, ["a string with the escapes of JSON"]);
    }
  }

  /** @returns `null` if there is no regular expression here */
  regex(): Regex | null {
    if (!this.startsWith("~/")) return null;
    const start = this.at;
    const found = this.#match(REGEX);
    if (found === null) throw new SyntaxFault("The regular expression is not closed", start, ["/"]);
    const ignoreCase = this.next === "i";
    if (ignoreCase) this.at++;
    if (/[\p{L}\p{N}_]/u.test(this.next)) {
      throw new SyntaxFault("The regular expression has an unknown flag: only `i` is accepted", this.at, [
        "i",
        "white space",
      ]);
    }
    this.tokens.push({ kind: "regex", start, end: this.at });
    const source = (found[1] ?? "").replaceAll(/\\[\s\S]/g, (pair) => (pair === "\\/" ? "/" : pair));
    return { kind: "regex", source, ignoreCase };
  }

  /** The position behind the names that `path` read last, be they a path or not. */
  pathEnd = 0;

  /** Reads names joined by dots. @returns `null`, without having read, if there is no path here */
  path(): (string | number)[] | null {
    const start = this.at;
    const tokens = this.tokens.length;
    const path: (string | number)[] = [];
    for (;;) {
      const name = this.next === '"' ? this.quoted("field") : this.#match(NAME)?.[0];
      if (name === undefined || name === null) break;
      path.push(name);
      for (let index = this.#match(INDEX); index !== null; index = this.#match(INDEX)) path.push(Number(index[1]));
      this.tokens.length = tokens;
      this.tokens.push({ kind: "field", start, end: this.at });
      this.pathEnd = this.at;
      if (this.next !== ".") return path;
      this.at++;
    }
    this.reset(start, tokens);
    return null;
  }

  /** Returns to an earlier position. */
  reset(at: number, tokens: number): void {
    this.at = at;
    this.tokens.length = tokens;
  }

  #record(kind: TokenKind, length: number): void {
    this.tokens.push({ kind, start: this.at, end: this.at + length });
    this.at += length;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at += found[0].length;
    return found;
  }
}

/** Limits of a query. */
export const QUERY_LIMITS = {
  /** Bytes of UTF-8. */
  bytes: 8192,
  /** Parentheses and negations within each other. */
  depth: 64,
  /** Tests of fields and texts; each value of a list counts. */
  atoms: 200,
} as const;

/** What the parts of a parser share. */
export interface ParserState {
  readonly reader: QueryReader;
  /** Columns of the table that the pipes before make; `null`: entries. */
  columns: readonly TableColumn[] | null;
  atoms: number;
  /** Names before this position are no field: the path that they belong to has no value behind it. */
  textUntil: number;
}
