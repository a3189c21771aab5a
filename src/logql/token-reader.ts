import { LogqlError } from "./error.ts";
import { type Token, type TokenKind, tokensOf } from "./lexer.ts";

export const LOGQL_LIMITS = {
  /** UTF-16 units of a query. */
  length: 16_384,
  /** Nested parentheses, functions and operators. */
  depth: 64,
  /** Stages of one pipeline, and tests, labels or texts of one stage. */
  stages: 100,
  items: 500,
  /** Binary operators between metrics and numbers: `1+1+...` is a tree that is as deep as it is long. */
  operators: 200,
} as const;

/** Reads the tokens of a query one after the other. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;
  #operators = 0;

  /** @throws LogqlError */
  constructor(text: string) {
    if (text.length > LOGQL_LIMITS.length)
      throw new LogqlError(`a query has at most ${LOGQL_LIMITS.length} characters`, LOGQL_LIMITS.length);
    this.#tokens = tokensOf(text);
  }

  get token(): Token {
    return this.peek(0);
  }

  peek(distance: number): Token {
    const token = this.#tokens[Math.min(this.#at + distance, this.#tokens.length - 1)];
    if (token === undefined) throw new RangeError("The last token is the end.");
    return token;
  }

  next(): Token {
    const { token } = this;
    if (token.kind !== "end") this.#at++;
    return token;
  }

  is(kind: TokenKind, text?: string): boolean {
    const { token } = this;
    return token.kind === kind && (text === undefined || token.text === text);
  }

  isSymbol(...texts: string[]): boolean {
    const { token } = this;
    return token.kind === "symbol" && texts.includes(token.text);
  }

  /** Takes the next token if it is this one. */
  takes(kind: TokenKind, text: string): boolean {
    if (!this.is(kind, text)) return false;
    this.next();
    return true;
  }

  takesSymbol(text: string): boolean {
    return this.takes("symbol", text);
  }

  /** @throws LogqlError */
  expect(kind: TokenKind, text?: string): Token {
    if (!this.is(kind, text)) throw this.unexpected(text ?? NAMED[kind]);
    return this.next();
  }

  expectSymbol(text: string): Token {
    return this.expect("symbol", text);
  }

  unexpected(expected?: string): LogqlError {
    const { token } = this;
    const found = token.kind === "end" ? "end of query" : shown(token);
    const hint = expected === undefined ? "" : `, expecting ${expected}`;
    return new LogqlError(`syntax error: unexpected ${found}${hint}`, token.start);
  }

  /** Runs a part of the parser that may call itself. @throws LogqlError if it is nested too deeply */
  nested<T>(parse: () => T): T {
    if (this.#depth >= LOGQL_LIMITS.depth) throw new LogqlError("the query is nested too deeply", this.token.start);
    this.#depth++;
    const result = parse();
    this.#depth--;
    return result;
  }

  /** Counts a binary operator. @throws LogqlError if the query has too many */
  countOperator(): void {
    if (++this.#operators > LOGQL_LIMITS.operators) throw new LogqlError("too many operators", this.token.start);
  }
}

const NAMED: Readonly<Record<TokenKind, string>> = {
  name: "a name",
  string: "a string",
  number: "a number",
  unit: "a duration or a size",
  range: "a range such as [5m]",
  symbol: "an operator",
  flag: "a flag",
  end: "the end of the query",
};

/** Characters of a token in an error. */
const MAX_SHOWN = 40;

function shown({ kind, text }: Token): string {
  const short = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  if (kind === "string") return `string ${JSON.stringify(short)}`;
  return kind === "range" ? `range [${short}]` : short;
}

/** Returns the error of a part of LogQL that exists and is not supported. */
export function unsupported(what: string, position: number): LogqlError {
  return new LogqlError(`${what} is not supported`, position);
}
