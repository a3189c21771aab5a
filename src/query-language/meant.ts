import type { QueryError } from "./error.ts";
import { foreignPipe, type Meant, testsOf } from "./foreign-pipes.ts";
import { DAY_MS, lengthIn, MAX_READ, pipeMeant } from "./meant-pipes.ts";
import { parse } from "./parse.ts";
import { matcherTests, operated, regexOf } from "./text-hints.ts";
import { parseDuration, parseNumber } from "./values.ts";

/**
 * Suggestions that take more code than a parser in a page should have. The service adds them to its errors, and the console
 * to those of its query box.
 */

/** An error with what may be meant. */
export interface ExplainedError extends QueryError {
  /** The query with the suggestion in its place. What follows may be wrong, too. Absent if the suggestion has no place. */
  corrected?: string;
}

/** Further errors that a suggestion corrects in what it replaces. */
const MAX_STEPS = 4;

/**
 * Returns an error of the parser with what may be meant, where that depends on more than the place of the error. It has a
 * suggestion only if the query is right with it, or its next error lies behind.
 * @param now epoch milliseconds
 */
export function explained(query: string, error: QueryError, now: number): ExplainedError {
  const { message, position, expected, suggestion, ...first } = meant(query, error, now);
  const plain = { message, position, expected };
  let place = placeOf(query, { ...plain, ...first, ...(suggestion === undefined ? {} : { suggestion }) });
  if (place === null) return plain;
  const { start } = place;
  const after = query.length - place.end;
  let corrected = query;
  for (let step = 0; ; step++) {
    corrected = corrected.slice(0, place.start) + place.suggestion + corrected.slice(place.end);
    const end = corrected.length - after;
    const result = parse(corrected);
    const isRight = result.ok || result.error.position >= end;
    if (isRight) return { ...plain, suggestion: corrected.slice(start, end), corrected };
    place = placeOf(corrected, meant(corrected, result.error, now));
    if (step === MAX_STEPS || place === null || place.start < start || place.end > end) return plain;
  }
}

function meant(query: string, error: QueryError, now: number): Meant {
  return filterMeant(query, error, now) ?? pipeMeant(query, error, now) ?? foreignPipe(query, error) ?? error;
}

/** Returns what of a query a suggestion replaces; `null` without a suggestion. */
function placeOf(query: string, { position, suggestion, ...place }: Meant) {
  if (suggestion === undefined) return null;
  const [written = ""] = /^(?:"(?:[^"\\]|\\.)*"|[^\s()|]+)/.exec(query.slice(position)) ?? [];
  // In the pipes that have lists a comma ends a word.
  const isListed = /\|(?!\s*where\b)[^|]*$/.test(query.slice(Math.max(0, position - MAX_READ), position));
  const word = isListed && !written.startsWith('"') ? (written.split(",", 1)[0] ?? "") : written;
  const end = place.end ?? position + word.length;
  const [, name = ""] = /^-?([^\s:"]{1,100}:)/.exec(suggestion) ?? [];
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  // A suggestion of the whole test replaces it.
  const at = name === "" ? -1 : before.lastIndexOf(name);
  const isWhole =
    at >= 0 && /^[<>=!]*$/.test(before.slice(at + name.length)) && !/[^\s()|-]$/.test(before.slice(0, at));
  return { suggestion, start: place.start ?? (isWhole ? position - before.length + at : position), end };
}

function filterMeant(query: string, error: QueryError, now: number): Meant | null {
  return (
    selectorMeant(query, error) ??
    orMeant(query, error) ??
    strayMeant(query, error) ??
    dateMeant(query, error, now) ??
    clockMeant(query, error, now) ??
    lastMeant(query, error) ??
    slashMeant(query, error) ??
    listMeant(query, error) ??
    comparisonMeant(query, error) ??
    boundsMeant(query, error) ??
    rangeMeant(query, error) ??
    regexMeant(query, error) ??
    unitMeant(query, error) ??
    closedMeant(query, error)
  );
}

const LINE_FILTER = /^\s*(\|=|!=|\|~|!~)\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)/;

/** Returns a selector of LogQL and the line filters behind it as a filter; `null` if the text does not begin with one. */
function selectorIn(query: string): { filter: string; end: number } | null {
  const [selector = "", matchers = ""] = /^\s*\{([^{}]*)\}/.exec(query.slice(0, MAX_READ)) ?? [];
  const tests = matcherTests(matchers);
  if (tests.length === 0) return null;
  let end = selector.length;
  for (;;) {
    const [written = "", operator = "", quoted, raw] = LINE_FILTER.exec(query.slice(end, end + MAX_READ)) ?? [];
    if (written === "") break;
    tests.push(operated(operator, "", quoted, raw));
    end += written.length;
  }
  return { filter: tests.join(" "), end };
}

/** `{app="api"} |= "error"`. */
function selectorMeant(query: string, error: QueryError): Meant | null {
  const found = selectorIn(query);
  if (found === null || error.position < query.indexOf("}")) return null;
  const { filter, end } = found;
  const message = "A selector is written as tests of fields, and a text that lines contain in quotes";
  return { message, position: 0, expected: error.expected, suggestion: filter, end };
}

/** `a || b`. */
function orMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const start = query.lastIndexOf("||", position);
  if (start < 0 || query.slice(start + 2, position).trim() !== "") return null;
  const expected = ["OR", "|"];
  return { message: "The operator is `OR`", position: start, expected, suggestion: "OR", start, end: start + 2 };
}

/** `AND error`, `(OR error)`. */
function strayMeant(query: string, error: QueryError): Meant | null {
  const { position, message } = error;
  const [written = "", suggestion] =
    /^(?:AND|OR)\s+((?!AND\b|OR\b)[^\s()|]{1,100})/.exec(query.slice(position, position + MAX_READ)) ?? [];
  if (suggestion === undefined || !message.startsWith("A test is expected before")) return null;
  return { ...error, suggestion, end: position + written.length };
}

function dateMeant(query: string, error: QueryError, now: number): Meant | null {
  const day = /^(today|yesterday)(?![^\s()|])/i.exec(query.slice(error.position))?.[1]?.toLowerCase();
  if (day === undefined || !error.message.includes("takes a time")) return null;
  const date = new Date(now - (day === "today" ? 0 : DAY_MS)).toISOString().slice(0, 10);
  return { ...error, suggestion: date };
}

/** `time:10:30..11:00`. */
function clockMeant(query: string, error: QueryError, now: number): Meant | null {
  const [word = ""] = /^[\d:.]{4,40}(?![^\s()|])/.exec(query.slice(error.position)) ?? [];
  const clock = /^\d\d:\d\d(?::\d\d)?$/;
  if (!error.message.includes("takes a time") || !word.split("..").every((each) => clock.test(each))) return null;
  const date = new Date(now).toISOString().slice(0, 10);
  const suggestion = word
    .split("..")
    .map((each) => `${date}T${each}`)
    .join("..");
  return { ...error, message: "A time has a date, and is UTC unless it has a zone", suggestion };
}

/** `time:last 12h`, `time:>now-1h`. */
function lastMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const [test = "", name] = /([a-z]{1,20}):(?:>=?)?$/i.exec(query.slice(Math.max(0, position - 24), position)) ?? [];
  if (name === undefined || !error.message.includes("takes a time")) return null;
  const text = query.slice(position, position + 60);
  const [words = ""] = /^"?(?:(?:last|past|previous|since|now|ago)(?![a-z]))?[\s_(-]*/i.exec(text) ?? [];
  const found = lengthIn(text.slice(words.length));
  if (found === null) return null;
  const size = words.length + found.size;
  const [rest = ""] = /^[")]/.exec(text.slice(size)) ?? [];
  return {
    ...error,
    suggestion: `${name}:${found.length}`,
    start: position - test.length,
    end: position + size + rest.length,
  };
}

/** `route:~/api/v1/`. */
function slashMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  if (!error.message.includes("unknown flag")) return null;
  const [opened = ""] = /~\/[^\s()|"]*$/.exec(query.slice(Math.max(0, position - MAX_READ), position)) ?? [];
  const [rest = ""] = /^[^\s()|"]*/.exec(query.slice(position, position + MAX_READ)) ?? [];
  const [, source = "", end = "/"] = /^~\/(.*?)(\/i?)?$/.exec(opened + rest) ?? [];
  const suggestion = regexOf(source) + end.slice(1);
  if (opened === "" || !rest.includes("/") || !parse(suggestion).ok) return null;
  return { ...error, position: position - opened.length, suggestion, end: position + rest.length };
}

const LIST = /([^\s:|()[\]{}"]+)(?::|\s+in\s*)(?:\(([^()|"]*)\)|\[([^[\]|"]*)\]|\{([^{}|"]*)\})$/i;

/** `level:(error, fatal)`: the whole test, because the error may be at any of its values. */
function listMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const length = query.slice(position, position + MAX_READ).search(/[)\]}]/);
  if (length < 0) return null;
  const end = position + length + 1;
  const [test = "", name = "", ...lists] = LIST.exec(query.slice(Math.max(0, position - MAX_READ), end)) ?? [];
  const list = lists.find((each) => each !== undefined) ?? "";
  const start = end - list.length - 2;
  if (name === "" || position < start || !/,|\sor\s/.test(list)) return null;
  const items = list.split(/[\s,]+/).filter((item) => item !== "" && item.toUpperCase() !== "OR");
  const suggestion = `${name}:(${items.join(" OR ")})`;
  if (!parse(suggestion).ok) return null;
  return {
    message: "The values of a list are joined by `OR`",
    position: start,
    expected: ["OR", ")"],
    suggestion,
    start: end - test.length,
    end,
  };
}

const COMPARISON = String.raw`[^\s()|,:<>=!]{1,100}\s*(?:[<>=]=?|!=)\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s()|,"']+)`;
const COMPARISONS = new RegExp(String.raw`^${COMPARISON}(?:\s+(?:and|or|&&)\s+${COMPARISON})*`, "i");

/** `n > 10 and b == "x"`, which a table refuses. */
function comparisonMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  if (!error.message.startsWith("A comparison is written")) return null;
  const [written] = COMPARISONS.exec(query.slice(position, position + MAX_READ)) ?? [];
  return written === undefined ? null : { ...error, suggestion: testsOf(written), end: position + written.length };
}

const BOUNDS = /([^\s:|()"]{1,100}):\(\s*([<>]=?)([^\s()]{1,40})\s+(?:AND\s+|&&\s*)?([<>]=?)([^\s()]{1,40})\s*\)/;

/** `ms:(>100 AND <200)`, `status:<>200`. */
function boundsMeant(query: string, error: QueryError): Meant | null {
  const { position, expected } = error;
  const from = Math.max(0, position - MAX_READ);
  const near = query.slice(from, position + MAX_READ);
  const unequal = /([^\s:|()"]{1,100}):<>([^\s()|]{1,100})/.exec(near);
  const bounds = unequal ?? BOUNDS.exec(near);
  const [written = "", name = "", ...rest] = bounds ?? [];
  const start = from + (bounds?.index ?? 0);
  const end = start + written.length;
  if (bounds === null || position < start || position > end) return null;
  const [first = "", low = "", second = "", high = ""] = rest;
  const suggestion = unequal ? `-${name}:${first}` : `(${name}:${first}${low} ${name}:${second}${high})`;
  if (!parse(suggestion).ok) return null;
  const message = unequal ? "`<>` is written as a negated test" : "Each test names its field";
  return { message, position: unequal ? position : start, expected, suggestion, start, end };
}

/** `level:warn...error`. */
function rangeMeant(query: string, error: QueryError): Meant | null {
  const [word = ""] = /^[^\s()|"]{1,100}/.exec(query.slice(error.position)) ?? [];
  const suggestion = word.replace(/\.{3,}/, "..");
  const [test = ""] = /[^\s()|"]{1,100}:$/.exec(query.slice(Math.max(0, error.position - 101), error.position)) ?? [];
  return suggestion !== word && parse(test + suggestion).ok ? { ...error, suggestion } : null;
}

/** `message:~"\d"`. */
function regexMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const [written] = /[^\s:|()"]+:~$/.exec(query.slice(Math.max(0, position - MAX_READ), position)) ?? [];
  const [quoted = "", source] = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(query.slice(position, position + MAX_READ)) ?? [];
  if (written === undefined || source === undefined) return null;
  return {
    message: "A regular expression is written `~/.../`",
    position: position - 1,
    expected: ["~/regex/"],
    suggestion: written.slice(0, -1) + regexOf(source),
    start: position - written.length,
    end: position + quoted.length,
  };
}

/** `ms:>1s`: numbers of members have no unit. */
function unitMeant(query: string, error: QueryError): Meant | null {
  if (!/is compared with a number, and `[^`]+` is not a number$/.test(error.message)) return null;
  const [word = ""] = /^[^\s()|]{1,40}/.exec(query.slice(error.position)) ?? [];
  const end = error.position + word.length;
  const ms = parseDuration(word);
  if (ms !== null) {
    const message = `Numbers have no unit: \`${word}\` is ${ms} in milliseconds, ${ms / 1000} in seconds`;
    return { ...error, message, suggestion: String(ms), end };
  }
  const [, digits = ""] = /^(\d[\d,_]*(?:\.\d+)?)%?$/.exec(word) ?? [];
  const number = digits.replace(/[,_]/g, "");
  return parseNumber(number) === null ? null : { ...error, suggestion: number, end };
}

/** `(level:error`, `"time out`: closed where the filter ends. */
function closedMeant(query: string, error: QueryError): Meant | null {
  const { position, message } = error;
  const closing = message === "The parenthesis is not closed" ? ")" : message === "The quote is not closed" ? '"' : "";
  if (closing === "" || query.length - position > MAX_READ) return null;
  const [whole = ""] = (closing === ")" ? /^[^|]*/ : /^.*/s).exec(query.slice(position)) ?? [];
  const suggestion = whole.trimEnd() + closing;
  const end = position + whole.trimEnd().length;
  return parse(query.slice(0, position) + suggestion).ok ? { ...error, suggestion, end } : null;
}
