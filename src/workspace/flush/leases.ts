/** Milliseconds from a page to the one after it, in which what is not yet read stays where it is. */
const LEASE_MS = 5000;
/** Milliseconds that readers can hold a flush up at a stretch. */
const MAX_HOLD_MS = 30_000;
/** After a hold flushes go on for this part of its time, whoever reads: else steady readers would stop them for good. */
const FREE_SHARE = 1 / 2;

/**
 * Routers of an older version in the middle of a read of several pages. A flush that moves what they have not read yet makes
 * them begin again, so it waits a little for them. Routers of this version follow what moves and take no lease; see
 * `docs/decisions/0016-reads-follow-what-moves.md`. Memory only: a reader whose lease is lost is slower, and never wrong.
 */
export class ReadPins {
  #until = 0;
  #blockedSince: number | null = null;
  #freeUntil = 0;

  /**
   * A reader has been given a page behind its first. With the first alone most are content: one that is not, and finds
   * things moved, begins anew under the lease that its second page has taken.
   */
  renew(now: number): void {
    this.#until = now + LEASE_MS;
  }

  /** When what was flushed may be deleted; null for at once. To be followed by `released` once it has been. */
  blockedUntil(now: number): number | null {
    if (this.#until <= now || now < this.#freeUntil) return null;
    this.#blockedSince ??= now;
    const until = Math.min(this.#until, this.#blockedSince + MAX_HOLD_MS);
    return until <= now ? null : until;
  }

  released(now: number): void {
    if (this.#blockedSince === null) return;
    this.#freeUntil = now + (now - this.#blockedSince) * FREE_SHARE;
    this.#blockedSince = null;
  }
}
