import { LogqlError } from "./error.ts";
import { durationOf } from "./units.ts";

/** `unit`: a number with a unit, a duration or a size. `range`: `[5m]`, of which `text` is the duration. */
export type TokenKind = "name" | "string" | "number" | "unit" | "range" | "symbol" | "flag" | "end";

export interface Token {
  kind: TokenKind;
  /** Of a string its value, else as written. */
  text: string;
  /** UTF-16 offsets. */
  start: number;
  end: number;
}

/** Longer ones first. */
const SYMBOLS = [
  ...["|=", "|~", "|>", "!=", "!~", "!>", "=~", "==", ">=", "<="],
  ...["|", "=", ">", "<", "{", "}", "(", ")", ",", "+", "-", "*", "/", "%", "^"],
];
const SPACE = /[ \t\r\n]+|#[^\n]*/y;
const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*(?:\.[a-zA-Z0-9_]+)*/y;
const NUMBER = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const UNITS = /(?:[0-9.]+[a-zA-Z\u00b5\u03bc]+)+/y;
const FLAG = /--[a-z-]+/y;

/** Reads a text into tokens, of which the last one is the end. @throws LogqlError */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const read = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? null;
  };
  const add = (kind: TokenKind, length: number, value = text.slice(at, at + length)): void => {
    tokens.push({ kind, text: value, start: at, end: at + length });
    at += length;
  };
  while (at < text.length) {
    const space = read(SPACE);
    if (space !== null) {
      at += space.length;
      continue;
    }
    const first = text[at] ?? "";
    if (first === '"' || first === "`") {
      const { value, length } = stringAt(text, at);
      add("string", length, value);
    } else if (first === "[") {
      const end = text.indexOf("]", at);
      if (end < 0) throw new LogqlError("missing closing ']' in duration", at);
      const duration = text.slice(at + 1, end).trim();
      if (duration.includes(":")) throw new LogqlError("subqueries are not supported", at);
      const length = durationOf(duration, true);
      if (length === null || length <= 0) throw new LogqlError(`not a valid duration string: "${duration}"`, at);
      add("range", end + 1 - at, duration);
    } else if (/[0-9.]/.test(first)) {
      const units = read(UNITS);
      const number = read(NUMBER);
      // `1e3` is a number, `1m` is not.
      if (number !== null && number.length >= (units?.length ?? 0)) add("number", number.length);
      else if (units !== null) add("unit", units.length);
      else throw unexpected(text, at);
    } else {
      const name = read(NAME);
      const flag = first === "-" ? read(FLAG) : null;
      const symbol = SYMBOLS.find((each) => text.startsWith(each, at));
      if (name !== null) add("name", name.length);
      else if (flag !== null) add("flag", flag.length);
      else if (symbol !== undefined) add("symbol", symbol.length);
      else throw unexpected(text, at);
    }
  }
  add("end", 0);
  return tokens;
}

function unexpected(text: string, at: number): LogqlError {
  return new LogqlError(`syntax error: unexpected character '${String.fromCodePoint(text.codePointAt(at) ?? 0)}'`, at);
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", '"': '"', "'": "'" },
};
const CODE = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})/y;

/** Reads a string as Go writes it, between quotation marks or backquotes. */
function stringAt(text: string, start: number): { value: string; length: number } {
  const quote = text[start];
  if (quote === "`") {
    const end = text.indexOf("`", start + 1);
    if (end < 0) throw new LogqlError("raw string literal is not terminated", start);
    return { value: text.slice(start + 1, end).replaceAll("\r", ""), length: end + 1 - start };
  }
  let value = "";
  for (let at = start + 1; at < text.length; ) {
    const character = text[at] ?? "";
    if (character === '"') return { value, length: at + 1 - start };
    if (character === "\n") break;
    if (character !== "\\") {
      value += character;
      at++;
      continue;
    }
    const escaped = text[at + 1] ?? "";
    const plain = ESCAPES[escaped];
    if (plain !== undefined && escaped !== "'") {
      value += plain;
      at += 2;
      continue;
    }
    CODE.lastIndex = at + 1;
    const match = CODE.exec(text);
    const [whole = "", hex, short, long, octal] = match ?? [];
    const code = Number.parseInt(hex ?? short ?? long ?? octal ?? "", octal === undefined ? 16 : 8);
    if (match === null || code > 0x10ffff) throw new LogqlError("invalid char escape", at);
    value += String.fromCodePoint(code);
    at += 1 + whole.length;
  }
  throw new LogqlError("literal not terminated", start);
}
