import { backoff } from "./backoff.ts";

export interface RecoveryPorts {
  /** Calls back after so many milliseconds, unless the function it returns was called before. */
  later(milliseconds: number, call: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
  /** Whether the page is out of sight: it waits then. */
  isHidden(): boolean;
}

/** The longest wait that an answer may ask for, in milliseconds. */
const LONGEST_ASKED_MS = 60_000;

/**
 * Repeats what failed because the service was away. Everything that failed shares one timer, so that a page comes back as a
 * whole: after a wait that grows from try to try, or at once when the network is back.
 */
export class Recovery {
  readonly #ports: RecoveryPorts;
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<() => void>();
  #failures = 0;
  #cancel: (() => void) | null = null;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
  }

  /**
   * Repeats a call that failed, once: one that fails again is added again.
   * @param afterMs what the answer asked to wait for; 0 where it did not say
   * @returns how to take the call back
   */
  add(retry: () => void, afterMs = 0): () => void {
    this.#waiting.add(retry);
    if (this.#cancel === null) {
      const wait = backoff(this.#failures++, this.#ports.random());
      this.#cancel = this.#ports.later(Math.max(wait, Math.min(afterMs, LONGEST_ASKED_MS)), () => this.#due());
    }
    return () => {
      this.#waiting.delete(retry);
      if (this.#waiting.size === 0) this.#stop();
    };
  }

  /** The network or the reader is back, or the reader asks for it: repeats everything at once. */
  now(): void {
    this.#failures = 0;
    this.#repeat();
  }

  /** A call got through: the service is there. */
  succeeded(): void {
    if (this.#waiting.size === 0) this.#failures = 0;
    for (const listener of this.#listeners) listener();
  }

  /** Called whenever a call got through. @returns how to end that */
  onSuccess(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #due(): void {
    this.#cancel = null;
    // The page calls `now` when it is visible again.
    if (!this.#ports.isHidden()) this.#repeat();
  }

  #repeat(): void {
    this.#stop();
    const retries = [...this.#waiting];
    this.#waiting.clear();
    for (const retry of retries) retry();
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
