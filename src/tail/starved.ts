import { TAIL_STALL_MS } from "./limits.ts";
import type { TailLoad } from "./load.ts";
import type { Tail } from "./tail.ts";

/** What the waiting tails need of their hub. */
export interface StarvedPorts {
  now(): number;
  pause(milliseconds: number): Promise<void>;
  /** Whether one more may be taken on now. */
  hasReader(): boolean;
  /** There is room for it again, for now. */
  resume(tail: Tail): void;
  /** Its client stands still, and others wait. */
  close(tail: Tail): void;
  failed(error: unknown): void;
}

/** Tails that wait until all tails of the object together hold less. */
export class StarvedTails {
  readonly #load: TailLoad;
  readonly #ports: StarvedPorts;
  readonly #tails = new Set<Tail>();
  #isWatching = false;

  constructor(load: TailLoad, ports: StarvedPorts) {
    this.#load = load;
    this.#ports = ports;
  }

  add(tail: Tail): void {
    tail.state = "waiting";
    this.#tails.add(tail);
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watch();
  }

  delete(tail: Tail): void {
    this.#tails.delete(tail);
  }

  /** To be called when there is more room, or a reader is free. Some go on at a time: they may fill the room again. */
  resume(): void {
    for (const tail of this.#tails) {
      if (this.#load.isFull || !this.#ports.hasReader()) return;
      this.#tails.delete(tail);
      if (tail.state === "waiting") this.#ports.resume(tail);
    }
  }

  /**
   * Closes those whose clients stand still, so that they cannot keep the others waiting. One of them may be a client that
   * acknowledges every 1,000 entries and has got fewer: nothing else would ever have it go on.
   */
  async #watch(): Promise<void> {
    try {
      while (this.#tails.size > 0 && this.#load.openBytes > 0) {
        await this.#ports.pause(TAIL_STALL_MS);
        const since = this.#ports.now() - TAIL_STALL_MS;
        while (this.#tails.size > 0 && this.#load.isFullOfOpen) {
          const tail = this.#load.laziest(since);
          if (!tail) break;
          this.#ports.close(tail);
        }
        this.resume();
      }
    } catch (error) {
      this.#ports.failed(error);
    } finally {
      this.#isWatching = false;
    }
  }
}
