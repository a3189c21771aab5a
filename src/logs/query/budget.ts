import { readScheduler, requestsStarted } from "../../platform/turns.ts";

/** Limits of a query, from the HTTP contract where it names one. */
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
  /** Names in a path: twice as many as stored `data` is deep. */
  pathNames: 64,
} as const;

/** What one request may cost before its answer becomes a partial one. Units of work: see `work.ts`. */
export interface QueryBudget {
  /** Units of work of one page or histogram, 1.25 s. What finds batches and segments counts, too; see `segment-walk.ts`. */
  work: number;
  /** Bytes of the lines held while scanning, those of an offset's rows included: bounds the isolate's memory. */
  heldBytes: number;
  /** Bytes of the lines in one answer. */
  answerBytes: number;
  /** Rows that one sweep finds: each takes some 30 characters of its cursor. See `sweep.ts`. */
  resumableRows: number;
}

export const QUERY_BUDGET: QueryBudget = {
  work: 800 * 1024 * 1024,
  heldBytes: 6 * 1024 * 1024,
  answerBytes: 4 * 1024 * 1024,
  resumableRows: 100,
};

/**
 * Units of counted work. One unit is what it costs to decode one byte of stored lines and to look at it in a plain scan:
 * about 1.5 ns of one core (`UNIT_NS`). A clock cannot take the place of counting: in workerd `Date.now` stands still
 * while code runs. `npm run bench:work` measures every number below again and prints it beside the one that is written here.
 */
export const UNIT_NS = 1.5;

export const WORK = {
  /** Opens a batch or a frame: its columns, a decompression context, its first line. */
  unit: 6_000,
  /** Reads a part of a segment, and each byte of its directory of batches. */
  segment: 12_000,
  directoryByte: 8,
  /** One byte of stored lines, decoded and looked at. */
  byte: 1,
  /** One line: where it ends, its time, level, category and type. */
  line: 100,
  /** One byte of a line that is read as JSON, and such a line. */
  readByte: 2,
  readLine: 250,
  /** One test of `data` on one entry. */
  condition: 20,
  /** One string of an entry that is decoded, and each of its bytes: ASCII, escaped, and not ASCII (lower-casing costs most). */
  text: 80,
  textByte: 1.5,
  wideTextByte: 8,
  /** One character of two strings that are compared. */
  comparedCharacter: 0.1,
  /** One occurrence of a member name whose value a needle tests. */
  occurrence: 50,
  /** The packed counts of a batch or segment, and each byte of them. */
  summary: 600,
  countsByte: 10,
  /** A row that gets into the collector and may drop another one. */
  row: 800,
  /** One byte of an answer. */
  answerByte: 1,
} as const;

/** Counts the work of one request, and says when a pause is due. */
export class WorkMeter {
  #done = 0;
  #pauseAt: number;

  /** @param stretch units between two pauses */
  constructor(stretch = Number.POSITIVE_INFINITY) {
    this.#pauseAt = stretch;
  }

  /** Units so far. */
  get done(): number {
    return this.#done;
  }

  get isDue(): boolean {
    return this.#done >= this.#pauseAt;
  }

  add(units: number): void {
    this.#done += units;
  }

  /** A pause has been made; the next one is due after so many units. */
  paused(stretch: number): void {
    this.#pauseAt = this.#done + stretch;
  }
}

/**
 * Units of work between two pauses: while other requests keep coming, and while none do. About 1 and 5 ms, as most
 * units take less than they count. The second is also what the first of them may have to wait.
 */
const BUSY_UNITS = 900_000;
/** See `BUSY_UNITS`. */
export const ALONE_UNITS = 5_000_000;
/** Milliseconds after the arrival of a request in which more are expected. */
const CROWDED_MS = 250;
/**
 * Milliseconds from the beginning of one crowded stretch to that of the next, over all reads of the isolate. More than a
 * stretch takes, so that a request waits for one stretch at a time, however many reads there are.
 */
const STRETCH_MS = 2;

/**
 * Lets others have their turn while much is looked through: on one machine, router and objects share a thread, and a long
 * scan would hold up every writer. A pause is a timer of 0 ms, as nothing less lets the network in; it costs a lone query
 * a millisecond.
 */
export class ScanPacer {
  /** What the request has done so far. Work that can be interrupted asks it whether a pause is due. */
  readonly meter = new WorkMeter(ALONE_UNITS);
  readonly #begun: () => number;
  /** Requests that had begun at the last pause. */
  #seen: number;
  #crowdedUntil = 0;

  /** @param begun requests that have begun so far, this one included */
  constructor(begun: () => number = requestsStarted) {
    this.#begun = begun;
    this.#seen = begun();
  }

  /** To be awaited after each stretch of work. @param units that the meter has not counted yet */
  async pause(units = 0): Promise<void> {
    this.meter.add(units);
    if (!this.meter.isDue) return;
    if (this.#isBusy()) await readScheduler.take(STRETCH_MS);
    else await sleep(0);
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

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
