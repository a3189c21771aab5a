import { z } from "zod";
import type { SearchAnswer, SearchedRange } from "../../logs/search/search-query.ts";
import { parse } from "../../query-language/parse.ts";
import { type Answer, answerOf, type NamedTable } from "../answer.ts";
import { asked, QUERY, shownQuestion } from "../arguments.ts";
import type { Table } from "../compact-table.ts";
import { tableOf } from "../rows.ts";
import { gapsIn, projectOf, ToolFault, type ToolPorts, tool } from "../tool.ts";

/** Entries of one answer, at most and without `limit`. */
const ENTRIES = 100;
const PAGE = 50;
/** Patterns that an answer begins with if more entries match than it has. */
const PATTERNS = 12;

const searchInput = z.strictObject({
  query: QUERY.describe("Filter of the query language; `*`: all. E.g. `level:>=error service:api time:1h timeout`"),
  limit: z.int().min(1).max(ENTRIES).optional().describe(`Entries: default ${PAGE}. Rows of a table: default all.`),
  ...asked,
});

export const searchLogs = tool({
  name: "search_logs",
  title: "Search logs",
  description:
    "Newest entries that match. If many match, their patterns come first. Errors say how to correct the query; `describe` has a card of the language.",
  input: searchInput,
  question: ({ query }) => shownQuestion(query),
  run: (args, ports) => answerSearch(ports, args, { withPatterns: true }),
});

export const aggregateLogs = tool({
  name: "aggregate_logs",
  title: "Aggregate logs",
  description:
    "A table over all entries that match: `| count by level`, `| stats count(), p99(ms) by route, bin(5m)`, `| top 10 by user.id`, `| facets 5`.",
  input: z.strictObject({ query: QUERY.describe("Filter, then at least one pipe that makes a table."), ...asked }),
  question: ({ query }) => shownQuestion(query),
  run: async (args, ports) => {
    const parsed = parse(args.query);
    if (parsed.ok && parsed.columns === null) {
      throw new ToolFault(
        "query: Has no pipe that makes a table, such as `| count by level`. For entries use search_logs.",
      );
    }
    return answerSearch(ports, args);
  },
});

export const logPatterns = tool({
  name: "log_patterns",
  title: "Log patterns",
  description:
    "Kinds of messages with first and last time, an example, and counts that add up to all matches. With `vs` also the same range that much earlier: `before:0` is new, `count:0` is gone.",
  input: z.strictObject({
    query: QUERY.default("*").describe("Filter without pipes."),
    vs: z
      .string()
      .regex(/^[1-9]\d{0,3}[smhdw]$/, "Must be a duration such as 1h or 1d.")
      .optional()
      .describe("Duration such as 1d."),
    ...asked,
  }),
  question: ({ query, vs }) => shownQuestion(vs === undefined ? query : `${query} | patterns vs ${vs}`),
  run: async ({ query, vs, ...args }, ports) => {
    const text = filterText(query);
    const piped = `${text} | patterns${vs === undefined ? "" : ` vs ${vs}`}`;
    return answerSearch(ports, { ...args, query: piped }, { describesPatterns: true });
  },
});

/** Returns a filter to which pipes can be added. @throws ToolFault for a query with pipes */
function filterText(query: string): string {
  const text = query.trim() === "" ? "*" : query;
  const parsed = parse(text);
  if (parsed.ok && parsed.query.pipes.length > 0) throw new ToolFault("query: Must be a filter without pipes.");
  return text;
}

type Asked = z.output<typeof searchInput>;

interface Shown {
  /** Whether the patterns of all matches come before the entries of an answer that has not all. */
  withPatterns?: boolean;
  /** Whether the rows are patterns with their times and an example. */
  describesPatterns?: boolean;
}

/** What an answer keeps of a search. */
type Kept = Pick<SearchAnswer, "kind" | "matched" | "exact" | "complete" | "asOf"> & {
  table: ReturnType<typeof tableOf>;
  cursor: string | null;
  notes: readonly string[];
  range: SearchedRange;
};

/** Answers a query. An answer that is cut has `next`, which continues on the same entries. */
async function answerSearch(
  ports: ToolPorts,
  wanted: Asked,
  { withPatterns = false, describesPatterns = false }: Shown = {},
): Promise<Answer> {
  const { query, limit, from, to, as_of, next, max_tokens } = wanted;
  const project = projectOf(ports, wanted.project);
  const place = next === undefined ? null : placeOf(next);
  const body = {
    query,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(project === null ? {} : { projectId: project.id }),
  };
  const asOf = place?.asOf ?? as_of;
  const start = place?.cursor !== undefined ? { cursor: place.cursor } : asOf === undefined ? {} : { asOf };
  const search = (more: object) => ports.search({ ...body, ...start, ...more }, keep, { describesPatterns });
  const parsed = parse(query);
  const isTable = parsed.ok && parsed.columns !== null;
  // A table is cut here: the service leaves out what follows a limit, and its answer does not state that.
  const found = await search(isTable ? {} : { limit: limit ?? PAGE });
  refuseEmptyRange(found.range);
  const skipped = isTable ? (place?.rows ?? 0) : 0;
  const shown = describesPatterns ? withoutPlainExamples(found.table) : found.table;
  const end = isTable && limit !== undefined ? skipped + limit : shown.rows.length;
  const table = { ...shown, rows: shown.rows.slice(skipped, end) };
  const isMany = withPatterns && !isTable && found.cursor !== null && next === undefined;
  const patterns = isMany && hasNoPipes(query) ? await patternsOf(ports, { ...body, asOf: found.asOf }) : null;
  const nextAfter = async (rows: number) => {
    if (isTable) return `t${skipped + rows}.${found.asOf}`;
    if (rows === table.rows.length) return found.cursor;
    // The same page, as long as what fits: its cursor continues behind the last row.
    return (await ports.search({ ...body, ...start, ...(start.cursor ? {} : { asOf: found.asOf }), limit: rows }, keep))
      .cursor;
  };
  const counted = patterns ?? found;
  const head = {
    matched: counted.matched,
    range: rangeText(found.range),
    exact: counted.exact && counted.complete,
    as_of: found.asOf,
    gaps: gapsIn(ports, project?.id ?? null, found.range),
  };
  const hasMore = isTable ? end < shown.rows.length : found.cursor !== null;
  const incomplete = found.complete
    ? []
    : ["The limit of work was reached: older entries are missing. Narrow the times."];
  const notes = [...incomplete, ...cutNotes(query, found.table), ...found.notes];
  const nextCharacters = isTable ? found.asOf.length + 8 : Math.max(found.cursor?.length ?? 0, CURSOR_CHARACTERS) + 20;
  const spare = describesPatterns ? "example" : undefined;
  const draft = { head, first: patterns?.first, rows: table, spare, hasMore, nextCharacters, nextAfter, notes };
  return answerOf(draft, max_tokens);
}

function keep(answer: SearchAnswer & { range: SearchedRange }): Kept {
  const { kind, matched, exact, complete, asOf, notes, range } = answer;
  const cursor = answer.kind === "entries" ? answer.nextCursor : null;
  return { kind, matched, exact, complete, asOf, notes, range, cursor, table: tableOf(answer) };
}

/** Leaves out examples that say no more than their pattern. */
function withoutPlainExamples(table: Table): Table {
  const [pattern, example] = ["pattern", "example"].map((name) => table.columns.indexOf(name));
  const rows = table.rows.map((row) => {
    const isPlain = String(row[pattern ?? -1]).startsWith(String(row[example ?? -1]));
    return isPlain ? row.map((cell, at) => (at === example ? null : cell)) : row;
  });
  return { ...table, rows };
}

/** Refuses an empty range, whose answer would look like one without matches. @throws ToolFault */
function refuseEmptyRange(range: SearchedRange): void {
  const { from, to } = range;
  if (from === null || to === null || from < to) return;
  throw new ToolFault(
    `from, to: Together with the times in the query, the range is ${rangeText(range)}, which ends before it begins. Nothing was searched.`,
  );
}

function rangeText({ from, to }: SearchedRange): string {
  return from === null && to === null ? "all" : `${from ?? ""}..${to ?? ""}`;
}

/** Returns a note if a pipe of a query may have left out rows of its table. */
function cutNotes(query: string, { columns, rows }: Table): string[] {
  const parsed = parse(query);
  if (!parsed.ok || parsed.columns === null) return [];
  const field = columns.indexOf("field");
  const fields = rows.map((row) => row[field]);
  // The limit of `facets` is of the rows of each field.
  const most = (kind: string) => (kind === "facets" ? mostEqual(fields) : rows.length);
  for (const pipe of parsed.query.pipes) {
    // The service adds this note for `patterns`.
    if (!("limit" in pipe) || pipe.kind === "patterns" || pipe.limit === null || most(pipe.kind) < pipe.limit) continue;
    return [`\`${pipe.kind} ${pipe.limit}\` may have left out further ${pipe.kind === "facets" ? "values" : "rows"}.`];
  }
  return [];
}

/** Returns the length of the longest run of equal values. */
function mostEqual(values: readonly unknown[]): number {
  let [most, run] = [0, 0];
  for (const [at, value] of values.entries()) {
    run = at > 0 && values[at - 1] === value ? run + 1 : 1;
    most = Math.max(most, run);
  }
  return most;
}

function hasNoPipes(query: string): boolean {
  const parsed = parse(query);
  return parsed.ok && parsed.query.pipes.length === 0;
}

async function patternsOf(ports: ToolPorts, body: { query: string; asOf: string }) {
  const query = `${filterText(body.query)} | patterns ${PATTERNS}`;
  const { table, matched, exact, complete } = await ports.search({ ...body, query }, keep);
  const first: NamedTable = { name: "patterns", ...table };
  return { first, matched, exact, complete };
}

interface Place {
  cursor?: string;
  /** Rows of a table before the place. */
  rows?: number;
  asOf?: string;
}

/** Usual characters of a cursor. */
const CURSOR_CHARACTERS = 150;

const OF_TABLE = /^t(\d{1,5})\.(.+)$/;

function placeOf(next: string): Place {
  const [, rows, asOf] = OF_TABLE.exec(next) ?? [];
  return rows === undefined || asOf === undefined ? { cursor: next } : { rows: Number(rows), asOf };
}
