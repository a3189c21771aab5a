import { readlinkSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Miniflare } from "miniflare";
import type { Control } from "./control.ts";
import { hasCode } from "./failure.ts";

/** Milliseconds that a stop gives the requests in flight. */
export const STOP_MS = 10_000;
/**
 * Milliseconds that connections of closed tails have to end once no request is in flight. The runtime keeps the one of a
 * client that has never sent anything for 10 s, and some clients report the close only at its end.
 */
const TAILS_CLOSE_MS = 500;
/** Milliseconds between two looks at whether the runtime still lives. */
const POLL_MS = 10;

/** A service that runs, and the ways to end it. */
export class Served {
  readonly #runtime: Miniflare;
  readonly #control: Control | null;
  readonly #runDir: string;
  #disposed: Promise<void> | null = null;

  constructor(runtime: Miniflare, control: Control | null, runDir: string) {
    this.#runtime = runtime;
    this.#control = control;
    this.#runDir = runDir;
  }

  /**
   * Takes no more connections, answers what is in flight, closes tails with the place to resume at, and ends. What is not
   * done after `STOP_MS`, or when `cut` is aborted, is cut off.
   */
  async stop(cut: AbortSignal): Promise<void> {
    // Read by workerd.sh: the simulator would start a runtime that has ended again.
    process.env.TAFFRAIL_STOPPING = "1";
    let until = Date.now() + STOP_MS;
    this.#control?.send({ do: "stop" });
    const reported = this.#control?.end().then((report) => {
      if (report?.hasClosedTails) until = Math.min(until, Date.now() + TAILS_CLOSE_MS);
    });
    const pid = this.#pid();
    // The runtime drains on SIGTERM: it closes its listeners and idle connections, and ends once the last request has.
    if (pid !== null) process.kill(pid, "SIGTERM");
    while (pid !== null && isAlive(pid) && Date.now() < until && !cut.aborted) await wait(POLL_MS);
    await this.dispose();
    await reported;
    delete process.env.TAFFRAIL_STOPPING;
  }

  /** Ends it at once. Safe to repeat. */
  dispose(): Promise<void> {
    this.#control?.close();
    this.#disposed ??= this.#runtime.dispose();
    return this.#disposed;
  }

  #pid(): number | null {
    try {
      const pid = Number(readlinkSync(path.join(this.#runDir, "runtime.pid")));
      return isAlive(pid) ? pid : null;
    } catch {
      return null;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (hasCode(error, "ESRCH")) return false;
    throw error;
  }
}
