import { MAX_ROWS, typeOfField } from "../aggregate/table.ts";
import { compareTexts } from "../aggregate/values.ts";
import { parseStoredLine } from "../entry.ts";
import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import type { WorkMeter } from "../query/budget.ts";
import type { LineSource } from "../query/feed.ts";
import { ObjectWork } from "../query/json-bytes.ts";
import { FACET_MEMBERS, FacetColumns } from "../segments/scan/facet-columns.ts";
import type { CountSink, RowSink } from "../stats/count-feed.ts";
import { type Counter, countInto, type MadeTable } from "./counter.ts";
import { FACET_LIMITS, FacetCounts } from "./facet-counts.ts";
import type { PipeOf, TablePipe } from "./search-plan.ts";
import type { SearchRun } from "./search-query.ts";
import { jsonBytes } from "./value-table.ts";

/** The fields of entries with their most frequent values. */

/** Work units of parsing a line and each of its bytes. */
const LINE_WORK = 1500;
const LINE_BYTE_WORK = 6;

const MEMBERS = [
  ["level", FACET_MEMBERS.level],
  ["category", FACET_MEMBERS.category],
  ["type", FACET_MEMBERS.type],
  ["session", FACET_MEMBERS.session],
  ["traceId", FACET_MEMBERS.traceId],
  ["spanId", FACET_MEMBERS.spanId],
  ["service", "service"],
  ["host", "host"],
] as const;

export class FacetSink implements CountSink {
  readonly takesCounts = false;
  readonly needsLevelsAlone = false;
  readonly isFull = false;
  readonly full = null;
  matched = 0;
  examined = 0;
  readonly rows: RowSink;
  readonly #counts: FacetCounts;
  readonly #meter: WorkMeter;
  readonly #objects = new ObjectWork();

  constructor(counts: FacetCounts, meter: WorkMeter) {
    this.#counts = counts;
    this.#meter = meter;
    this.rows = new FacetColumns(counts, meter, (rows) => {
      this.matched += rows;
    });
  }

  add(): void {
    throw new RangeError("Stored counts have no fields.");
  }

  addLevel(): void {
    this.add();
  }

  scanned(count: number): void {
    this.examined += count;
  }

  addLine({ raw, start, end }: LineMatch, lines: LineSource, _matcher: BatchMatcher): boolean {
    this.#meter.add(LINE_WORK + (end - start) * LINE_BYTE_WORK + this.#objects.of(raw, start, end));
    const entry = parseStoredLine(raw.toString("utf8", start, end));
    if (entry === null) return false;
    const counts = this.#counts;
    counts.begin();
    this.matched++;
    for (const [name, own] of MEMBERS) {
      const value = entry[name];
      if (value !== undefined) counts.addValue(own, value);
    }
    counts.addValue("project", lines.projectId);
    counts.addAll(entry.data ?? {}, []);
    return true;
  }
}

export function facetCounter(search: SearchRun, pipe: PipeOf<"facets">, tablePipes: readonly TablePipe[]): Counter {
  const { memory, pacer } = search.reading;
  const counts = new FacetCounts((bytes) => memory.canHoldRows(bytes), pacer.meter);
  const sink = new FacetSink(counts, pacer.meter);
  const scan = () => countInto(search, search.filter, sink);
  return { sink, scan, finish: () => finish(search, pipe, counts), tablePipes };
}

/** Work units of ordering and writing a value. */
const SHOWN_WORK = 1000;

async function finish({ reading }: SearchRun, { limit }: PipeOf<"facets">, counts: FacetCounts): Promise<MadeTable> {
  const { memory, pacer, budget } = reading;
  const fields = [...counts.fields].sort(([a, { entries: m }], [b, { entries: n }]) => n - m || (a < b ? -1 : 1));
  const rows: string[] = [];
  const cut: string[] = [];
  let [bytes, types, all] = [0, 0, 0];
  for (const [name, { entries, types: own, values, isCut }] of fields) {
    const type = typeOfField(null, own);
    types |= own;
    if (isCut) cut.push(name);
    const ordered = [...values].sort(([a, { count: m }], [b, { count: n }]) => n - m || compareTexts(a, b));
    const shown = ordered.slice(0, limit ?? FACET_LIMITS.values);
    const texts = shown.length === 0 ? ["null,null"] : shown.map(([text, { count }]) => `${text},${count}`);
    for (const text of texts) {
      const row = `[${jsonBytes(name)},"${type}",${entries},${text}]`;
      all++;
      bytes += row.length;
      if (rows.length < MAX_ROWS && bytes <= budget.answerBytes) rows.push(row);
    }
    memory.renew();
    await pacer.pause(SHOWN_WORK * (1 + values.size));
  }
  const notes: string[] = [];
  if (rows.length < all) notes.push(`The table has the first ${counted(rows.length)} of ${counted(all)} rows.`);
  if (counts.isCut) notes.push(`There are more than ${counted(counts.fields.size)} fields: some are missing.`);
  if (cut.length > 0) {
    const shown = cut.slice(0, SHOWN_FIELDS).map((name) => `\`${name}\``);
    const others = cut.length > SHOWN_FIELDS ? ` and ${counted(cut.length - SHOWN_FIELDS)} others` : "";
    notes.push(
      `${shown.join(", ")}${others}: too many or too long values to count all of them; frequent ones may be missing.`,
    );
  }
  const columns = [
    { name: "field", type: "string" as const },
    { name: "type", type: "string" as const },
    { name: "entries", type: "number" as const },
    { name: "value", type: typeOfField(null, types) },
    { name: "count", type: "number" as const },
  ];
  return { columns, rows, exact: cut.length === 0 && !counts.isCut, isCut: rows.length < all, notes, levels: [] };
}

/** Fields that a note names. */
const SHOWN_FIELDS = 10;

function counted(number: number): string {
  return number.toLocaleString("en-US");
}
