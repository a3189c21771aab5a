import type { ReportUnreadable } from "../batch.ts";
import { ScanPacer, type WorkMeter } from "../query/budget.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import { EntryCheck, type TimeRange } from "./entry-check.ts";
import type { SeqRange } from "./line-lists.ts";
import { NdjsonWriter } from "./ndjson.ts";
import { ParquetWriter } from "./parquet.ts";
import { projectLines, type RecentRange } from "./project-lines.ts";
import { ColdCoverage, type ColdLines, type ReportDamage } from "./segment-lines.ts";
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
  /**
   * Counts the entries of a range that were moved to the cold tier, have not expired, and are not in its catalog.
   * @param renew is called at each step
   */
  missing(range: SeqRange, renew: () => void): Promise<number>;
}

/** What one response may use before it ends with `complete: false`. */
export interface ExportBudget {
  /** Work units: about 10 s of CPU, of the 30 s that the platform gives a request by default. */
  work: number;
  /** Milliseconds in which it holds its memory, so that slow clients do not keep others waiting. */
  time: number;
  /** Milliseconds from its start, in which it may have been suspended. */
  age: number;
  /** Milliseconds between two checks of the credential while the cold tier is read. */
  recheck: number;
}

export const EXPORT_BUDGET: ExportBudget = {
  work: 6_500_000_000,
  time: 300_000,
  age: 7_200_000,
  recheck: 5_000,
};

/** An export that has been admitted. Its snapshot is what was committed then. */
export class Export {
  readonly #source: ExportSource;
  readonly #request: ExportRequest;
  readonly #budget: ExportBudget;
  readonly #opened: RecentRange;
  readonly #pacer = new ScanPacer();
  readonly #writer: ExportWriter;
  readonly #coverage: ColdCoverage;
  /** Bytes that no run has yielded. */
  #ready: Uint8Array[] = [];
  /** Whether all bytes are ready or were yielded, so that nothing is left to read. */
  isWritten = false;
  /** When the first run began, and milliseconds of the runs that have ended. */
  #begunAt: number | null = null;
  #usedMs = 0;
  #unreadable = 0;
  /** What was reported as damaged: a run after a suspension finds it again. */
  readonly #faults = new Set<string>();
  #missing = 0;
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
    this.#writer = writerOf(source.projectId, request.format, this.#pacer.meter);
    this.#coverage = new ColdCoverage(request.afterSeq);
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

  /** Whether everything of the snapshot was read, and nothing of it is missing. */
  get isComplete(): boolean {
    return this.through >= this.until && this.#missing === 0;
  }

  /** Bytes in memory between two runs, about. */
  get heldBytes(): number {
    return this.#ready.reduce((sum, { length }) => sum + length, this.#writer.heldBytes);
  }

  /** Takes the next bytes that are ready after a run has ended; `undefined` if there are none. Needs no memory. */
  takeReady(): Uint8Array | undefined {
    return this.#ready.shift();
  }

  /**
   * Yields the bytes of the export in order. Yields to other requests between its steps. After a run that its caller ended, another one
   * continues with the next chunk. In between the export holds `heldBytes`.
   */
  async *bytes(memory: ReadMemory = UNBOUNDED_MEMORY, clock: () => number = Date.now): AsyncGenerator<Uint8Array> {
    const startedAt = clock();
    this.#begunAt ??= startedAt;
    try {
      yield* this.#written();
      if (!this.isWritten) yield* this.#read(memory, clock, startedAt);
    } finally {
      this.#usedMs += clock() - startedAt;
    }
  }

  async *#read(memory: ReadMemory, clock: () => number, startedAt: number): AsyncGenerator<Uint8Array> {
    const { workspaceId, projectId, cold } = this.#source;
    const report: ReportDamage = (fault, entries, block) => {
      const damage = JSON.stringify([fault.message, block]);
      if (this.#faults.has(damage)) return;
      this.#faults.add(damage);
      this.#unreadable += entries;
      this.#source.report(fault, entries);
    };
    const pacer = this.#pacer;
    const writer = this.#writer;
    const { meter } = pacer;
    const { times } = this;
    const check = new EntryCheck(projectId, times, meter, report);
    const scope = { workspaceId, projectId, times, report, pacer, memory, coverage: this.#coverage };
    const range = { after: this.through, until: this.until };
    let checkedAt = startedAt;
    const recent = (page: SeqRange) => {
      checkedAt = clock();
      return this.#source.recent(page);
    };
    const { work, time, age, recheck } = this.#budget;
    const isSpent = () => {
      const [used, old] = [this.#usedMs + clock() - startedAt, clock() - (this.#begunAt ?? startedAt)];
      return meter.done >= work || writer.isFull || used >= time || old >= age;
    };
    const read = projectLines({ recent, cold, scope }, range, this.#opened.flushedSeq);
    for await (const { lines, through } of read) {
      const entries = await paced(pacer, check.steps(lines));
      await paced(pacer, writer.add(entries));
      this.#count(entries.length, entries[0]?.seq, entries.at(-1)?.seq);
      this.through = through;
      yield* this.#written();
      await pacer.pause();
      // A response advances, however small its budget.
      if (isSpent() && through > this.#request.afterSeq) break;
      if (clock() - checkedAt >= recheck) await recent({ after: through, until: through });
    }
    if (!this.#coverage.isWhole) {
      const stated = { after: this.#request.afterSeq, until: this.through };
      const count = () => this.#source.missing(stated, () => memory.renew());
      // Everything else was sent, and is of no use without the manifest.
      this.#missing = await count().catch(count);
    }
    await paced(pacer, writer.end(this.#facts()));
    this.isWritten = true;
    yield* this.#written();
  }

  *#written(): Generator<Uint8Array> {
    this.#ready.push(...this.#writer.take());
    for (let chunk = this.#ready.shift(); chunk !== undefined; chunk = this.#ready.shift()) yield chunk;
  }

  #count(entries: number, first: number | undefined, last: number | undefined): void {
    this.count += entries;
    this.firstSeq ??= first ?? null;
    this.lastSeq = last ?? this.lastSeq;
  }

  #facts(): ExportFacts {
    const { from, to, afterSeq, format } = this.#request;
    const { projectId } = this.#source;
    const { count, firstSeq, lastSeq, through, until, isComplete: complete } = this;
    const [unreadable, missing] = [this.#unreadable, this.#missing];
    const requested = { projectId, format, from: isoOf(from), to: isoOf(to), afterSeq };
    return { ...requested, count, firstSeq, lastSeq, through, complete, unreadable, until, missing };
  }
}

function writerOf(projectId: string, format: ExportFormat, meter: WorkMeter): ExportWriter {
  return format === "parquet" ? new ParquetWriter(projectId, meter) : new NdjsonWriter(projectId, meter);
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
