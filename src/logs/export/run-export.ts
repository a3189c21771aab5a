import type { ReportUnreadable } from "../batch.ts";
import { ScanPacer } from "../query/budget.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import { EntryCheck, type TimeRange } from "./entry-check.ts";
import { NdjsonWriter } from "./ndjson.ts";
import { ParquetWriter } from "./parquet.ts";
import { projectLines, type RecentRange } from "./project-lines.ts";
import type { ColdLines } from "./segment-lines.ts";
import type { ExportFacts, ExportFormat, ExportWriter } from "./writer.ts";

/** What is exported. Times are epoch milliseconds, `from` inclusive, `to` exclusive. */
export interface ExportRequest {
  from: number | null;
  to: number | null;
  /** Excludes entries up to this `seq`. */
  afterSeq: number;
  format: ExportFormat;
}

/** The source of an export. */
export interface ExportSource {
  workspaceId: string;
  projectId: string;
  /** Reads a page of recent batches. The first call admits the request; every call checks the credential. */
  recent(range: { after: number; until: number }): Promise<RecentRange>;
  cold: ColdLines;
  report: ReportUnreadable;
}

/** What one response may use before it ends with `complete: false`. */
export interface ExportBudget {
  /** Work units: about 10 s of CPU, of the 30 s that the platform gives a request by default. */
  work: number;
  /** Milliseconds, so that slow clients do not keep others waiting. */
  time: number;
  /** Milliseconds between two checks of the credential while the cold tier is read. */
  recheck: number;
}

export const EXPORT_BUDGET: ExportBudget = { work: 6_500_000_000, time: 300_000, recheck: 5_000 };

/** An export that has been admitted. Its snapshot is what was committed then. */
export class Export {
  readonly #source: ExportSource;
  readonly #request: ExportRequest;
  readonly #budget: ExportBudget;
  readonly #opened: RecentRange;
  #unreadable = 0;
  /** Entries and their first and last `seq` so far. */
  count = 0;
  firstSeq: number | null = null;
  lastSeq: number | null = null;
  /** Everything up to this `seq` was read. */
  through: number;

  /** @returns `null` if `afterSeq` is beyond the newest entry */
  static async open(
    source: ExportSource,
    request: ExportRequest,
    budget: ExportBudget = EXPORT_BUDGET,
  ): Promise<Export | null> {
    const { afterSeq } = request;
    const opened = await source.recent({ after: afterSeq, until: afterSeq });
    return afterSeq > opened.lastSeq ? null : new Export(source, request, opened, budget);
  }

  private constructor(source: ExportSource, request: ExportRequest, opened: RecentRange, budget: ExportBudget) {
    this.#source = source;
    this.#request = request;
    this.#opened = opened;
    this.#budget = budget;
    this.through = request.afterSeq;
  }

  /** The last `seq` of the snapshot. */
  get until(): number {
    return this.#opened.lastSeq;
  }

  /** The times that are exported: those requested, without expired entries. */
  get times(): TimeRange {
    const { from, to } = this.#request;
    return { from: Math.max(from ?? 0, this.#opened.oldest), to };
  }

  /** Whether everything of the snapshot was read. */
  get isComplete(): boolean {
    return this.through >= this.until;
  }

  /** Yields the bytes of the export in order. Yields to other requests between its steps. */
  async *bytes(memory: ReadMemory = UNBOUNDED_MEMORY, clock: () => number = Date.now): AsyncGenerator<Uint8Array> {
    const { projectId } = this.#source;
    const report: ReportUnreadable = (fault, entries) => {
      this.#unreadable += entries;
      this.#source.report(fault, entries);
    };
    const pacer = new ScanPacer();
    const { meter } = pacer;
    const { times } = this;
    const writer = this.#writer(meter);
    const check = new EntryCheck(projectId, times, meter, report);
    const scope = { workspaceId: this.#source.workspaceId, projectId, times, report, pacer, memory };
    const range = { after: this.through, until: this.until };
    const startedAt = clock();
    let checkedAt = startedAt;
    const recent = (page: { after: number; until: number }) => {
      checkedAt = clock();
      return this.#source.recent(page);
    };
    const isSpent = () => meter.done >= this.#budget.work || writer.isFull || clock() - startedAt >= this.#budget.time;
    const read = projectLines({ recent, cold: this.#source.cold, scope }, range, this.#opened.flushedSeq);
    for await (const { lines, through } of read) {
      const entries = await paced(pacer, check.steps(lines));
      await paced(pacer, writer.add(entries));
      this.#count(entries.length, entries[0]?.seq, entries.at(-1)?.seq);
      this.through = through;
      yield* writer.take();
      await pacer.pause();
      // A response advances, however small its budget.
      if (isSpent() && through > this.#request.afterSeq) break;
      if (clock() - checkedAt >= this.#budget.recheck) await recent({ after: through, until: through });
    }
    await paced(pacer, writer.end(this.#facts()));
    yield* writer.take();
  }

  #writer(meter: ScanPacer["meter"]): ExportWriter {
    const { projectId } = this.#source;
    return this.#request.format === "parquet"
      ? new ParquetWriter(projectId, meter)
      : new NdjsonWriter(projectId, meter);
  }

  #count(entries: number, first: number | undefined, last: number | undefined): void {
    this.count += entries;
    this.firstSeq ??= first ?? null;
    this.lastSeq = last ?? this.lastSeq;
  }

  #facts(): ExportFacts {
    const { from, to, afterSeq, format } = this.#request;
    const { projectId } = this.#source;
    const { count, firstSeq, lastSeq, through, isComplete: complete } = this;
    const unreadable = this.#unreadable;
    const requested = { projectId, format, from: isoOf(from), to: isoOf(to), afterSeq };
    return { ...requested, count, firstSeq, lastSeq, through, complete, unreadable };
  }
}

function isoOf(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** Runs steps with a pause at each. */
async function paced<T>(pacer: ScanPacer, steps: Iterator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await pacer.pause();
  }
}
