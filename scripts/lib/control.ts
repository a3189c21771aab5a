import { openSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import type { HostOrder, HostReport } from "../../src/platform/host-orders.ts";

/** Name of the socket in the run directory; `workerd.sh` binds the worker's entrypoint `control` to it. */
const SOCKET = "control.sock";

/**
 * Orders to the worker, over one request for as long as the runtime lives: a runtime that drains takes no new connection,
 * and goes on with the requests that it has. A runtime that was restarted gets a new request with the next order.
 */
export class Control {
  readonly #socketPath: string;
  #request: ClientRequest | null = null;
  #report: Promise<HostReport | null> = Promise.resolve(null);

  /** @param runDir the directory that `workerd.sh` runs in */
  constructor(runDir: string) {
    // The address of a socket has 107 bytes at most, a path any number.
    const directory = process.platform === "linux" ? `/proc/self/fd/${openSync(runDir, "r")}` : runDir;
    this.#socketPath = path.join(directory, SOCKET);
    this.#open().flushHeaders();
  }

  /** Sends an order. One that the runtime cannot take at the moment is lost. */
  send(order: HostOrder): void {
    this.#open().write(`${JSON.stringify(order)}\n`);
  }

  /** Ends the orders. @returns what the worker reports once it has carried out all of them; null where it does not */
  end(): Promise<HostReport | null> {
    this.#open().end();
    return this.#report;
  }

  close(): void {
    this.#request?.destroy();
  }

  #open(): ClientRequest {
    if (this.#request) return this.#request;
    const opened = request({ socketPath: this.#socketPath, method: "POST", headers: { Host: "localhost" } });
    this.#request = opened;
    this.#report = new Promise((resolve) => {
      // SAFETY: the worker's own answer, of the type that it is written as.
      opened.on("response", (response) =>
        resolve(
          json(response).then(
            (report) => report as HostReport,
            () => null,
          ),
        ),
      );
      opened.on("error", () => {});
      opened.on("close", () => {
        resolve(null);
        if (this.#request === opened) this.#request = null;
      });
    });
    return opened;
  }
}
