import type { LogEntry } from "../../../model/types.ts";

/** Milliseconds between two deliveries. Rendering each commit separately would keep the page busy. */
const DELIVERY_MS = 100;

interface DeliveryPorts {
  later(milliseconds: number, call: () => void): () => void;
  entries(entries: LogEntry[]): void;
}

/** Delivers entries in order: the first immediately, later ones in batches, and none while held. */
export class Deliveries {
  readonly #ports: DeliveryPorts;
  #queue: LogEntry[] = [];
  #isHeld = false;
  #cancel: (() => void) | null = null;

  constructor(ports: DeliveryPorts) {
    this.#ports = ports;
  }

  /** Number of entries that wait. */
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

  /** Resumes, and delivers all waiting entries. */
  release(): void {
    this.#isHeld = false;
    this.#deliver();
  }

  /** Discards waiting entries. */
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
