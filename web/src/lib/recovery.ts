import { backoff } from "./backoff.ts";

export interface RecoveryPorts {
  /** Calls `call` after `milliseconds`, unless the returned function is called first. */
  later(milliseconds: number, call: () => void): () => void;
  /** Returns a number from 0 to 1. */
  random(): number;
  /** Whether the page is hidden. A hidden page does not retry. */
  isHidden(): boolean;
}

/** Longest `Retry-After` that is honoured, in milliseconds. */
const LONGEST_ASKED_MS = 60_000;

/**
 * Retries calls that failed because of an outage. All failed calls share one timer, so that a page recovers as a whole:
 * after a growing backoff, or immediately when the network is back.
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
   * Retries a failed call once. A call that fails again must be added again.
   * @param afterMs milliseconds from `Retry-After`; 0 if the response had none
   * @returns a function that cancels the retry
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

  /** Retries everything immediately: the network is back, the page is visible again, or the user asked for it. */
  now(): void {
    this.#failures = 0;
    this.#repeat();
  }

  /** Records that a call succeeded. */
  succeeded(): void {
    if (this.#waiting.size === 0) this.#failures = 0;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` whenever a call succeeds. @returns a function that removes the listener */
  onSuccess(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #due(): void {
    this.#cancel = null;
    // A hidden page calls `now` when it becomes visible.
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
