import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import type { HostCommand, HostReport } from "../../src/platform/host.ts";
import { Control } from "./control.ts";

/** Milliseconds that a stop gives the requests in flight. */
const STOP_MS = 10_000;
/** Milliseconds that the worker has to say that it has received the order to stop. */
const RECEIVED_MS = 1_000;
/** Milliseconds between two looks at what has happened. */
const POLL_MS = 5;

/** A service that runs, and the ways to end it. */
export class Served {
  readonly #simulator: Miniflare;
  readonly #runtime: () => ChildProcess | undefined;
  readonly #control: Control | null;
  #isStopKnown = false;
  #disposed: Promise<void> | null = null;

  /**
   * @param runtime the process that serves at the moment: the simulator starts another one where it crashes
   * @param runDir where the worker's control socket is; null where it has none
   */
  constructor(simulator: Miniflare, runtime: () => ChildProcess | undefined, runDir: string | null) {
    this.#simulator = simulator;
    this.#runtime = runtime;
    const onReport = ({ received }: HostReport) => {
      this.#isStopKnown ||= received === "stop";
    };
    this.#control = runDir === null ? null : new Control(runDir, onReport);
  }

  /** Tells the worker something. */
  tell(order: HostCommand): void {
    this.#control?.send(order);
  }

  /**
   * Takes no more connections, answers what is in flight, closes tails with the place to resume at, and ends. What is not
   * done after `STOP_MS`, or when `cut` is aborted, is cut off.
   */
  async stop(cut: AbortSignal): Promise<void> {
    const begun = Date.now();
    const runtime = this.#runtime();
    // First of all listeners: the simulator's own would start another runtime, unless it is being disposed of by then.
    runtime?.prependOnceListener("exit", () => void this.dispose());
    const hasEnded = () => this.#disposed !== null || cut.aborted;
    if (this.#control !== null) {
      this.#control.send({ do: "stop" });
      this.#control.end();
      // The runtime drops what it has not begun to read when it drains, so it first catches up with what has arrived.
      while (!this.#isStopKnown && Date.now() < begun + RECEIVED_MS && !hasEnded()) await wait(POLL_MS);
    }
    // It drains on SIGTERM: it closes its listeners and idle connections, and ends once the last request has.
    runtime?.kill("SIGTERM");
    while (Date.now() < begun + STOP_MS && !hasEnded()) await wait(POLL_MS);
    await this.dispose();
  }

  /** Ends it at once. Safe to repeat. */
  dispose(): Promise<void> {
    this.#control?.close();
    this.#disposed ??= this.#simulator.dispose();
    return this.#disposed;
  }
}
