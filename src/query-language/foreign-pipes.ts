import type { QueryError } from "./error.ts";
import { parse } from "./parse.ts";
import { regexOf, unescaped } from "./text-hints.ts";

/** Pipes as other languages write them, and what they are here. */

/** Characters of a pipe that are read. */
const MAX_READ = 400;

const FUNCTIONS =
  "count_distinct|count|sum|avg|mean|average|median|min|max|p\\d{2,3}|first|last|values|rate|dc|percentiles?|quantile";
const LENGTH = "(\\d{1,6})\\s*(ms|s|m|h|d|w)[a-z]{0,8}";
const SPANS = "bin|span|time|timestamp|date_histogram|window|interval|bucket|floor";

const QUOTED = String.raw`"(?:[^"\\]|\\.)*"|(?<!\w)'[^']*'(?!\w)`;
/** A comparison, a quote, in which nothing is replaced, or an operator. */
const COMPARISON = new RegExp(
  String.raw`([@$\w][\w.@$-]*)\s*(==?|!=|<=|>=|<|>)\s*(${QUOTED}|[^\s()|,="]+)|(${QUOTED})|\s(and|&&|or|\|\|)(?=\s)`,
  "gi",
);

/** Returns comparisons of other languages as tests: `a >= 5 and b == 'x'`. */
export function testsOf(text: string): string {
  return text.replace(COMPARISON, (_: string, ...[name, operator = "", written = "", quoted, word]: string[]) => {
    if (quoted !== undefined) return doubleQuoted(quoted);
    if (word !== undefined) return /^(?:and|&&)$/i.test(word) ? "" : " OR";
    const value = doubleQuoted(written);
    return `${operator === "!=" ? "-" : ""}${name}:${/^[<>]/.test(operator) ? operator : ""}${value}`;
  });
}

function doubleQuoted(text: string): string {
  return /^'.*'$/s.test(text) ? JSON.stringify(text.slice(1, -1)) : text;
}

interface Rewrite {
  written: RegExp;
  /** Returns the pipe as it is written here; `null` if it has none. */
  meant: (...groups: string[]) => string | null;
  message: string;
}

const spanOf = (text: string): string | undefined =>
  new RegExp(LENGTH, "i").exec(text)?.slice(1, 3).join("").toLowerCase();

/** Returns keys with a span of time, which `rate()` needs. */
const withSpan = (by: string, length: string): string =>
  /\bbin\s*\(/.test(by) ? by : `${by && `${by}, `}bin(${spanOf(length) ?? "5m"})`;

const STATS = "Functions follow `stats`";
const COUNTED = "Different values are counted by `count by`";
const SPAN = "Spans of time are a key";
const WHERE = "Entries are chosen by `where`";
const FIELDS = "A table of fields is made by `fields`, with commas between them";
const TOP = "`top` counts entries by fields, and `sort` orders by values";

/** In the order in which they are tried, on the text after `|`. */
const REWRITES: readonly Rewrite[] = [
  {
    written: /^(?:head|take|first|last|tail|sample)\s+(\d+)$/i,
    meant: (_, most = "") => `limit ${most}`,
    message: "`limit` keeps the first entries, which are the newest ones unless they are sorted",
  },
  { written: /^(?:summarize|aggregate)\s+/i, meant: () => "stats ", message: STATS },
  {
    written: /^count\s*\(\s*\*?\s*\)\s*/i,
    meant: () => "count ",
    message: "`count` as a pipe has no parentheses",
  },
  {
    written: /^(count\s*(?:\(\s*\*?\s*\))?)\s+as\s+(\S+)/i,
    meant: (_, __, name = "") => `stats count() as ${name}`,
    message: "A column is named in `stats`",
  },
  {
    written: /^count\s+(by\s.*?)\s+as\s+(\S+)$/i,
    meant: (_, by = "", name = "") => `stats count() as ${name} ${by}`,
    message: "A column is named in `stats`",
  },
  {
    written: /^(rate(?:\s*\(\s*(?:\d\w*)?\s*\)|\s+\d\w*)?)(?:\s+by\s+(.+))?$/i,
    meant: (_, called = "", by = "") => `stats rate() by ${withSpan(by, called)}`,
    message: STATS,
  },
  { written: new RegExp(`^(?:${FUNCTIONS})\\s*\\(`, "i"), meant: (all = "") => `stats ${all}`, message: STATS },
  {
    written: new RegExp(`^(${FUNCTIONS})\\s+(?!by\\b)([A-Za-z_@$][\\w.@$-]*)`, "i"),
    meant: (_, name = "", field = "") => `stats ${name.toLowerCase()}(${field})`,
    message: STATS,
  },
  {
    written: /^timechart\b(?:\s+(?:span|bin)\s*=\s*(\S+))?\s*(.*?)(?:\s+by\s+(.*))?$/i,
    meant: (_, span = "", called = "", by = "") => {
      const functions = called.replace(/\bcount\b(?!\s*\()/i, "count()") || "count()";
      return `stats ${functions} by ${by === "" ? "" : `${by}, `}bin(${spanOf(span) ?? "5m"})`;
    },
    message: `${SPAN} of \`stats\``,
  },
  {
    written: /^(?:bin|bucket|histogram|interval|window)\b.*$/i,
    meant: (all = "") => {
      const length = spanOf(all);
      return length === undefined ? null : `count by bin(${length})`;
    },
    message: SPAN,
  },
  {
    written: /^(?:fields|table|columns|display|cut|keep|select|project)\s+(?:\+\s*)?(?!-)(.+)$/i,
    meant: (_, list = "") => `fields ${list.split(/[\s,]+/).join(", ")}`,
    message: FIELDS,
  },
  { written: /^(?:dedup|distinct|uniq|unique|group)(?:\s+by)?\s+(?=\S)/i, meant: () => "count by ", message: COUNTED },
  { written: /^reverse$/i, meant: () => "sort time", message: "The oldest entries come first after `sort time`" },
  {
    written: /^grep\s+((?:-[a-z]{1,4}\s+)+)(?=\S)(.*)$/is,
    meant: (_, options = "", condition = "") => {
      // Words are found whatever their case. Other options have no counterpart.
      if (/[^-\siFv]/.test(options)) return null;
      return `where ${options.includes("v") ? `-(${testsOf(condition)})` : testsOf(condition)}`;
    },
    message: WHERE,
  },
  {
    written: /^(?:(?:search|filter|match|contains|regex)\s+(?=\S)|grep\s+(?=[^\s-]))(.*)$/is,
    meant: (_, condition = "") => `where ${testsOf(condition)}`,
    message: WHERE,
  },
  {
    written: /^wc\b.*$/i,
    meant: () => "count",
    message: "Entries are counted by `count`",
  },
  {
    written: /^(top|rare)\s+limit\s*=\s*(\d+)\s+(?:by\s+)?(.+)$/i,
    meant: (_, name = "", most = "", by = "") => `${name} ${most} by ${by}`,
    message: "The number follows the name of the pipe",
  },
  {
    written: /^top\s+(\d+)?\s*by\s+(\S+)\s+(asc|desc)$/i,
    meant: (_, most = "", by = "", order = "") => `sort ${by} ${order.toLowerCase()} | limit ${most || "10"}`,
    message: TOP,
  },
  {
    written: /^(sort\s+\S+?)\s*[\s:]\s*(asc|desc)(?:ending)?$/i,
    meant: (_, sort = "", order = "") => `${sort} ${order.toLowerCase()}`,
    message: "The order is `asc` or `desc`",
  },
  {
    written: /^(.+?)\s+having\s+(.+)$/is,
    meant: (_, pipe = "", condition = "") => `${pipe} | where ${testsOf(condition)}`,
    message: "Rows of a table are chosen by `where`",
  },
  {
    written: /^((?:stats|count|top|rare)\b.+?)\s+(?:where|if)\s+(.+)$/is,
    meant: (_, pipe = "", condition = "") => {
      const [, test = "", by = ""] = /^(.*?)(\s+by\s.*)?$/is.exec(condition) ?? [];
      return `where ${testsOf(test)} | ${pipe}${by}`;
    },
    message: "Functions take no condition. Entries are chosen by `where` before the pipe",
  },
  {
    written: /^facets\s+(?:by\s+)?([^\s\d]\S*)$/i,
    meant: (_, by = "") => `top 10 by ${by}`,
    message: "`facets` takes a number. The values of one field are counted by `top`",
  },
  {
    written: /^patterns(?:\s+\d+)?\s+by\s+(.+)$/i,
    meant: (_, by = "") => `count by pattern, ${by}`,
    message: "`patterns` takes no fields. `pattern` is a field that others are counted with",
  },
  {
    written: /^(stats\b.*?\brate\s*\()\s*(\d\w*)\s*(\).*?)(?:\s+by\s+(.+))?$/i,
    meant: (_, before = "", length = "", rest = "", by = "") => `${before}${rest} by ${withSpan(by, length)}`,
    message: "`rate()` counts entries a second, in spans of time",
  },
  {
    written: /^(stats\b.*?\bcount)\s*\(\s*\*\s*\)/i,
    meant: (_, before = "") => `${before}()`,
    message: "`count()` counts all entries",
  },
  {
    written: new RegExp(`^(stats\\b.*?\\b(?:${FUNCTIONS}))\\s+(?!by\\b|as\\b)([A-Za-z_@$][\\w.@$-]*)`, "i"),
    meant: (_, before = "", field = "") => `${before}(${field})`,
    message: "The field of a function is in parentheses",
  },
  {
    written: /^(stats\b.*?\))\s+(?!by\b|as\b)([A-Za-z_]\w*)(?=\s*(?:,|by\b|$))/i,
    meant: (_, before = "", name = "") => `${before} as ${name}`,
    message: "The name of a column follows `as`",
  },
  {
    written: new RegExp(
      `^(.*?\\bby\\b.*?)\\b(?:time\\s+)?(?:${SPANS})\\s*\\(?\\s*(?:[\\w.@$]+\\s*,\\s*)?${LENGTH}(?:\\s*,\\s*[\\w.@$]+)?\\s*\\)?`,
      "i",
    ),
    meant: (_, before = "", ...[count = "", unit = ""]) => `${before}bin(${count}${unit.toLowerCase()})`,
    message: SPAN,
  },
  {
    written: /^(?:"|~\/)(.*)$/s,
    meant: (all = "") => `where ${testsOf(all)}`,
    message: WHERE,
  },
  {
    written: /^[=~]\s*"((?:[^"\\]|\\.)*)"$/s,
    meant: (all = "", text = "") => (all.startsWith("~") ? `where ${regexOf(unescaped(text))}` : `where "${text}"`),
    message: WHERE,
  },
  {
    written: /^(?!where\b)[@$\w][\w.@$-]*\s*(?::|==?|!=|[<>]).*$/s,
    meant: (all = "") => `where ${testsOf(all)}`,
    message: WHERE,
  },
];

const UNKNOWN = /^Unknown pipe `(\w+)`/;
/** Pipes that make members of texts that are members already. */
const NEEDLESS = /^(?:json|logfmt|unpack|unpack_json|unpack_logfmt|spath|parse_json)$/i;
/** Pipes that make new values. */
const MAKING = /^(?:eval|extend|let|rex|parse|extract|math|format|rename|replace|fillnull|strcat|calc|map)$/i;
const JOINING = /^(?:join|union|lookup|append|transaction|subsearch|multisearch)$/i;

/** What a suggestion is, and what of the query it replaces. UTF-16 offsets. */
export interface Meant extends QueryError {
  start?: number;
  end?: number;
}

/** Returns the error of a pipe with what it is here. */
export function foreignPipe(query: string, error: QueryError): Meant | null {
  const from = query.lastIndexOf("|", error.position - 1) + 1;
  const rest = query.slice(from, from + MAX_READ);
  const [whole = ""] = /^(?:[^|"]|"(?:[^"\\]|\\.)*"|")*/.exec(rest) ?? [];
  const written = whole.trim();
  if (from === 0 || written === "" || whole.length === MAX_READ) return null;
  const start = from + whole.indexOf(written);
  const end = start + written.length;
  const unwritten = impossible(written);
  if (unwritten !== null) return { ...withoutMeant(error), message: unwritten };
  for (const { written: form, meant, message } of REWRITES) {
    const groups = form.exec(written);
    const replaced = groups === null ? null : meant(...groups.map((group) => group ?? ""));
    if (groups === null || replaced === null) continue;
    const suggestion = (replaced + written.slice(groups[0].length)).trim();
    if (suggestion === written || !isBetter(query.slice(0, start) + suggestion, start, end, error)) continue;
    return { message, position: start, expected: error.expected, suggestion, start, end };
  }
  if (/\bbin\s*\([^()\d]*,/i.test(written) && error.message.endsWith("is not a duration"))
    return { ...withoutMeant(error), message: "`bin` makes spans of time, and takes a duration alone" };
  const isArgument = query.slice(0, error.position).trimEnd().endsWith("(") && /^\d/.test(query.slice(error.position));
  if (isArgument && error.message.endsWith("is not the name of a field")) return withoutMeant(error);
  const name = UNKNOWN.exec(error.message)?.[1] ?? "";
  return missingPipe(query, error, name, end);
}

/** Whether a query with a suggestion at its end is right, or wrong further on than before. @param end of what it replaces */
function isBetter(text: string, start: number, end: number, { position }: QueryError): boolean {
  const result = parse(text);
  if (result.ok) return true;
  const next = result.error.position;
  return next > start && (position === start || text.length - next < end - position);
}

const CALLED = new RegExp(`^(?:stats\\b|(?:${FUNCTIONS})\\s*\\()`, "i");

/** Returns why a pipe of another language has no counterpart; `null` if it may have one. */
function impossible(written: string): string | null {
  const bare = written.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  if (/^fields\s*-/i.test(bare)) return "`fields` names the columns that remain";
  if (/^(?:fields|table|columns|display|cut|keep|select|project)\s.*(?:[*=]|\sas\s)/is.test(bare))
    return "`fields` names each column by its field alone: `fields time, route`";
  const isArithmetic = CALLED.test(bare) && /\)\s*[-+*/%]\s*[\w("]/.test(bare);
  return isArithmetic ? "Columns are functions alone: queries make no new values" : null;
}

function withoutMeant({ message, position, expected }: QueryError): QueryError {
  return { message, position, expected };
}

function missingPipe(query: string, error: QueryError, name: string, end: number): Meant | null {
  const { position } = error;
  if (NEEDLESS.test(name)) {
    const [bar = "", next = ""] = /^\s*\|\s*([^|]*)/.exec(query.slice(end, end + MAX_READ)) ?? [];
    const message = `\`${name}\` is not needed: members of \`data\` are fields`;
    if (next.trim() === "") return { ...error, message };
    return { ...error, message, suggestion: next.trim(), start: position, end: end + bar.trimEnd().length };
  }
  if (MAKING.test(name)) return { ...error, message: `\`${name}\` does not exist: queries make no new values` };
  if (JOINING.test(name)) return { ...error, message: `\`${name}\` does not exist: a query reads one set of entries` };
  return null;
}
