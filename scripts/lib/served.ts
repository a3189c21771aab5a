import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import type { HostCommand, HostReport } from "../../src/platform/host.ts";
import { Control } from "./control.ts";

/** Milliseconds that a stop gives requests in flight. */
const STOP_MS = 10_000;
/** Milliseconds in which the worker must acknowledge the order to stop. */
const RECEIVED_MS = 1_000;
/** Milliseconds between two checks. */
const POLL_MS = 5;

/** A running service, and the ways to end it. */
export class Served {
  readonly #simulator: Miniflare;
  readonly #runtime: () => ChildProcess | undefined;
  readonly #control: Control | null;
  #isStopKnown = false;
  #disposed: Promise<void> | null = null;

  /**
   * @param runtime the serving process, which the simulator replaces after a crash
   * @param runDir the directory of the worker's control socket; null without one
   */
  constructor(simulator: Miniflare, runtime: () => ChildProcess | undefined, runDir: string | null) {
    this.#simulator = simulator;
    this.#runtime = runtime;
    const onReport = ({ received }: HostReport) => {
      this.#isStopKnown ||= received === "stop";
    };
    this.#control = runDir === null ? null : new Control(runDir, onReport);
  }

  /** Sends the worker an order. */
  tell(order: HostCommand): void {
    this.#control?.send(order);
  }

  /**
   * Accepts no more connections, completes requests in flight, closes tails with the position to resume at, and ends.
   * Cuts off what remains after `STOP_MS`, or when `cut` is aborted.
   */
  async stop(cut: AbortSignal): Promise<void> {
    const begun = Date.now();
    const runtime = this.#runtime();
    // First of all listeners, because the simulator's would start another runtime unless it is being disposed of.
    runtime?.prependOnceListener("exit", () => void this.dispose());
    const hasEnded = () => this.#disposed !== null || cut.aborted;
    if (this.#control !== null) {
      this.#control.send({ do: "stop" });
      this.#control.end();
      // A draining runtime drops connections that it has not begun to read, so it first reads what has arrived.
      while (!this.#isStopKnown && Date.now() < begun + RECEIVED_MS && !hasEnded()) await wait(POLL_MS);
    }
    // SIGTERM drains the runtime: it closes its listeners and idle connections, and ends after the last request.
    runtime?.kill("SIGTERM");
    while (Date.now() < begun + STOP_MS && !hasEnded()) await wait(POLL_MS);
    await this.dispose();
  }

  /** Ends the service immediately. May be repeated. */
  dispose(): Promise<void> {
    this.#control?.close();
    this.#disposed ??= this.#simulator.dispose();
    return this.#disposed;
  }
}
