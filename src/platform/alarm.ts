import { type Backoff, delayOf } from "./backoff.ts";
import type { Origin } from "./origin.ts";

/** The alarm of an object, shared by several duties. It only moves to an earlier time until it fires. */
export class SharedAlarm {
  readonly #storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  /** `null`: not set, or not known. */
  #at: number | null = null;

  constructor(storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">) {
    this.#storage = storage;
  }

  /**
   * Reads the time to which the alarm is set; `null` if it is not set. Without it, an object that has just started sets the
   * alarm only by `Duties.arm`, whose time is the earliest of all duties: `by` would replace an earlier time.
   */
  async load(): Promise<number | null> {
    this.#at = await this.#storage.getAlarm();
    return this.#at;
  }

  /**
   * Makes the alarm fire at this time or before. Writes a row only if the time is earlier than the known one. Not awaited: an
   * await would end the turn, and the output gate holds the response until the alarm is stored.
   */
  by(at: number): void {
    if (this.#at !== null && this.#at <= at) return;
    this.#at = at;
    this.#storage.setAlarm(at);
  }

  /** Marks the time as unknown. Call when the alarm fires, and when it is deleted. */
  forget(): void {
    this.#at = null;
  }
}

/** One kind of work that an object's alarm does. */
export interface Duty {
  readonly name: string;
  /**
   * Returns when the alarm must run next for this duty, epoch milliseconds, also in the past; `null` if it need not. Called
   * twice in every alarm run, so it must be cheap.
   */
  dueAt(now: number): number | null;
  /**
   * Does one bounded step if there is something to do. Every alarm run calls it, because an alarm may fire for another duty,
   * too early, and more than once.
   * @param due the duties that were due when the alarm fired
   */
  run(now: number, origin: Origin, due: ReadonlySet<Duty>): void | Promise<void>;
}

export interface DutyPorts {
  /** Whether the object has this duty now. */
  applies(duty: Duty): boolean;
  /** Reports a fault of a duty. */
  failed(duty: Duty, error: unknown, origin: Origin): void;
}

/** Delay until the alarm fires again for a duty that threw. */
const AFTER_FAULT: Backoff = { firstMs: 30_000, maxMs: 900_000 };

/** The duties of an object, and the alarm that they share. */
export class Duties {
  readonly #alarm: SharedAlarm;
  readonly #inOrder: readonly Duty[];
  readonly #ports: DutyPorts;
  readonly #faults = new Map<Duty, { count: number; retryAt: number }>();

  /** @param inOrder in the order in which an alarm run does them */
  constructor(alarm: SharedAlarm, inOrder: readonly Duty[], ports: DutyPorts) {
    this.#alarm = alarm;
    this.#inOrder = inOrder;
    this.#ports = ports;
  }

  get names(): string[] {
    return this.#inOrder.map(({ name }) => name);
  }

  /** Sets the alarm for the earliest duty. @returns `false` if no duty needs the alarm */
  arm(now: number): boolean {
    return this.#armFor(this.#inOrder, now);
  }

  /**
   * Runs every duty in order, then sets the alarm for the earliest one. Before the first wait the alarm is set for the duties
   * that are done, so that a crash leaves an alarm. A duty that throws is reported and repeated later: the platform drops an
   * alarm after six failures.
   * @returns `false` if no duty needs the alarm any longer
   */
  async fire(origin: Origin): Promise<boolean> {
    this.#alarm.forget();
    const due = this.#due(Date.now());
    const done: Duty[] = [];
    let hasWaited = false;
    for (const duty of this.#inOrder) {
      if (!this.#ports.applies(duty)) continue;
      try {
        const step = duty.run(Date.now(), origin, due);
        if (step !== undefined) {
          if (!hasWaited) this.#armFor(done, Date.now());
          hasWaited = true;
          await step;
        }
        this.#faults.delete(duty);
      } catch (error) {
        this.#hold(duty);
        this.#ports.failed(duty, error, origin);
      }
      done.push(duty);
    }
    return this.arm(Date.now());
  }

  #due(now: number): ReadonlySet<Duty> {
    const isDue = (duty: Duty) => this.#ports.applies(duty) && (duty.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now;
    return new Set(this.#inOrder.filter(isDue));
  }

  #armFor(duties: readonly Duty[], now: number): boolean {
    const times = duties
      .filter((duty) => this.#ports.applies(duty))
      .map((duty) => this.#nextAt(duty, now))
      .filter((at) => at !== null);
    if (times.length === 0) return false;
    this.#alarm.by(Math.max(now, Math.min(...times)));
    return true;
  }

  /** A duty that threw is repeated, even if it names no time. */
  #nextAt(duty: Duty, now: number): number | null {
    const at = duty.dueAt(now);
    const retryAt = this.#faults.get(duty)?.retryAt;
    return retryAt === undefined ? at : Math.max(at ?? 0, retryAt);
  }

  #hold(duty: Duty): void {
    const count = this.#faults.get(duty)?.count ?? 0;
    this.#faults.set(duty, { count: count + 1, retryAt: Date.now() + delayOf(AFTER_FAULT, count) });
  }
}
