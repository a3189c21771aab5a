import type { CategorizedLabels } from "../../logql/labels.ts";
import { type LokiEntry, Pipeline, selectorTest } from "../../logql/pipeline.ts";
import type { LogExpression } from "../../logql/syntax.ts";
import { parseStoredLine } from "../entry.ts";
import { logId } from "../entry-view.ts";
import type { Cursor } from "../query/cursor.ts";
import { compareRows, type Order, type RowKey } from "../query/feed.ts";
import type { LogFilter } from "../query/filter.ts";
import { ObjectWork } from "../query/json-bytes.ts";
import { runQuery } from "../query/run-query.ts";
import { compileFilter } from "../search/compile-filter.ts";
import { SharedMemory } from "../search/entry-rows.ts";
import { lokiEntryOf } from "./loki-entry.ts";
import { LokiLimit, type LokiReading, narrowedReading, readAll, TOO_MUCH_WORK } from "./reading.ts";
import { QueryRegexes } from "./regexes.ts";
import { selectorFilter } from "./selector-filter.ts";

/** A query for entries. Times are epoch milliseconds, `from <= timestamp < to`. */
export interface LogsQuery {
  expression: LogExpression;
  from: number;
  to: number;
  order: Order;
  limit: number;
  /** Milliseconds that two entries of the answer are apart at least; 0: all entries. */
  interval: number;
}

/** An entry of an answer. */
export interface LogResult extends RowKey {
  line: string;
  labels: CategorizedLabels;
}

/** Bytes of the entries of one answer. */
const MAX_BYTES = 12 * 1024 * 1024;
/** Approximate bytes of an entry beside its texts, and of a label. */
const RESULT_BYTES = 300;
const LABEL_BYTES = 80;
/** Entries of a page, and pages that are read in order before all entries of the range are. */
const PAGE_ROWS = 1000;
const ORDERED_PAGES = 3;
/** Work units of running the stages for a row, and each of its characters. */
const ROW_WORK = 3000;
const CHARACTER_WORK = 8;

/**
 * Returns the first entries of an order that pass.
 * @throws LogqlError, LokiLimit
 */
export async function runLogs(reading: LokiReading, query: LogsQuery): Promise<LogResult[]> {
  const { expression, from, to, order, limit } = query;
  const run = new LogsRun(narrowedReading(reading, expression.stages), query);
  const filter = { ...compileFilter(selectorFilter(expression.matchers), 0), from, to };
  const isSelectorAlone = expression.stages.length === 0;
  let cursor: Cursor | null = null;
  for (let pages = 0; ; pages++) {
    const rows = isSelectorAlone && query.interval === 0 ? Math.min(limit - run.results.length, PAGE_ROWS) : PAGE_ROWS;
    const page = await run.page(filter, rows, cursor);
    cursor = page.cursor;
    if (cursor === null || run.results.length >= limit) return run.results;
    if (reading.pacer.meter.done >= reading.budget.work) throw new LokiLimit(TOO_MUCH_WORK);
    // Pages cost more than a scan if few entries pass.
    const { last } = page;
    if (isSelectorAlone || query.interval > 0 || pages + 1 < ORDERED_PAGES || last === null) continue;
    const rest = order === "asc" ? { from: last.timestamp, to } : { from, to: last.timestamp + 1 };
    await run.scan({ ...filter, ...rest }, last, page.commit);
    return run.results;
  }
}

class LogsRun {
  readonly results: LogResult[] = [];
  readonly #reading: LokiReading;
  readonly #query: LogsQuery;
  readonly #passes: ReturnType<typeof selectorTest>;
  readonly #pipeline: Pipeline;
  readonly #objects = new ObjectWork();
  #bytes = 0;
  #lastTime: number | null = null;

  constructor(reading: LokiReading, query: LogsQuery) {
    this.#reading = reading;
    this.#query = query;
    const regexes = new QueryRegexes(reading.pacer.meter);
    this.#passes = selectorTest(query.expression.matchers, regexes.compile);
    this.#pipeline = new Pipeline(query.expression, regexes);
  }

  async page(filter: LogFilter, limit: number, cursor: Cursor | null) {
    const { source, budget, memory, pacer } = this.#reading;
    const { order } = this.#query;
    const left = { ...budget, work: Math.max(1, budget.work - pacer.meter.done) };
    const wanted = { projectId: null, filter, order, offset: 0, limit, cursor, includeTotal: false };
    const asked = { ...wanted, asOf: cursor?.asOf ?? null };
    const result = await runQuery(source, asked, () => 0, left, new SharedMemory(memory, this.#bytes));
    if (!result.ok) throw new LokiLimit(TOO_MUCH_WORK);
    pacer.meter.add(result.work);
    const { rows } = result.page;
    for (const row of rows) {
      const line = Buffer.from(row.line, "latin1");
      await pacer.pause(ROW_WORK + line.length * CHARACTER_WORK + this.#objects.of(line, 0, line.length));
      if (pacer.meter.done >= budget.work) throw new LokiLimit(TOO_MUCH_WORK);
      const { seq, projectId, timestamp, receivedAt } = row;
      const entry = parseStoredLine(line.toString("utf8"));
      if (entry === null || this.results.length >= this.#query.limit) continue;
      const place = { timestamp, receivedAt, seq, projectId, id: logId(projectId, seq) };
      const found = this.#resultOf(lokiEntryOf(entry, place), row);
      if (found === null || !this.#isApart(timestamp)) continue;
      this.#hold(found);
      this.results.push(found);
    }
    return { cursor: result.cursor, last: rows.at(-1) ?? null, commit: result.snapshot.commit };
  }

  /** Reads all entries behind a key, and keeps the first of them. */
  async scan(filter: LogFilter, after: RowKey, commit: number): Promise<void> {
    const { order, limit } = this.#query;
    const wanted = limit - this.results.length;
    const compare = (a: RowKey, b: RowKey) => compareRows(order, a, b);
    let kept: LogResult[] = [];
    const trim = (): void => {
      kept.sort(compare);
      for (const each of kept.slice(wanted)) this.#bytes -= bytesOf(each);
      kept = kept.slice(0, wanted);
    };
    await readAll(
      this.#reading,
      filter,
      (entry, seq) => {
        const key = { timestamp: entry.timestamp, seq, projectId: entry.stream.get("project") ?? "" };
        const last = kept.length >= wanted ? kept[wanted - 1] : undefined;
        if (compare(after, key) >= 0 || (last !== undefined && compare(last, key) < 0)) return true;
        const found = this.#resultOf(entry, key);
        if (found === null) return true;
        this.#hold(found);
        kept.push(found);
        if (kept.length >= 2 * wanted) trim();
        return true;
      },
      commit,
    );
    trim();
    this.results.push(...kept);
  }

  #resultOf(entry: LokiEntry, { timestamp, seq, projectId }: RowKey): LogResult | null {
    if (!this.#passes(entry.stream)) return null;
    const processed = this.#pipeline.run(entry);
    return processed && { timestamp, seq, projectId, line: processed.line, labels: processed.labels.categorized() };
  }

  #isApart(timestamp: number): boolean {
    const { interval } = this.#query;
    if (this.#lastTime !== null && Math.abs(timestamp - this.#lastTime) < interval) return false;
    this.#lastTime = timestamp;
    return true;
  }

  /** @throws LokiLimit */
  #hold(result: LogResult): void {
    this.#bytes += bytesOf(result);
    if (this.#bytes <= MAX_BYTES && this.#reading.memory.canHoldState(this.#bytes)) return;
    throw new LokiLimit("the entries of the answer are too large together: lower the limit, or select fewer entries");
  }
}

function bytesOf({ line, labels }: LogResult): number {
  let bytes = RESULT_BYTES + 2 * line.length;
  for (const set of Object.values(labels))
    for (const [name, value] of set) bytes += LABEL_BYTES + 2 * (name.length + value.length);
  return bytes;
}
