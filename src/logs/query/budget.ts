import { readScheduler, requestsStarted } from "../../platform/turns.ts";

/** Limits of a query. Those in the HTTP contract are from there. */
export const QUERY_LIMITS = {
  offset: 10_000,
  /** Rows of one page. */
  limit: 1000,
  limitDefault: 100,
  /** Characters of `search`. A substring search in hostile text costs the product of both lengths. */
  search: 512,
  /** Values in a list of categories, types or `in`. */
  values: 1000,
  /** Paths in `data`. */
  paths: 100,
  /** Names in a path: twice the depth of stored `data`. */
  pathNames: 64,
} as const;

/** What one request may use before its answer is partial. Work units are defined below, at `UNIT_NS`. */
export interface QueryBudget {
  /** Work units of one page or histogram, 1.25 s. Finding batches and segments counts, too; see `SegmentPager`. */
  work: number;
  /** Bytes of the lines held during a scan, including those of an offset's rows. Bounds the isolate's memory. */
  heldBytes: number;
  /** Bytes of the lines in one response. */
  answerBytes: number;
  /** Rows that one resumable scan finds. Each takes about 30 characters of the cursor. */
  resumableRows: number;
}

export const QUERY_BUDGET: QueryBudget = {
  work: 800 * 1024 * 1024,
  heldBytes: 6 * 1024 * 1024,
  answerBytes: 4 * 1024 * 1024,
  resumableRows: 100,
};

const MIB = 1024 * 1024;

/**
 * Budget of a search, and of a table of aggregations, which a search can ask for, too: a request takes one and a half
 * times its work at most, 20 s.
 */
export const SEARCH_BUDGET: QueryBudget = { ...QUERY_BUDGET, work: 8475 * MIB };

/**
 * Nanoseconds of a work unit: decoding one byte of stored lines and scanning it, about 1.5 ns of one core.
 * Work is counted because a clock cannot be used: in workerd `Date.now` does not advance while code runs. `npm run
 * bench:work` measures every number below and prints it beside the value used here.
 */
export const UNIT_NS = 1.5;

export const WORK = {
  /** Opening a batch or a block: its columns, a decompression context, its first line. */
  item: 6_000,
  /** Reading a part of a segment, and each byte of its batch table. */
  segment: 12_000,
  batchTableByte: 8,
  /** One byte of stored lines, decoded and scanned. */
  byte: 1,
  /** One line: finding its end, time, level, category and type. */
  line: 100,
  /** One byte of a line that is read as JSON, and such a line. */
  readByte: 2,
  readLine: 250,
  /** One test of `data` on one entry. */
  condition: 20,
  /**
   * Decoding one string of an entry, and each of its bytes: ASCII, escaped, and not ASCII (lower-casing costs most).
   */
  text: 80,
  textByte: 1.5,
  wideTextByte: 8,
  /** Comparing one character of two strings. */
  comparedCharacter: 0.1,
  /** Testing one occurrence of a needle that is a member name with a value. */
  occurrence: 50,
  /** Reading the packed counts of a batch or segment, and each byte of them. */
  summary: 600,
  countsByte: 10,
  /** Putting a line of a row group together, and each of its bytes. */
  restoredLine: 1000,
  restoredByte: 1,
  /** Adding a row to the top rows, which may evict another one. */
  row: 800,
  /** One byte of a response. */
  answerByte: 1,
  /**
   * Opening a column of a row group, which sets zstd up for each page, and each of its bytes, uncompressed. `npm run
   * bench:segments` measures the prices of columns.
   */
  column: 20_000,
  columnByte: 1.5,
  /** One test of one row of a column, or one step of adding a row to a group. */
  columnRow: 3,
  /** Testing one number, or making the text of one value, of a column. */
  columnText: 150,
  /** Numbering one value of a column that has no dictionary. */
  columnValue: 25,
  /** One byte of a shape that is parsed. */
  shapeByte: 60,
} as const;

/** Counts the work of one request, and decides when a pause is due. */
export class WorkMeter {
  #done = 0;
  #pauseAt: number;

  /** @param stretch work units between two pauses */
  constructor(stretch = Number.POSITIVE_INFINITY) {
    this.#pauseAt = stretch;
  }

  /** Work units so far. */
  get done(): number {
    return this.#done;
  }

  get isDue(): boolean {
    return this.#done >= this.#pauseAt;
  }

  add(units: number): void {
    this.#done += units;
  }

  /** Records a pause. The next one is due after the given number of work units. */
  paused(stretch: number): void {
    this.#pauseAt = this.#done + stretch;
  }
}

/**
 * Work units between two pauses: while other requests arrive, and while none do. About 1 and 5 ms, because most units
 * take less than counted. The second value is also the longest wait of the first request that arrives.
 */
const BUSY_UNITS = 900_000;
/** See `BUSY_UNITS`. */
export const ALONE_UNITS = 5_000_000;
/** Milliseconds after a request arrives in which more requests are expected. */
const CROWDED_MS = 250;
/**
 * Milliseconds from the start of one busy stretch to the start of the next, over all reads of the isolate. Longer than
 * a stretch, so that a request waits for one stretch at most, however many reads run.
 */
const STRETCH_MS = 2;

/**
 * Yields to other requests during a scan. Locally, router and objects share a thread, so a long scan would block every
 * writer. A pause is a timer of 0 ms, because nothing shorter processes network events; it costs a single query a
 * millisecond.
 */
export class ScanPacer {
  /** The work of the request so far. Interruptible work asks it whether a pause is due. */
  readonly meter = new WorkMeter(ALONE_UNITS);
  readonly #begun: () => number;
  readonly #beforeStretch: (() => Promise<void>) | null;
  /** Number of requests that had started at the last pause. */
  #seen: number;
  #crowdedUntil = 0;

  /**
   * @param begun returns the number of requests that have started, this one included
   * @param beforeStretch waits before each stretch while other requests arrive; `null`: nothing more than for the turn
   */
  constructor(begun: () => number = requestsStarted, beforeStretch: (() => Promise<void>) | null = null) {
    this.#begun = begun;
    this.#beforeStretch = beforeStretch;
    this.#seen = begun();
  }

  /** Pauses. Await it after each stretch of work. @param units work that the meter has not counted yet */
  async pause(units = 0): Promise<void> {
    this.meter.add(units);
    if (!this.meter.isDue) return;
    if (this.#isBusy()) {
      if (this.#beforeStretch !== null) await this.#beforeStretch();
      await readScheduler.take(STRETCH_MS);
    } else await sleep(0);
    this.meter.paused(this.#isBusy() ? BUSY_UNITS : ALONE_UNITS);
  }

  #isBusy(): boolean {
    const begun = this.#begun();
    const now = Date.now();
    if (begun !== this.#seen) this.#crowdedUntil = now + CROWDED_MS;
    this.#seen = begun;
    return now < this.#crowdedUntil;
  }
}

/** Milliseconds of a timer's delay from which the thread has no time to spare, and that work without a deadline waits at most. */
const LATE_MS = 2;
const MAX_WAIT_MS = 10;
/** Multiple of the delay that such work waits: it takes a small part of a busy thread. */
const WAIT_FACTOR = 3;

/** Waits while the thread is busy with other work: for work that may take longer, so that requests do not. */
export async function untilIdle(): Promise<void> {
  const asked = performance.now();
  await sleep(0);
  const late = performance.now() - asked;
  if (late >= LATE_MS) await sleep(Math.min(MAX_WAIT_MS, late * WAIT_FACTOR));
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
