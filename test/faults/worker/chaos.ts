import { CALM, type Counts, type Plan } from "../protocol.ts";
import { Random } from "../random.ts";

/** The only plan of this isolate, which is the server's only isolate: every object and entrypoint runs here. */
class Chaos {
  plan: Plan = CALM;
  readonly counts: Counts = {};
  /** Number of writers that will still store something. */
  lateWriters = 0;
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
