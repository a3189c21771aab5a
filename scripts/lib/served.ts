import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import type { HostOrder } from "../../src/platform/host-orders.ts";
import type { Control } from "./control.ts";

/** Milliseconds that a stop gives the requests in flight. */
const STOP_MS = 10_000;
/**
 * Milliseconds that connections of closed tails have to end once no request is in flight. The runtime keeps the one of a
 * client that has never sent anything for 10 s, and some clients report the close only at its end.
 */
const TAILS_CLOSE_MS = 500;
/** Milliseconds between two looks at whether the runtime has ended. */
const POLL_MS = 10;

/** A service that runs, and the ways to end it. */
export class Served {
  readonly #simulator: Miniflare;
  readonly #runtime: () => ChildProcess | undefined;
  readonly #control: Control | null;
  #disposed: Promise<void> | null = null;

  /** @param runtime the process that serves at the moment: the simulator starts another one where it crashes */
  constructor(simulator: Miniflare, runtime: () => ChildProcess | undefined, control: Control | null) {
    this.#simulator = simulator;
    this.#runtime = runtime;
    this.#control = control;
  }

  /** Tells the worker something. */
  tell(order: HostOrder): void {
    this.#control?.send(order);
  }

  /**
   * Takes no more connections, answers what is in flight, closes tails with the place to resume at, and ends. What is not
   * done after `STOP_MS`, or when `cut` is aborted, is cut off.
   */
  async stop(cut: AbortSignal): Promise<void> {
    let until = Date.now() + STOP_MS;
    this.#control?.send({ do: "stop" });
    const reported = this.#control?.end().then((report) => {
      if (report?.hasClosedTails) until = Math.min(until, Date.now() + TAILS_CLOSE_MS);
    });
    const runtime = this.#runtime();
    // First of all listeners: the simulator's own would start another runtime, unless it is being disposed of by then.
    runtime?.prependOnceListener("exit", () => void this.dispose());
    // The runtime drains on SIGTERM: it closes its listeners and idle connections, and ends once the last request has.
    runtime?.kill("SIGTERM");
    while (this.#disposed === null && Date.now() < until && !cut.aborted) await wait(POLL_MS);
    await this.dispose();
    await reported;
  }

  /** Ends it at once. Safe to repeat. */
  dispose(): Promise<void> {
    this.#control?.close();
    this.#disposed ??= this.#simulator.dispose();
    return this.#disposed;
  }
}
