import { printField } from "./fields.ts";
import { type Analysis, analyze } from "./parse.ts";
import type { Field, Pipe } from "./syntax.ts";
import {
  always,
  type Found,
  ifNothing,
  type Piece,
  REGEX,
  regexHint,
  shown,
  spacedRegex,
  textHint,
} from "./text-hints.ts";
import { isAlike, isOrdered, parseDuration, parseTime } from "./values.ts";

/** What a query that is accepted probably does not do as its author intends. Changes nothing of its meaning. */
export interface Hint {
  /** What the text means, then how the likely meaning is written. */
  message: string;
  /** UTF-16 offset in the query. */
  position: number;
  /** Whether the text is usual, so that the hint is of use only if nothing matched. */
  ifNothing: boolean;
  /** What is written in place of the word at `position`, which is as long; absent if there is more than one likely meaning. */
  correction?: string;
}

/** Hints of one query. */
const MAX_HINTS = 5;
const NUMBERS = /^-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)+$/;

/** A value, and how its field is written. */
interface Tested {
  value: Piece;
  name: string;
  /** The text between the colon and the value. */
  operator: string;
  isNegated: boolean;
}

/**
 * Returns hints on a text that is a query, in the order of their places, at most 5. Of several alike only the first.
 * @param analysis of the query, if there is one already
 */
export function hintsOf(query: string, analysis: Analysis = analyze(query)): Hint[] {
  const hints: Hint[] = [];
  let field: { name: Piece; colon: Piece } | null = null;
  let until = 0;
  const pipes = pipeHints(analysis);
  for (const piece of piecesOf(query, analysis)) {
    const ofPipe = piece.kind === "pipe" ? (pipes.shift() ?? null) : null;
    if (piece.start < until) continue;
    if (piece.kind === "field") field = testedBy(piece);
    else if (piece.kind === "text" || piece.kind === "pipe") field = null;
    const found =
      piece.kind === "pipe" ? ofPipe : piece.kind === "text" ? textHint(query, piece) : valueHint(query, piece, field);
    if (found === null || hints.some(({ message }) => message === found.message)) continue;
    const { message, ifNothing, correction } = found;
    until = found.until ?? until;
    hints.push({ message, position: piece.start, ifNothing, ...(correction === undefined ? {} : { correction }) });
    if (hints.length === MAX_HINTS) break;
  }
  return hints;
}

/** Returns what is to be said of each pipe. */
function pipeHints({ result }: Analysis): (Found | null)[] {
  if (!result.ok) return [];
  const { pipes } = result.query;
  let isInOrder = false;
  let isTable = false;
  return pipes.map((pipe, at) => {
    switch (pipe.kind) {
      case "limit": {
        const next = pipes.slice(at + 1).find(({ kind }) => kind !== "where" && kind !== "context");
        return isInOrder || next?.kind !== "sort" || isTime(next.by) ? null : limitHint(pipe.limit, next, isTable);
      }
      case "where":
      case "context":
        return null;
      case "fields":
        isTable = true;
        return null;
      case "sort":
        isInOrder = true;
        return null;
      default:
        isTable = true;
        isInOrder = pipe.kind !== "count" && pipe.kind !== "stats";
        return null;
    }
  });
}

function isTime(field: Field): boolean {
  return field.kind === "column"
    ? /^(?:time|timestamp)$/.test(field.name)
    : field.kind === "own" && field.name === "time";
}

/** `limit 10 | sort ms desc`. */
function limitHint(limit: number, { by, order }: Extract<Pipe, { kind: "sort" }>, isTable: boolean): Found {
  const rows = isTable ? `the first ${limit} rows` : `the newest ${limit} entries`;
  const sort = `sort ${shown(printField(by))}${order === "desc" ? " desc" : ""}`;
  return always(
    `\`limit ${limit}\` before \`sort\` leaves only ${rows} to sort. To sort all: \`${sort} | limit ${limit}\`.`,
  );
}

function piecesOf(query: string, { result, tokens }: Analysis): Piece[] {
  if (!result.ok) return [];
  const pieces: Piece[] = [];
  for (const token of tokens) {
    const before: Piece | null = pieces.at(-1) ?? null;
    const piece: Piece = { ...token, text: query.slice(token.start, token.end), before, after: null };
    if (before !== null) before.after = piece;
    pieces.push(piece);
  }
  return pieces;
}

function testedBy(name: Piece): { name: Piece; colon: Piece } | null {
  const colon = name.after;
  return colon?.text === ":" && colon.start === name.end ? { name, colon } : null;
}

function valueHint(query: string, piece: Piece, field: { name: Piece; colon: Piece } | null): Found | null {
  if (field === null || piece.kind !== "value") return null;
  const { name, colon } = field;
  const negation = name.before?.text;
  const tested: Tested = {
    value: piece,
    name: name.text,
    operator: query.slice(colon.end, piece.start),
    isNegated: negation === "-" || negation === "NOT",
  };
  return (
    agoHint(tested) ??
    textAfterOr(tested) ??
    boundsHint(tested) ??
    namedHint(tested) ??
    (piece.text.startsWith('"') ? null : wordHint(query, tested)) ??
    wholeHint(tested)
  );
}

const TIMES: readonly string[] = ["time", "timestamp", "received", "receivedAt"];

function agoHint({ value, name, operator, isNegated }: Tested): Found | null {
  if (!TIMES.includes(name) || isNegated || !operator.startsWith("<") || parseDuration(value.text) === null)
    return null;
  const written = `${name}:${operator}${value.text}`;
  return always(
    `\`${written}\` finds entries older than ${value.text}. \`${name}:${value.text}\` is the last ${value.text}.`,
  );
}

function wordHint(query: string, tested: Tested): Found | null {
  const { value, name, operator } = tested;
  const { text } = value;
  const written = shown(`${name}:${text}`);
  const compares = `\`${written}\` compares the whole value.`;
  const [, hundreds] = /^([1-5])xx$/i.exec(text) ?? [];
  if (hundreds !== undefined) {
    return always(`${compares} A range is written \`${name}:${hundreds}00..${hundreds}99\`.`);
  }
  const [, low = "", high = ""] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  if (high !== "" && Number(low) < Number(high))
    return ifNothing(`${compares} A range is written \`${name}:${low}..${high}\`.`);
  if (operator.endsWith("=")) return text.startsWith("~") ? always(`${compares} ${REGEX}`) : null;
  if (/^!./.test(text)) return always(`${compares} A negation is written \`-${shown(`${name}:${text.slice(1)}`)}\`.`);
  const [, from = "", to = ""] = /^([^.]{1,40}(?:\.\d+)?)\.{3,}([^.].{0,40})$/.exec(text) ?? [];
  if (isOrdered(from) && isOrdered(to)) return always(`${compares} A range is written \`${name}:${from}..${to}\`.`);
  if (/^[[{]/.test(text)) return listHint(query, value, name);
  if (NUMBERS.test(text)) {
    return ifNothing(`${compares} A list is written \`${shown(`${name}:(${text.split(",").join(" OR ")})`)}\`.`);
  }
  if (/^'./.test(text)) return always(`${compares} A text is quoted by \`"\`: \`${name}:"..."\`.`);
  const regex = regexHint(text) ?? spacedRegex(query, value, name);
  if (regex === null) return spacedValue(tested);
  // Messages do not begin with a path as often as members do.
  return name === "message" || /^~[\p{L}"]/u.test(text) ? always(regex.message) : regex;
}

/** `route:POST /orders`. After a level, a number or a method a path is usual. */
function spacedValue({ value: { text, after }, name }: Tested): Found | null {
  const isUsual = isOrdered(text) || TIMES.includes(name) || /method$/i.test(name);
  if (isUsual || after?.kind !== "text" || !/^[/&+#]./.test(after.text)) return null;
  const words = [text, after.text];
  const value = words.join("").includes("*") ? words.join("*") : JSON.stringify(words.join(" "));
  return ifNothing(`White space ends a value. With it the value is written \`${shown(`${name}:${value}`)}\`.`);
}

/** `level:warn OR error`. */
function textAfterOr({ value, name, operator }: Tested): Found | null {
  const texts: string[] = [];
  for (let or = value.after; or?.text === "OR" && or.after?.kind === "text"; or = or.after.after) {
    if (or.after.text === value.text || !isAlike(or.after.text, value.text)) break;
    texts.push(or.after.text);
  }
  const [text] = texts;
  if (text === undefined) return null;
  const test = shown(`${name}:(${[operator + value.text, ...texts].join(" OR ")})`);
  return always(`\`${shown(text)}\` is searched for as text. Values of one field are written \`${test}\`.`);
}

/** `ms:>100 AND <200`, `ms:100 TO 200`. */
function boundsHint({ value, name, operator }: Tested): Found | null {
  const and = value.after?.text === "AND" ? value.after.after : value.after;
  if (/^[<>]=?$/.test(operator) && and?.kind === "text" && /^[<>]=?-?\d/.test(and.text)) {
    const test = shown(`${name}:${and.text}`);
    return always(`\`${shown(and.text)}\` is searched for as text. Each test names its field: \`${test}\`.`, and.end);
  }
  const to = value.after?.text === "TO" ? value.after.after : null;
  if (to?.kind !== "text" || !isOrdered(value.text) || !isOrdered(to.text)) return null;
  return always(`\`TO\` is searched for as text. A range is written \`${name}:${value.text}..${to.text}\`.`, to.end);
}

const EXISTING: ReadonlySet<string> = new Set(["_exists_", "exists", "has"]);
const MISSING: ReadonlySet<string> = new Set(["_missing_", "missing"]);
const FOREIGN_TIMES: ReadonlySet<string> = new Set(["_time", "@timestamp"]);

/** `_exists_:route`, `route:null`, `_time:5m`. */
function namedHint({ value: { text }, name, operator, isNegated }: Tested): Found | null {
  const written = `\`${shown(`${name}:${text}`)}\``;
  const member = `${written} tests the member \`${name}\`.`;
  if (EXISTING.has(name) || MISSING.has(name)) {
    const isMissing = MISSING.has(name) !== isNegated;
    const test = shown(`${isMissing ? "-" : ""}${text}:*`);
    return ifNothing(`${member} Entries ${isMissing ? "without" : "with"} a field are found by \`${test}\`.`);
  }
  if (FOREIGN_TIMES.has(name) && (parseDuration(text) !== null || parseTime(text) !== null))
    return ifNothing(`${member} The time of entries is \`time:${operator}${text}\`.`);
  if (!/^(?:null|nil|none|undefined)$/i.test(text) || operator !== "") return null;
  return ifNothing(`${written} finds this text. Entries without the field are found by \`-${name}:*\`.`);
}

/** `[a,b]` of other languages, and the ranges `[1 TO 5]` of Lucene. */
function listHint(query: string, value: Piece, name: string): Found | null {
  const [written = "", list = ""] = /^[[{]([^[\]{}|]*)[\]}]/.exec(query.slice(value.start)) ?? [];
  const range = /^(\S+) TO (\S+)$/.exec(list.trim());
  const compared = `\`${shown(`${name}:${value.text}`)}\` compares the whole value.`;
  if (range !== null) {
    const [, from = "", to = ""] = range;
    const [, ago] = /^now-(\w+)$/.exec(from) ?? [];
    const test = ago
      ? `time:${ago}`
      : to === "*"
        ? `${name}:${from === "*" ? "*" : `>=${from}`}`
        : `${name}:${from === "*" ? "<=" : `${from}..`}${to}`;
    const what = test.endsWith(":*") ? "That there is a value" : "A range";
    return always(`${compared} ${what} is written \`${shown(test)}\`.`, value.start + written.length);
  }
  const items = list.split(",").map((item) => item.trim());
  if (written === "" || items.includes("")) return null;
  if (items.length === 1) return null;
  return always(`${compared} A list is written \`${shown(`${name}:(${items.join(" OR ")})`)}\`.`);
}

function wholeHint({ value, name, operator }: Tested): Found | null {
  if (name !== "message" || operator !== "" || value.text.includes("*")) return null;
  const { text } = value;
  const isQuoted = text.startsWith('"');
  const part = isQuoted ? `\`${shown(text)}\`` : `\`message:*${shown(text)}*\` or \`${shown(text)}\``;
  return ifNothing(`\`message:${shown(text)}\` compares the whole message. ${part} finds a part.`);
}
