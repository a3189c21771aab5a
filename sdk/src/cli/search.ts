import { type ParseResult, parse } from "../../../src/query-language/parse.ts";
import { readByPost } from "./api.ts";
import type { SearchCommand } from "./commands.ts";
import { compactSearch } from "./compact-search.ts";
import { csvLines, entryCsv } from "./csv.ts";
import { EXIT } from "./failure.ts";
import { type Io, notice, writeLine } from "./io.ts";
import { jsonLine, prettyLine, shown } from "./pretty.ts";
import { entriesOf } from "./query.ts";
import { record } from "./record.ts";
import { sparkLines } from "./sparkline.ts";
import { readTable, type Table, tableLines } from "./table.ts";

/** Entries of a page. The limit of the service. */
const PAGE = 1000;
/** Rows and entries that are printed if neither `--max-rows` nor `--all` is given. */
const DEFAULT_ROWS = 100;

/** Prints the entries or the table that a query finds. */
export async function search(io: Io, command: SearchCommand): Promise<number> {
  const { service, project, query, from, to, asOf, maxTokens } = command;
  if (maxTokens !== null) return compactSearch(io, command, maxTokens);
  const request = {
    query,
    ...(project === null ? {} : { projectId: project }),
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { to }),
    ...(asOf === null ? {} : { asOf }),
  };
  const parsed = parse(query);
  const maxRows = command.maxRows ?? limitOf(parsed);
  // All rows of a table, because bars need them. The service reports the faults of a query: it may be of a later version.
  const isTable = parsed.ok && parsed.columns !== null;
  const limit = isTable ? {} : { limit: Math.min(maxRows ?? DEFAULT_ROWS, PAGE) };
  const answer = record(await readByPost(io, service, "/logger/search", { ...request, ...limit }, false));
  if (answer?.kind === "table") return printTable(io, { ...command, maxRows }, answer);
  return printEntries(io, { ...command, maxRows }, request, answer);
}

/** Returns the number of the last `limit` of a query that no pipe with more rows follows; `null` if there is none. */
function limitOf(parsed: ParseResult): number | null {
  const last = parsed.ok ? parsed.query.pipes.findLast(({ kind }) => !KEEPING.has(kind)) : undefined;
  if (last?.kind === "top" || last?.kind === "rare" || last?.kind === "patterns") return last.limit;
  return last?.kind === "limit" ? last.limit : null;
}

/** Pipes that leave as many rows or fewer. */
const KEEPING: ReadonlySet<string> = new Set(["where", "sort", "fields"]);

type Answer = Record<string, unknown> | null;

async function printEntries(io: Io, command: SearchCommand, request: object, first: Answer): Promise<number> {
  const { service, json, csv, colors, maxRows } = command;
  let left = maxRows ?? DEFAULT_ROWS;
  if (csv) await writeLine(io, entryCsv(null));
  for (let answer = first; ; ) {
    const matches = Array.isArray(answer?.matches) ? new Set<unknown>(answer.matches) : null;
    for (const [place, entry] of entriesOf(answer?.logs).entries()) {
      // Beside neighbours, which `context` adds, a match is marked.
      const mark = matches === null ? "" : matches.has(place) ? "> " : "  ";
      await writeLine(io, json ? jsonLine(entry) : csv ? entryCsv(entry) : `${mark}${prettyLine(entry, colors)}`);
      left--;
    }
    const cursor = answer?.nextCursor;
    if (typeof cursor === "string" && left <= 0 && maxRows === null) {
      // That older ones match is not known before they are read.
      notice(io, `The first ${DEFAULT_ROWS} entries; more may match. For more: --all or --max-rows`);
    }
    if (typeof cursor !== "string" || left <= 0) return finish(io, command, answer);
    const body = { ...request, cursor, limit: Math.min(left, PAGE) };
    answer = record(await readByPost(io, service, "/logger/search", body, true));
  }
}

async function printTable(io: Io, command: SearchCommand, answer: Answer): Promise<number> {
  const { json, csv, colors, maxRows, query } = command;
  const isRaw = json || csv;
  // Data for other programs is not cut unless a limit is given.
  const most = maxRows ?? (isRaw ? Number.POSITIVE_INFINITY : DEFAULT_ROWS);
  const table = readTable(answer);
  const printed: Table = { ...table, rows: table.rows.slice(0, most) };
  const lines = csv ? csvLines(printed) : tableLines(printed, json, colors);
  if (!isRaw) for (const line of sparkLines(table, binOf(query), colors)) await writeLine(io, line);
  for (const line of lines) await writeLine(io, line);
  const hidden = table.rows.length - printed.rows.length;
  if (hidden > 0) notice(io, `${hidden} more rows. For all of them: --all`);
  return finish(io, command, answer);
}

/** Prints what the service notes about an answer, and what was read for it. */
function finish(io: Io, { json, csv }: SearchCommand, answer: Answer): number {
  for (const note of Array.isArray(answer?.notes) ? answer.notes : []) notice(io, shown(String(note)));
  if (!json && !csv && io.stdout.isTTY === true && answer !== null) notice(io, summaryOf(answer));
  else if (answer?.matched === 0) notice(io, "0 entries matched");
  return answer?.complete === false ? EXIT.incomplete : EXIT.ok;
}

function summaryOf({ matched, scanned, exact, tookMs, asOf, kind, range }: Record<string, unknown>): string {
  const count = (value: unknown) => Number(value).toLocaleString("en-US");
  // Of entries, `exact: false` says that more of them may match than were read.
  const about = kind === "entries" && exact === false ? "at least " : "";
  return `${about}${count(matched)} entries matched, ${count(scanned)} scanned${timesOf(record(range))}, ${count(tookMs)} ms; --as-of ${shown(String(asOf))}`;
}

/** Returns the times that were searched. Services of earlier versions do not name them. */
function timesOf(range: Record<string, unknown> | null): string {
  if (range === null) return "";
  const [from, to] = [range.from, range.to].map((time) => (typeof time === "string" ? shown(time) : null));
  if (from === null && to === null) return " of all times";
  return `${from === null ? "" : ` from ${from}`}${to === null ? "" : ` to ${to}`}`;
}

/** Returns the milliseconds of the last `bin` of a query; `null` if its table has no spans of time. */
function binOf(query: string): number | null {
  const result = parse(query);
  if (!result.ok) return null;
  const keys = result.query.pipes.flatMap((pipe) => ("by" in pipe && Array.isArray(pipe.by) ? pipe.by : []));
  const bin = keys.findLast((key) => key.kind === "bin");
  return bin?.kind === "bin" ? bin.ms : null;
}
