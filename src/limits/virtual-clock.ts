/**
 * A clock that never runs backwards, whatever the machine's clock does.
 *
 * Counters are stamped with its time. When the wall clock steps back, the virtual one stands for that instant and then
 * advances again by what the wall clock advances, so a window keeps sliding instead of freezing until the wall catches up.
 */
export class VirtualClock {
  #offset = 0;
  #lastWall = Number.NEGATIVE_INFINITY;

  /** Virtual milliseconds for wall-clock epoch milliseconds `wall`; never less than any earlier answer. */
  now(wall: number): number {
    if (wall < this.#lastWall) this.#offset += this.#lastWall - wall;
    this.#lastWall = wall;
    return wall + this.#offset;
  }

  /** Makes the clock start at `stamp` or later: called with the newest stamp found on disk after a restart. */
  resumeAt(stamp: number, wall: number): void {
    const behind = stamp - this.now(wall);
    if (behind > 0) this.#offset += behind;
  }

  /** The wall-clock time that a virtual time corresponds to now. */
  toWall(virtual: number): number {
    return virtual - this.#offset;
  }
}
