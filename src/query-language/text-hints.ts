import { OWN_NAMES } from "./fields.ts";
import type { Token } from "./reader.ts";
import { parseLevel, parseNumber, parseTime } from "./values.ts";

/** Hints on texts that are searched for and look like tests or operators. */

/** Characters of a piece of the query that a hint repeats. */
const MAX_SHOWN = 60;

const COMPARISON = /^([\p{L}_@$][\p{L}\p{N}_@$.-]*)(<=|>=|==|!=|=|<|>)(.*)$/u;
/** What regular expressions have, and paths such as `/api/[id]/` lack. */
const REGEX_SIGNS = /^\/\^|\$\/i?$|\\[dwsb.]|\.[*+?]|\[\^|\[\w-\w|[\])][*+?{]|\w\{\d/;
/** A regular expression of other languages, up to its second slash. */
const SPACED_REGEX = /^\/[^/|"]+\/i?(?=[\s)]|$)/;
/** Characters in which the second slash is searched for. */
const MAX_REGEX = 200;
export const REGEX = "A regular expression is written `~/.../`.";

/** What a hint states, without its place. */
export interface Found {
  message: string;
  ifNothing: boolean;
  /** See `Hint`. */
  correction?: string;
  /** UTF-16 offset up to which further hints are left out, because they are about the same text. */
  until?: number;
}

/** A token with its text and the tokens beside it. */
export interface Piece extends Token {
  text: string;
  before: Piece | null;
  after: Piece | null;
}

export function textHint(query: string, piece: Piece): Found | null {
  const { text } = piece;
  if (text.startsWith('"')) return null;
  return (
    foreignHint(query.slice(piece.start, piece.start + MAX_FOREIGN), piece) ??
    afterRegex(piece) ??
    operatorHint(piece) ??
    comparisonHint(piece) ??
    regexHint(text) ??
    spacedRegex(query, piece, "") ??
    (/^![\p{L}_"(]/u.test(text) ? textNegation(text) : null) ??
    singleQuotes(piece)
  );
}

export function always(message: string, until?: number): Found {
  return { message, ifNothing: false, ...(until === undefined ? {} : { until }) };
}

export function ifNothing(message: string): Found {
  return { message, ifNothing: true };
}

/** Words of prose stay without a hint: `user not found`. */
function operatorHint({ text, before, after }: Piece): Found | null {
  if (text !== "and" && text !== "or" && text !== "not") return null;
  const isAfterTest = before !== null && before.kind !== "keyword" && before.kind !== "pipe" && !isOpening(before);
  const isBeforeTest = after !== null && after.text !== ")" && after.text !== "|";
  const isStructured = after?.kind === "field" || after?.text === "(" || after?.text.startsWith('"') === true;
  const isOperator =
    text === "not"
      ? isStructured || (isBeforeTest && /^(?:and|or)$/.test(before?.kind === "text" ? before.text : ""))
      : isAfterTest && isBeforeTest;
  if (!isOperator) return null;
  const correction = text.toUpperCase();
  return { ...always(`\`${text}\` is searched for as a word. The operator is \`${correction}\`.`), correction };
}

function isOpening({ kind, text }: Piece): boolean {
  return kind === "operator" && (text === "(" || text === "|");
}

function comparisonHint(piece: Piece): Found | null {
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

function comparison(written: string, name: string, operator: string, value: string): Found | null {
  const isOrder = operator.startsWith("<") || operator.startsWith(">");
  // `List<String>`, `a=>b` and the padding of Base64 are texts.
  if (value === "" || /^[=<>]/.test(value)) return null;
  const hasOrder = parseNumber(value) !== null || parseLevel(value) !== null || parseTime(value) !== null;
  if (isOrder && !hasOrder) return null;
  const test = `${operator === "!=" ? "-" : ""}${name}:${isOrder ? operator : ""}${value}`;
  return always(`\`${shown(written)}\` is searched for as text. A field is tested by \`${shown(test)}\`.`);
}

export function regexHint(text: string): Found | null {
  if (/^\/.+\/i?$/.test(text)) {
    return REGEX_SIGNS.test(text)
      ? always(`\`${shown(text)}\` is taken as it is written. ${REGEX}`)
      : ifNothing(`\`${shown(text)}\` is taken as it is written. ${REGEX}`);
  }
  // `~1.2` is a version, `~user` a folder.
  return /^~\p{L}/u.test(text) ? ifNothing(`\`${shown(text)}\` is taken as it is written. ${REGEX}`) : null;
}

/** `message:/re d$/`: white space ends a word, so that the slashes are in different words. */
export function spacedRegex(query: string, { text, start }: Piece, name: string): Found | null {
  if (!/^\/[^/]*$/.test(text)) return null;
  const [written = ""] = SPACED_REGEX.exec(query.slice(start, start + MAX_REGEX)) ?? [];
  if (written === "" || !/\s/.test(written)) return null;
  const isRegex = name === "message" || REGEX_SIGNS.test(written);
  const test = `${name === "" ? "" : `${name}:`}~${written}`;
  return isRegex
    ? always(`\`${shown(written)}\` is taken as words. A regular expression is written \`${shown(test)}\`.`)
    : null;
}

/** Characters in which tests of other languages are searched for. */
const MAX_FOREIGN = 300;

/** Tests of other languages, from their first word on: what they mean here. */
const FOREIGN: readonly (readonly [written: RegExp, meant: (...groups: string[]) => string])[] = [
  [
    /^\{(\s*[\w.]+\s*(?:=~|!~|!=|=)\s*"(?:[^"\\]|\\.)*"[^{}]*)\}/,
    (_, matchers = "") => matcherTests(matchers).join(" "),
  ],
  [
    /^([@\w.]+)\s+(?:contains|has|i?like)\s+["']%?([^"'%]{1,80})%?["']/i,
    (_, name, text = "") => `${name}:*${text.replace(/\s+/g, "*")}*`,
  ],
  [
    /^([@\w.]+)\s+starts_?with\s+["']([^"']{1,80})["']/i,
    (_, name, text = "") => `${name}:${text.replace(/\s+/g, "*")}*`,
  ],
  [/^([@\w.]+)\s+ends_?with\s+["']([^"']{1,80})["']/i, (_, name, text = "") => `${name}:*${text.replace(/\s+/g, "*")}`],
  [
    /^([@\w.]+)\s+(?:(not)\s+)?in\s*\(\s*([^\s(),|]+(?:\s*,\s*[^\s(),|]+)*)\s*\)/i,
    (_, name, not, list = "") =>
      `${not && "-"}${name}:(${list
        .split(/[\s,]+/)
        .filter(Boolean)
        .join(" OR ")})`,
  ],
  [
    /^([@\w.]+)\s+between\s+\(?\s*(-?\d\S*?)\s*(?:\.\.|and)\s*(-?\d[^\s()]*)\s*\)?/i,
    (_, name, from, to) => `${name}:${from}..${to}`,
  ],
  [
    /^([@\w.]+)\s*([=!])~\s*["/]([^"]{1,80}?)["/](?=[\s)]|$)/,
    (_, name, sign, source = "") => `${sign === "!" ? "-" : ""}${name}:${regexOf(source)}`,
  ],
  [
    /^(?:timestamp|_time|@timestamp|time)\s*>=?\s*(?:ago|now)\s*\(\s*-?(\d+[smhdw])\s*\)/i,
    (_, length) => `time:${length}`,
  ],
  [/^earliest\s*=\s*-?(\d+[smhdw])(?:@\w+)?/i, (_, length) => `time:${length}`],
];

/** Returns a regular expression with its slashes escaped. */
export function regexOf(source: string): string {
  return `~/${source.replaceAll(/\\.|\//gs, (each) => (each === "/" ? "\\/" : each))}/`;
}

const MATCHER = /([\w.]+)\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g;

/** Returns the matchers of a selector of LogQL as tests. */
export function matcherTests(matchers: string): string[] {
  return [...matchers.matchAll(MATCHER)].map(([, name = "", operator = "", quoted, raw]) => {
    return operated(operator, `${name}:`, quoted, raw);
  });
}

/** Returns a matcher or a line filter as a test. @param name of the field with a colon, or empty */
export function operated(operator: string, name: string, quoted: string | undefined, raw = ""): string {
  const text = quoted === undefined ? raw : unescaped(quoted);
  const isWord = name !== "" && /^[\w./-]+$/.test(text);
  const value = operator.endsWith("~") ? regexOf(text) : isWord ? text : JSON.stringify(text);
  return `${operator.startsWith("!") ? "-" : ""}${name}${value}`;
}

/** Returns a text as it was before its quotes. A regular expression in them has its backslashes doubled. */
export function unescaped(quoted: string): string {
  return quoted.replace(/\\(["\\])/g, "$1");
}

/** A value for each field whose values are not any text. */
const EXAMPLES: ReadonlyMap<string, string> = new Map([
  ["level", "error"],
  ["seq", "1"],
  ...["time", "timestamp", "received", "receivedAt"].map((name) => [name, "1h"] as const),
]);

function foreignHint(query: string, { start, before, after }: Piece): Found | null {
  const [statement = ""] =
    before === null
      ? (/^select\s[^|]+?\sfrom\s+[\w."`]+\s*(?:$|;|(?:where|group|order|limit|join)\b).*/is.exec(query) ?? [])
      : [];
  if (statement !== "") {
    return always(
      "SQL is searched for as words. A filter is written `level:error`, and `| count by level` counts.",
      start + statement.length,
    );
  }
  for (const [form, meant] of FOREIGN) {
    const groups = form.exec(query);
    if (groups === null) continue;
    const [written] = groups;
    const test = shown(meant(...groups.map((group) => group ?? "")));
    return always(`\`${shown(written)}\` is searched for as text. It is written \`${test}\`.`, start + written.length);
  }
  if (query.startsWith("&&") && before !== null && after !== null)
    return always("`&&` is searched for as text. White space means AND.");
  const [field] = /^[\p{Ll}_@$][\p{L}\p{N}_@$.-]{0,40}:(?=[\s)|]|$)/u.exec(query) ?? [];
  if (field === undefined) return null;
  const next = after?.kind === "text" && after.start > start + field.length ? after.text : null;
  // Words of messages that end with a colon are usual.
  if (next === null && !OWN_NAMES.includes(field.slice(0, -1))) return null;
  const test = shown(field + (next ?? EXAMPLES.get(field.slice(0, -1)) ?? "value"));
  return ifNothing(`\`${field}\` is searched for as text. A value touches the colon: \`${test}\`.`);
}

/** `~/in \d+ ms/$`. */
function afterRegex({ text, start, before }: Piece): Found | null {
  if (before?.kind !== "regex" || before.end !== start) return null;
  const [, source = "", end = ""] = /^(.*)(\/i?)$/s.exec(before.text) ?? [];
  const rest = text.replace(/\/i?$/, "").replaceAll("/", "\\/");
  return always(
    `\`${shown(text)}\` after the closing \`/\` is searched for as text. Within the expression it is written \`${shown(source + rest + end)}\`.`,
  );
}

function textNegation(text: string): Found | null {
  const message = `\`${shown(text)}\` is searched for as text. A negation is written \`-${shown(text.slice(1))}\`.`;
  return text.includes(":") ? always(message) : ifNothing(message);
}

/** A message may have single quotes, as in `reading 'id'`. */
function singleQuotes(first: Piece): Found | null {
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

export function shown(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
