/** Milliseconds from a page to the one after it, in which what is not yet read stays where it is. */
const LEASE_MS = 5000;
/** Milliseconds that readers can hold a flush up in all. */
const MAX_HOLD_MS = 30_000;

/**
 * Readers in the middle of a read of several pages. A flush that moves what they have not read yet makes them begin anew,
 * so it waits for them a little. Memory only: a reader whose lease is lost is slower, and never wrong.
 */
export class ReadLeases {
  #until = 0;
  #blockedSince: number | null = null;

  /** A reader has been given a page, and there are more. */
  renew(now: number): void {
    this.#until = now + LEASE_MS;
  }

  /** When what was flushed may be deleted; null for at once. To be followed by `released` once it has been. */
  blockedUntil(now: number): number | null {
    if (this.#until <= now) return null;
    this.#blockedSince ??= now;
    const until = Math.min(this.#until, this.#blockedSince + MAX_HOLD_MS);
    return until <= now ? null : until;
  }

  released(): void {
    this.#blockedSince = null;
  }
}
