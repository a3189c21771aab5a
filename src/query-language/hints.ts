import { type Analysis, analyze } from "./parse.ts";
import type { Token } from "./reader.ts";
import { isAlike, isOrdered, parseDuration, parseLevel, parseNumber, parseTime } from "./values.ts";

/** What a query that is accepted probably does not do as its author intends. Changes nothing of its meaning. */
export interface Hint {
  /** What the text means, then how the likely meaning is written. */
  message: string;
  /** UTF-16 offset in the query. */
  position: number;
  /** Whether the text is usual, so that the hint is of use only if nothing matched. */
  ifNothing: boolean;
}

/** Hints of one query. */
const MAX_HINTS = 5;
/** Characters of a piece of the query that a hint repeats. */
const MAX_SHOWN = 60;

const COMPARISON = /^([\p{L}_@$][\p{L}\p{N}_@$.-]*)(<=|>=|==|!=|=|<|>)(.*)$/u;
/** What regular expressions have, and paths such as `/api/[id]/` lack. */
const REGEX_SIGNS = /^\/\^|\$\/i?$|\\[dwsb.]|\.[*+?]|\[\^|\[\w-\w|[\])][*+?{]|\w\{\d/;
const NUMBERS = /^-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?)+$/;
/** A regular expression of other languages, up to its second slash. */
const SPACED_REGEX = /^\/[^/|"]+\/i?(?=[\s)]|$)/;
/** Characters in which the second slash is searched for. */
const MAX_REGEX = 200;
const REGEX = "A regular expression is written `~/.../`.";

/** A token with its text and the tokens beside it. */
interface Piece extends Token {
  text: string;
  before: Piece | null;
  after: Piece | null;
}

/** A value, and how its field is written. */
interface Tested {
  value: Piece;
  name: string;
  /** The text between the colon and the value. */
  operator: string;
  isNegated: boolean;
}

type Found = Omit<Hint, "position"> | null;

/**
 * Returns hints on a text that is a query, in the order of their places, at most 5. Of several alike only the first.
 * @param analysis of the query, if there is one already
 */
export function hintsOf(query: string, analysis: Analysis = analyze(query)): Hint[] {
  const hints: Hint[] = [];
  let field: { name: Piece; colon: Piece } | null = null;
  for (const piece of piecesOf(query, analysis)) {
    if (piece.kind === "field") field = testedBy(piece);
    else if (piece.kind === "text" || piece.kind === "pipe") field = null;
    const found = piece.kind === "text" ? textHint(query, piece) : valueHint(query, piece, field);
    if (found === null || hints.some(({ message }) => message === found.message)) continue;
    hints.push({ ...found, position: piece.start });
    if (hints.length === MAX_HINTS) break;
  }
  return hints;
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

function textHint(query: string, piece: Piece): Found {
  const { text } = piece;
  if (text.startsWith('"')) return null;
  return (
    afterRegex(piece) ??
    operatorHint(piece) ??
    comparisonHint(piece) ??
    regexHint(text) ??
    spacedRegex(query, piece, "") ??
    (/^![\p{L}_"(]/u.test(text) ? textNegation(text) : null) ??
    singleQuotes(piece)
  );
}

function always(message: string): Found {
  return { message, ifNothing: false };
}

function ifNothing(message: string): Found {
  return { message, ifNothing: true };
}

/** Words of prose stay without a hint: `user not found`. */
function operatorHint({ text, before, after }: Piece): Found {
  if (text !== "and" && text !== "or" && text !== "not") return null;
  const isAfterTest = before !== null && before.kind !== "keyword" && before.kind !== "pipe" && !isOpening(before);
  const isBeforeTest = after !== null && after.text !== ")" && after.text !== "|";
  const isStructured = after?.kind === "field" || after?.text === "(" || after?.text.startsWith('"') === true;
  const isOperator =
    text === "not"
      ? isStructured || (isBeforeTest && /^(?:and|or)$/.test(before?.kind === "text" ? before.text : ""))
      : isAfterTest && isBeforeTest;
  return isOperator
    ? always(`\`${text}\` is searched for as a word. The operator is \`${text.toUpperCase()}\`.`)
    : null;
}

function isOpening({ kind, text }: Piece): boolean {
  return kind === "operator" && (text === "(" || text === "|");
}

function comparisonHint(piece: Piece): Found {
  const { text, before, after } = piece;
  if (/^(?:<=|>=|==|!=|=|<|>)$/.test(text)) {
    const isComparison = before?.kind === "text" && /^[\p{L}_@$][\p{L}\p{N}_@$.-]*$/u.test(before.text);
    return isComparison && after?.kind === "text"
      ? comparison(`${before.text} ${text} ${after.text}`, before.text, text, after.text)
      : null;
  }
  const [, name = "", operator = "", rest = ""] = COMPARISON.exec(text) ?? [];
  if (name === "" || name.endsWith("-")) return null;
  const quoted = rest === "" && after?.start === piece.end && after.text.startsWith('"') ? after.text : "";
  if (/^~./.test(rest)) return always(`\`${shown(text)}\` is searched for as text. ${REGEX}`);
  return comparison(text + quoted, name, operator, rest + quoted);
}

function comparison(written: string, name: string, operator: string, value: string): Found {
  const isOrder = operator.startsWith("<") || operator.startsWith(">");
  // `List<String>`, `a=>b` and the padding of Base64 are texts.
  if (value === "" || /^[=<>]/.test(value)) return null;
  const hasOrder = parseNumber(value) !== null || parseLevel(value) !== null || parseTime(value) !== null;
  if (isOrder && !hasOrder) return null;
  const test = `${operator === "!=" ? "-" : ""}${name}:${isOrder ? operator : ""}${value}`;
  return always(`\`${shown(written)}\` is searched for as text. A field is tested by \`${shown(test)}\`.`);
}

function regexHint(text: string): Found {
  if (/^\/.+\/i?$/.test(text)) {
    return REGEX_SIGNS.test(text)
      ? always(`\`${shown(text)}\` is taken as it is written. ${REGEX}`)
      : ifNothing(`\`${shown(text)}\` is taken as it is written. ${REGEX}`);
  }
  // `~1.2` is a version, `~user` a folder.
  return /^~\p{L}/u.test(text) ? ifNothing(`\`${shown(text)}\` is taken as it is written. ${REGEX}`) : null;
}

/** `message:/re d$/`: white space ends a word, so that the slashes are in different words. */
function spacedRegex(query: string, { text, start }: Piece, name: string): Found {
  if (!/^\/[^/]*$/.test(text)) return null;
  const [written = ""] = SPACED_REGEX.exec(query.slice(start, start + MAX_REGEX)) ?? [];
  if (written === "" || !/\s/.test(written)) return null;
  const isRegex = name === "message" || REGEX_SIGNS.test(written);
  const test = `${name === "" ? "" : `${name}:`}~${written}`;
  return isRegex
    ? always(`\`${shown(written)}\` is taken as words. A regular expression is written \`${shown(test)}\`.`)
    : null;
}

/** `~/in \d+ ms/$`. */
function afterRegex({ text, start, before }: Piece): Found {
  if (before?.kind !== "regex" || before.end !== start) return null;
  const [, source = "", end = ""] = /^(.*)(\/i?)$/s.exec(before.text) ?? [];
  const rest = text.replace(/\/i?$/, "").replaceAll("/", "\\/");
  return always(
    `\`${shown(text)}\` after the closing \`/\` is searched for as text. Within the expression it is written \`${shown(source + rest + end)}\`.`,
  );
}

function textNegation(text: string): Found {
  const message = `\`${shown(text)}\` is searched for as text. A negation is written \`-${shown(text.slice(1))}\`.`;
  return text.includes(":") ? always(message) : ifNothing(message);
}

/** A message may have single quotes, as in `reading 'id'`. */
function singleQuotes(first: Piece): Found {
  if (!/^'./.test(first.text)) return null;
  let last: Piece | null = first;
  const words: string[] = [];
  for (; last !== null && last.kind === "text"; last = last.after) {
    words.push(last.text);
    if (last.text.endsWith("'")) {
      const phrase = JSON.stringify(words.join(" ").slice(1, -1));
      return ifNothing(`Single quotes are searched for as they are. A phrase is written \`${shown(phrase)}\`.`);
    }
  }
  return null;
}

function valueHint(query: string, piece: Piece, field: { name: Piece; colon: Piece } | null): Found {
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
    (piece.text.startsWith('"') ? null : wordHint(query, tested)) ??
    wholeHint(tested)
  );
}

const TIMES: readonly string[] = ["time", "timestamp", "received", "receivedAt"];

function agoHint({ value, name, operator, isNegated }: Tested): Found {
  if (!TIMES.includes(name) || isNegated || !operator.startsWith("<") || parseDuration(value.text) === null)
    return null;
  const written = `${name}:${operator}${value.text}`;
  return always(
    `\`${written}\` finds entries older than ${value.text}. \`${name}:${value.text}\` is the last ${value.text}.`,
  );
}

function wordHint(query: string, tested: Tested): Found {
  const { value, name, operator } = tested;
  const { text } = value;
  const written = shown(`${name}:${text}`);
  const compares = `\`${written}\` compares the whole value.`;
  const [, hundreds] = /^([1-5])xx$/i.exec(text) ?? [];
  if (hundreds !== undefined) {
    return always(`${compares} A range is written \`${name}:${hundreds}00..${hundreds}99\`.`);
  }
  if (operator.endsWith("=")) return text.startsWith("~") ? always(`${compares} ${REGEX}`) : null;
  if (/^!./.test(text)) return always(`${compares} A negation is written \`-${shown(`${name}:${text.slice(1)}`)}\`.`);
  const [, from = "", to = ""] = /^([^.]{1,40}(?:\.\d+)?)\.{3,}([^.].{0,40})$/.exec(text) ?? [];
  if (isOrdered(from) && isOrdered(to)) return always(`${compares} A range is written \`${name}:${from}..${to}\`.`);
  if (text.startsWith("[")) return listHint(query, value, name);
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
function spacedValue({ value: { text, after }, name }: Tested): Found {
  const isUsual = isOrdered(text) || TIMES.includes(name) || /method$/i.test(name);
  if (isUsual || after?.kind !== "text" || !/^[/&+#]./.test(after.text)) return null;
  const words = [text, after.text];
  const value = words.join("").includes("*") ? words.join("*") : JSON.stringify(words.join(" "));
  return ifNothing(`White space ends a value. With it the value is written \`${shown(`${name}:${value}`)}\`.`);
}

/** `level:warn OR error`. */
function textAfterOr({ value, name, operator }: Tested): Found {
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

/** `[a,b]` of other languages, and the ranges `[1 TO 5]` of Lucene. */
function listHint(query: string, value: Piece, name: string): Found {
  const [written = "", list = ""] = /^\[([^[\]|]*)\]/.exec(query.slice(value.start)) ?? [];
  const range = /^(\S+) TO (\S+)$/.exec(list.trim());
  const compared = `\`${shown(`${name}:${value.text}`)}\` compares the whole value.`;
  if (range !== null) return always(`${compared} A range is written \`${shown(`${name}:${range[1]}..${range[2]}`)}\`.`);
  const items = list.split(",").map((item) => item.trim());
  if (written === "" || items.includes("")) return null;
  if (items.length === 1) return null;
  return always(`${compared} A list is written \`${shown(`${name}:(${items.join(" OR ")})`)}\`.`);
}

function wholeHint({ value, name, operator }: Tested): Found {
  if (name !== "message" || operator !== "" || value.text.includes("*")) return null;
  const { text } = value;
  const isQuoted = text.startsWith('"');
  const part = isQuoted ? `\`${shown(text)}\`` : `\`message:*${shown(text)}*\` or \`${shown(text)}\``;
  return ifNothing(`\`message:${shown(text)}\` compares the whole message. ${part} finds a part.`);
}

function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
