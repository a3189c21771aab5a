import type { LogEntry } from "../../../model/types.ts";

/** Milliseconds between two deliveries: a page that is redrawn for every commit does nothing else. */
const DELIVERY_MS = 100;

interface DeliveryPorts {
  later(milliseconds: number, call: () => void): () => void;
  entries(entries: LogEntry[]): void;
}

/** Hands entries over in their order: the first at once, those that follow closely together, and none while held. */
export class Deliveries {
  readonly #ports: DeliveryPorts;
  #queue: LogEntry[] = [];
  #isHeld = false;
  #cancel: (() => void) | null = null;

  constructor(ports: DeliveryPorts) {
    this.#ports = ports;
  }

  /** Entries that wait. */
  get size(): number {
    return this.#queue.length;
  }

  add(entries: readonly LogEntry[]): void {
    for (const entry of entries) this.#queue.push(entry);
    this.#soon();
  }

  hold(): void {
    this.#isHeld = true;
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Goes on, with all that waits at once. */
  release(): void {
    this.#isHeld = false;
    this.#deliver();
  }

  /** Forgets what waits. */
  drop(): void {
    this.#queue = [];
    this.hold();
    this.#isHeld = false;
  }

  #soon(): void {
    if (this.#isHeld || this.#cancel !== null || this.#queue.length === 0) return;
    this.#deliver();
    this.#cancel = this.#ports.later(DELIVERY_MS, () => {
      this.#cancel = null;
      this.#soon();
    });
  }

  #deliver(): void {
    if (this.#queue.length === 0) return;
    const entries = this.#queue;
    this.#queue = [];
    this.#ports.entries(entries);
  }
}
