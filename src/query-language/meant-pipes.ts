import type { QueryError } from "./error.ts";
import type { Meant } from "./foreign-pipes.ts";
import { parse } from "./parse.ts";
import { parseDuration, parseNumber, parseTime, printDuration } from "./values.ts";

/** What may be meant by errors of pipes. */

export const DAY_MS = 86_400_000;
/** Characters around an error that are read for its suggestion, because some patterns take quadratic time. */
export const MAX_READ = 400;

/** Returns an error of a pipe with what may be meant. @param now epoch milliseconds */
export function pipeMeant(query: string, error: QueryError, now: number): Meant | null {
  return (
    testMeant(query, error) ??
    percentileMeant(query, error) ??
    spanMeant(query, error) ??
    sortMeant(query, error) ??
    changeMeant(query, error) ??
    periodMeant(query, error, now) ??
    binMeant(query, error) ??
    numberMeant(query, error)
  );
}

const LENGTH =
  /^(\d{1,6})?[\s_]*(?:(s)(?:ec|econd)?|(m)(?:in|inute)?|(h)(?:r|our)?|(d)(?:ay)?|(w)(?:eek)?)s?(?![^\s()|,"])/i;

/** Returns the duration that a text begins with, also in words: `10 minutes`, `hour`. `size`: characters of it in the text. */
export function lengthIn(text: string): { length: string; size: number } | null {
  const [word = ""] = /^[^\s()|,"]{1,20}/.exec(text) ?? [];
  const ms = parseDuration(word);
  if (ms !== null) return { length: printDuration(ms), size: word.length };
  const [written = "", count = "1", ...units] = LENGTH.exec(text) ?? [];
  const unit = units.find((each) => each !== undefined);
  return unit !== undefined && Number(count) > 0 ? { length: count + unit.toLowerCase(), size: written.length } : null;
}

const CALL = /(\w{1,40})\(\s*([^\s()|,":<>=!]{1,100})\s*(?::|(?=[<>=!]))([<>]=?|!?==?)?\s*([^\s()|,"]{1,60})/y;

/** `count(status:>=500)`, `countIf(status>=500)`. */
function testMeant(query: string, error: QueryError): Meant | null {
  const { position, message } = error;
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const isConditional =
    message.startsWith("Unknown function") && /^\w*if\b/i.test(query.slice(position, position + 20));
  const opened = /\w{1,40}\(\s*[^\s()|,"]{1,100}\s*$/.exec(before)?.[0] ?? "";
  if (!isConditional && (opened === "" || message !== "The parenthesis is not closed")) return null;
  CALL.lastIndex = isConditional ? position : position - opened.length;
  const [, , field = "", operator = "", value = ""] = CALL.exec(query) ?? [];
  if (field === "") return null;
  const test = `${operator.startsWith("!") ? "-" : ""}${field}:${/^[<>]/.test(operator) ? operator : ""}${value}`;
  return {
    message: `A function takes a field and no test. Filter before it (\`${test} | stats count()\`), or count by the field (\`count by ${field}\`)`,
    position,
    expected: isConditional ? error.expected : [")"],
  };
}

const PERCENTILES: ReadonlyMap<number, string> = new Map(
  [50, 75, 90, 95, 99, 99.9].map((percent) => [percent * 10, `p${String(percent).replace(".", "")}`]),
);

/** `percentile(ms, 95)`, `quantile(0.95, ms)`. */
function percentileMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const [called = "", written] =
    /^\w*(?:percentile|quantile|perc|pct|p)s?\(([^()|]{1,100})\)/i.exec(query.slice(position, position + 140)) ?? [];
  if (written === undefined || !error.message.startsWith("Unknown function")) return null;
  const parts = written.split(",").map((part) => part.trim());
  const fields = parts.filter((part) => parseNumber(part) === null);
  const names = parts
    .map(parseNumber)
    .flatMap((number) => (number === null ? [] : [PERCENTILES.get(Math.round(number * (number < 1 ? 1000 : 10)))]));
  if (fields.length !== 1 || names.length === 0 || names.includes(undefined)) return null;
  const suggestion = names.map((name) => `${name}(${fields[0]})`).join(", ");
  return { ...error, suggestion, end: position + called.length };
}

/** `count by route, 10m`. */
function spanMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const found = lengthIn(query.slice(position, position + 40));
  if (found === null || !error.message.endsWith("is not the name of a field")) return null;
  const suggestion = `bin(${found.length})`;
  if (!parse(query.slice(0, position) + suggestion).ok) return null;
  const expected = ["a field", "bin(duration)"];
  return { message: "Spans of time are a key", position, expected, suggestion, end: position + found.size };
}

/** `sort by n desc`, `order by n desc`. The place of the error is `by`, or what follows it. */
function sortMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const start = query.lastIndexOf("|", position) + 1;
  const [pipe = ""] = /^[^|]*/.exec(query.slice(start, start + MAX_READ)) ?? [];
  const [, written = ""] = /^\s*(?:sort|order)\s+by\s+(\S.*)$/is.exec(pipe.trimEnd()) ?? [];
  const [, minus = "", key = "", order = ""] = /^(-?)(.+?)(?:\s+(asc|desc))?$/is.exec(written) ?? [];
  const direction = minus === "" ? order.toLowerCase() : "desc";
  const meant = `sort ${key}${direction === "" ? "" : ` ${direction}`}`;
  if (key === "" || start === 0 || !parse(`${query.slice(0, start)} ${meant}`).ok) return null;
  return {
    message: "`sort` is followed by the field, without `by`",
    position: start + pipe.search(/\bby\s/i),
    expected: ["a field"],
    suggestion: meant,
    start: start + pipe.search(/\S/),
    end: start + pipe.trimEnd().length,
  };
}

/** What people call the changes that `patterns vs` finds. */
const CHANGES: readonly (readonly [RegExp, string])[] = [
  [/^(?:new|added|appeared)$/i, "before:0"],
  [/^(?:gone|lost|missing|removed|disappeared|old)$/i, "count:0"],
  [/^(?:up|risen|rising|rose|more|increased|increasing)$/i, "change:>0"],
  [/^(?:down|fallen|falling|fell|less|fewer|decreased|decreasing)$/i, "change:<0"],
];

/** `where change:new`. */
function changeMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  if (!/\bchange:$/.test(query.slice(Math.max(0, position - 8), position))) return null;
  const [word = ""] = /^[a-z]{1,20}/i.exec(query.slice(position, position + 20)) ?? [];
  const suggestion = CHANGES.find(([names]) => names.test(word))?.[1];
  if (suggestion === undefined) return null;
  return { ...error, suggestion, start: position - "change:".length, end: position + word.length };
}

const AGO: ReadonlyMap<string, string> = new Map([
  ["yesterday", "1d"],
  ["day", "1d"],
  ["today", "1d"],
  ["week", "7d"],
  ["hour", "1h"],
]);

/** `patterns vs 2026-11-22`: the same range so many days before. */
function periodMeant(query: string, error: QueryError, now: number): Meant | null {
  const { position } = error;
  if (!/\bvs\s+$/.test(query.slice(Math.max(0, position - 40), position))) return null;
  const [written = "", word = ""] =
    /^(?:last\s+|previous\s+)?([^\s()|,]{1,40})/i.exec(query.slice(position, position + 60)) ?? [];
  const time = parseTime(word);
  const days = time?.kind === "period" ? Math.floor(now / DAY_MS) - Math.floor(time.from / DAY_MS) : 0;
  const length = AGO.get(word.toLowerCase()) ?? (days > 0 ? `${days}d` : null);
  if (length === null) return null;
  return {
    message: "`vs` takes a duration: how long before the period lies that is compared",
    position,
    expected: ["a duration"],
    suggestion: length,
    end: position + written.length,
  };
}

/** `count by route per 10m`. */
function binMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const [, word = "", written = ""] =
    /^((?:per|each|every|over|span|interval|step)[\s=]+)(.*)/is.exec(query.slice(position, position + 60)) ?? [];
  const found = lengthIn(written);
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const pipe = /\|\s*(?:count|stats|top|rare)\b([^|]*)$/.exec(before)?.[1];
  if (found === null || pipe === undefined) return null;
  const isKey = /\bby\b/.test(pipe);
  return {
    message: "Spans of time are a key",
    position,
    expected: [",", "|", "the end"],
    suggestion: `${isKey ? ", " : "by "}bin(${found.length})`,
    // A comma touches the key before it.
    start: isKey ? before.trimEnd().length + position - before.length : position,
    end: position + word.length + found.size,
  };
}

/** `context 3 3`. */
function numberMeant(query: string, error: QueryError): Meant | null {
  const { position } = error;
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const name = /\|\s*(context|limit|patterns|facets)\s+\d+\s*$/.exec(before)?.[1];
  if (name === undefined || !/^(?:,\s*)?\d/.test(query.slice(position))) return null;
  const sides = name === "context" ? ": the entries on each side" : "";
  return { ...error, message: `\`${name}\` takes one number${sides}` };
}
