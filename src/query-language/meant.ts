import type { QueryError } from "./error.ts";
import { parse } from "./parse.ts";
import { parseDuration, parseTime, printDuration } from "./values.ts";

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
  const [, unit = ""] =
    /^(?:per|each|every|over|span|interval|step)[\s=]+([^\s()|,]{1,20})/i.exec(query.slice(position, position + 60)) ??
    [];
  const length = UNITS.get(unit.toLowerCase()) ?? unit;
  const ms = parseDuration(length);
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const pipe = /\|\s*(?:count|stats|top|rare)\b([^|]*)$/.exec(before)?.[1];
  if (ms === null || pipe === undefined) return null;
  return {
    message: "Spans of time are a key",
    position,
    expected: [",", "|", "the end"],
    suggestion: `${/\bby\b/.test(pipe) ? ", " : "by "}bin(${printDuration(ms)})`,
  };
}

const UNITS: ReadonlyMap<string, string> = new Map([
  ["second", "1s"],
  ["minute", "1m"],
  ["hour", "1h"],
  ["day", "1d"],
  ["week", "1w"],
]);

/** `context 3 3`. */
function numberMeant(query: string, error: QueryError): QueryError | null {
  const { position } = error;
  const before = query.slice(Math.max(0, position - MAX_READ), position);
  const name = /\|\s*(context|limit|patterns|facets)\s+\d+\s*$/.exec(before)?.[1];
  if (name === undefined || !/^(?:,\s*)?\d/.test(query.slice(position))) return null;
  const sides = name === "context" ? ": the entries on each side" : "";
  return { ...error, message: `\`${name}\` takes one number${sides}` };
}
