import type { QueryError } from "./error.ts";
import { parse } from "./parse.ts";
import { parseDuration, parseNumber, parseTime, printDuration } from "./values.ts";

/** Suggestions that take more code than a parser in a page should have. The service adds them to its errors. */

const DAY_MS = 86_400_000;
/** Characters around an error that are read for its suggestion, because some patterns take quadratic time. */
const MAX_READ = 400;

/**
 * Returns an error of the parser with what may be meant, where that depends on more than the place of the error.
 * @param now epoch milliseconds
 */
export function explained(query: string, error: QueryError, now: number): QueryError {
  return (
    dateMeant(query, error, now) ??
    lastMeant(query, error) ??
    testMeant(query, error) ??
    percentileMeant(query, error) ??
    spanMeant(query, error) ??
    sortMeant(query, error) ??
    slashMeant(query, error) ??
    listMeant(query, error) ??
    rangeMeant(query, error) ??
    regexMeant(query, error) ??
    changeMeant(query, error) ??
    periodMeant(query, error, now) ??
    binMeant(query, error) ??
    numberMeant(query, error) ??
    error
  );
}

function dateMeant(query: string, error: QueryError, now: number): QueryError | null {
  const day = /^(today|yesterday)(?![^\s()|])/i.exec(query.slice(error.position))?.[1]?.toLowerCase();
  if (day === undefined || !error.message.includes("takes a time")) return null;
  const date = new Date(now - (day === "today" ? 0 : DAY_MS)).toISOString().slice(0, 10);
  return { ...error, suggestion: date };
}

const LENGTH =
  /^(\d{1,6})?[\s_]*(?:(s)(?:ec|econd)?|(m)(?:in|inute)?|(h)(?:r|our)?|(d)(?:ay)?|(w)(?:eek)?)s?(?![^\s()|,"])/i;

/** Returns the duration that a text begins with, also in words: `10 minutes`, `hour`. */
function lengthIn(text: string): string | null {
  const [word = ""] = /^[^\s()|,"]{1,20}/.exec(text) ?? [];
  const ms = parseDuration(word);
  if (ms !== null) return printDuration(ms);
  const [, count = "1", ...units] = LENGTH.exec(text) ?? [];
  const unit = units.find((each) => each !== undefined);
  return unit !== undefined && Number(count) > 0 ? count + unit.toLowerCase() : null;
}

/** `time:last 12h`, `time:>now-1h`. */
function lastMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const [, name] = /([a-z]{1,20}):(?:>=?)?$/i.exec(query.slice(Math.max(0, position - 24), position)) ?? [];
  if (name === undefined || !error.message.includes("takes a time")) return null;
  const rest = query
    .slice(position, position + 60)
    .replace(/^"?(?:(?:last|past|previous|since|now)(?![a-z]))?[\s_-]*/i, "");
  const length = lengthIn(rest);
  return length === null ? null : { ...error, suggestion: `${name}:${length}` };
}

const CALL = /(\w{1,40})\(\s*([^\s()|,":<>=!]{1,100})\s*(?::|(?=[<>=!]))([<>]=?|!?==?)?\s*([^\s()|,"]{1,60})/y;

/** `count(status:>=500)`, `countIf(status>=500)`. */
function testMeant(query: string, error: QueryError): QueryError | null {
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
function percentileMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const [, written] =
    /^\w*(?:percentile|quantile|perc|pct|p)s?\(([^()|]{1,100})\)/i.exec(query.slice(position, position + 140)) ?? [];
  if (written === undefined || !error.message.startsWith("Unknown function")) return null;
  const parts = written.split(",").map((part) => part.trim());
  const fields = parts.filter((part) => parseNumber(part) === null);
  const names = parts
    .map(parseNumber)
    .flatMap((number) => (number === null ? [] : [PERCENTILES.get(Math.round(number * (number < 1 ? 1000 : 10)))]));
  if (fields.length !== 1 || names.length === 0 || names.includes(undefined)) return null;
  return { ...error, suggestion: names.map((name) => `${name}(${fields[0]})`).join(", ") };
}

/** `count by route, 10m`. */
function spanMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const length = lengthIn(query.slice(position, position + 40));
  if (length === null || !error.message.endsWith("is not the name of a field")) return null;
  const meant = `bin(${length})`;
  if (!parse(query.slice(0, position) + meant).ok) return null;
  return { message: "Spans of time are a key", position, expected: ["a field", "bin(duration)"], suggestion: meant };
}

/** `sort by n desc`, `order by n desc`. The place of the error is `by`, or what follows it. */
function sortMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const start = query.lastIndexOf("|", position) + 1;
  const [pipe = ""] = /^[^|]*/.exec(query.slice(start, start + MAX_READ)) ?? [];
  const [, written = ""] = /^\s*(?:sort|order)\s+by\s+(\S.*)$/is.exec(pipe.trimEnd()) ?? [];
  const [, minus = "", key = "", order = ""] = /^(-?)(.+?)(?:\s+(asc|desc))?$/is.exec(written) ?? [];
  const direction = minus === "" ? order.toLowerCase() : "desc";
  const meant = `sort ${key}${direction === "" ? "" : ` ${direction}`}`;
  if (key === "" || start === 0 || !parse(`${query.slice(0, start)} ${meant}`).ok) return null;
  const at = start + pipe.search(/\bby\s/i);
  return {
    message: "`sort` is followed by the field, without `by`",
    position: at,
    expected: ["a field"],
    suggestion: meant,
  };
}

/** `route:~/api/v1/`. */
function slashMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  if (!error.message.includes("unknown flag")) return null;
  const [opened = ""] = /~\/[^\s()|"]*$/.exec(query.slice(Math.max(0, position - MAX_READ), position)) ?? [];
  const [rest = ""] = /^[^\s()|"]*/.exec(query.slice(position, position + MAX_READ)) ?? [];
  const [, source = "", end = "/"] = /^~\/(.*?)(\/i?)?$/.exec(opened + rest) ?? [];
  const meant = `~/${source.replaceAll(/\\.|\//g, (each) => (each === "/" ? "\\/" : each))}${end}`;
  if (opened === "" || !rest.includes("/") || !parse(meant).ok) return null;
  return { ...error, position: position - opened.length, suggestion: meant };
}

const LIST = /([^\s:|()[\]"]+):(?:\(([^()|"]*)\)|\[([^[\]|"]*)\])$/;

/** `level:(error, fatal)`: the whole test, because the error may be at any of its values. */
function listMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const length = query.slice(position, position + MAX_READ).search(/[)\]]/);
  if (length < 0) return null;
  const end = position + length + 1;
  const [, name = "", round, square] = LIST.exec(query.slice(Math.max(0, position - MAX_READ), end)) ?? [];
  const list = round ?? square ?? "";
  const start = end - list.length - 2;
  if (name === "" || position < start || !/,|\sor\s/.test(list)) return null;
  const items = list.split(/[\s,]+/).filter((item) => item !== "" && item.toUpperCase() !== "OR");
  const meant = `${name}:(${items.join(" OR ")})`;
  if (!parse(meant).ok) return null;
  return {
    message: "The values of a list are joined by `OR`",
    position: start,
    expected: ["OR", ")"],
    suggestion: meant,
  };
}

/** `level:warn...error`. */
function rangeMeant(query: string, error: QueryError): QueryError | null {
  const [word = ""] = /^[^\s()|"]{1,100}/.exec(query.slice(error.position)) ?? [];
  const meant = word.replace(/\.{3,}/, "..");
  const [test = ""] = /[^\s()|"]{1,100}:$/.exec(query.slice(Math.max(0, error.position - 101), error.position)) ?? [];
  return meant !== word && parse(test + meant).ok ? { ...error, suggestion: meant } : null;
}

/** `message:~"\d"`. */
function regexMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const [written] = /[^\s:|()"]+:~$/.exec(query.slice(Math.max(0, position - MAX_READ), position)) ?? [];
  const [, source] = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(query.slice(position, position + MAX_READ)) ?? [];
  if (written === undefined || source === undefined) return null;
  return {
    message: "A regular expression is written `~/.../`",
    position: position - 1,
    expected: ["~/regex/"],
    suggestion: `${written}/${source.replaceAll("/", "\\/")}/`,
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
function changeMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  if (!/\bchange:$/.test(query.slice(Math.max(0, position - 8), position))) return null;
  const [word = ""] = /^[a-z]{1,20}/i.exec(query.slice(position, position + 20)) ?? [];
  const suggestion = CHANGES.find(([names]) => names.test(word))?.[1];
  return suggestion === undefined ? null : { ...error, suggestion };
}

const AGO: ReadonlyMap<string, string> = new Map([
  ["yesterday", "1d"],
  ["day", "1d"],
  ["today", "1d"],
  ["week", "7d"],
  ["hour", "1h"],
]);

/** `patterns vs 2026-11-22`: the same span so many days before. */
function periodMeant(query: string, error: QueryError, now: number): QueryError | null {
  const { position } = error;
  if (!/\bvs\s+$/.test(query.slice(Math.max(0, position - 40), position))) return null;
  const [, word = ""] = /^(?:last\s+|previous\s+)?([^\s()|,]{1,40})/i.exec(query.slice(position, position + 60)) ?? [];
  const time = parseTime(word);
  const days = time?.kind === "period" ? Math.floor(now / DAY_MS) - Math.floor(time.from / DAY_MS) : 0;
  const length = AGO.get(word.toLowerCase()) ?? (days > 0 ? `${days}d` : null);
  if (length === null) return null;
  return {
    message: "`vs` takes a duration: how long before the period lies that is compared",
    position,
    expected: ["a duration"],
    suggestion: length,
  };
}

/** `count by route per 10m`. */
function binMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const [, written = ""] =
    /^(?:per|each|every|over|span|interval|step)[\s=]+(.*)/is.exec(query.slice(position, position + 60)) ?? [];
  const length = lengthIn(written);
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const pipe = /\|\s*(?:count|stats|top|rare)\b([^|]*)$/.exec(before)?.[1];
  if (length === null || pipe === undefined) return null;
  return {
    message: "Spans of time are a key",
    position,
    expected: [",", "|", "the end"],
    suggestion: `${/\bby\b/.test(pipe) ? ", " : "by "}bin(${length})`,
  };
}

/** `context 3 3`. */
function numberMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const name = /\|\s*(context|limit|patterns|facets)\s+\d+\s*$/.exec(before)?.[1];
  if (name === undefined || !/^(?:,\s*)?\d/.test(query.slice(position))) return null;
  const sides = name === "context" ? ": the entries on each side" : "";
  return { ...error, message: `\`${name}\` takes one number${sides}` };
}
