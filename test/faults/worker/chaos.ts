import { CALM, type Counts, type Plan } from "../protocol.ts";
import { Random } from "../random.ts";

/** Milliseconds after which a call counts as ended: one of a killed object does not end. */
const CALL_MS = 20_000;

/** Calls that are running. A call of another object cannot be awaited, so its end is polled. */
export class Running {
  readonly #since = new Map<object, number>();

  /** Counts a call until it has ended. */
  async of<T>(call: () => Promise<T>): Promise<T> {
    const token = {};
    this.#since.set(token, Date.now());
    try {
      return await call();
    } finally {
      this.#since.delete(token);
    }
  }

  /** Waits until the calls that are running now have ended. */
  async ended(): Promise<void> {
    const calls = [...this.#since];
    const isOpen = () => calls.some(([call, at]) => this.#since.has(call) && Date.now() - at < CALL_MS);
    while (isOpen()) await pause(10);
  }
}

/** The only plan of this isolate, which is the server's only isolate: every object and entrypoint runs here. */
class Chaos {
  plan: Plan = CALM;
  readonly counts: Counts = {};
  /** Number of writers that will still store something. */
  lateWriters = 0;
  /** Calls of the cold writer and of the compactor that are running. */
  readonly writes = new Running();
  readonly merges = new Running();
  /** Whether unflushed batches are due immediately. */
  isEager = false;
  #random = new Random(0);

  begin(plan: Plan): void {
    this.plan = plan;
    this.#random = new Random(plan.seed);
  }

  /** Whether a fault with this chance happens. Counts it under `name`. */
  strikes(chance: number, name: string): boolean {
    if (chance <= 0 || this.#random.int(1, 1_000_000) > chance * 1_000_000) return false;
    this.note(name);
    return true;
  }

  note(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }

  /** Random milliseconds, from 0 to `most`. */
  delay(most: number): number {
    return this.#random.int(0, most);
  }
}

export const chaos = new Chaos();

export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
