/** When entries move to the cold tier. */
export interface FlushBounds {
  /** Milliseconds that a batch stays here at most. */
  maxAgeMs: number;
  /** Bytes as stored that stay here at most. */
  maxBytes: number;
}

/** What waits to be moved. `oldestAt`: when the oldest batch arrived, epoch milliseconds; null where none waits. */
export interface UnflushedTotals {
  bytes: number;
  oldestAt: number | null;
}

/** Once over `maxBytes`, the buffer is emptied to this part of it: else the next batch would be over it again. */
const DRAIN_TO = 1 / 2;

/** Milliseconds from a failure to the next try: doubled with each further one, up to a minute. */
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/**
 * When the next flush is due. Kept in memory, so that an ingest learns it for the price of an addition; what it stands for
 * is on disk and read again after waking.
 */
export class FlushSchedule {
  readonly #bounds: FlushBounds;
  #waiting: UnflushedTotals | null = null;
  #isDraining = false;
  #failures = 0;
  /** Nothing is due before this time. */
  #notBefore = 0;

  constructor(bounds: FlushBounds) {
    this.#bounds = bounds;
  }

  get isLoaded(): boolean {
    return this.#waiting !== null;
  }

  /** What waits is as `waiting` says. */
  load(waiting: UnflushedTotals): void {
    this.#waiting = { ...waiting };
    this.#judge(this.#waiting);
  }

  /** What waits has changed in a way that only disk knows. */
  unload(): void {
    this.#waiting = null;
  }

  /** A batch has been stored. */
  add(bytes: number, now: number): void {
    if (this.#waiting === null) return;
    this.#waiting.bytes += bytes;
    this.#waiting.oldestAt ??= now;
    this.#judge(this.#waiting);
  }

  /** A try has failed. @returns milliseconds to the next one */
  failed(now: number): number {
    const delay = Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LAST_RETRY_MS);
    this.#failures++;
    this.holdUntil(now + delay);
    return delay;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#notBefore = 0;
  }

  holdUntil(at: number): void {
    this.#notBefore = at;
  }

  /**
   * @param isOpen whether a range is on its way already
   * @returns epoch milliseconds, also in the past; null where nothing waits
   */
  dueAt(isOpen: boolean): number | null {
    const oldestAt = this.#waiting?.oldestAt ?? null;
    if (isOpen || (this.#isDraining && oldestAt !== null)) return this.#notBefore;
    return oldestAt === null ? null : Math.max(oldestAt + this.#bounds.maxAgeMs, this.#notBefore);
  }

  #judge({ bytes }: UnflushedTotals): void {
    const { maxBytes } = this.#bounds;
    if (bytes > maxBytes) this.#isDraining = true;
    else if (bytes <= maxBytes * DRAIN_TO) this.#isDraining = false;
  }
}
