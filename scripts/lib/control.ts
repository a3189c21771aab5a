import { openSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import type { HostCommand, HostReport } from "../../src/platform/host.ts";

/** Name of the socket in the run directory; `workerd.sh` binds the worker's entrypoint `control` to it. */
const SOCKET = "control.sock";

/**
 * Orders to the worker, over one request for as long as the runtime lives: a runtime that drains takes no new connection,
 * and goes on with the requests that it has. A runtime that was restarted gets a new request with the next order.
 */
export class Control {
  readonly #socketPath: string;
  readonly #onReport: (report: HostReport) => void;
  #request: ClientRequest | null = null;

  /**
   * @param runDir the directory that `workerd.sh` runs in
   * @param onReport gets what the worker says
   */
  constructor(runDir: string, onReport: (report: HostReport) => void) {
    // The address of a socket has 107 bytes at most, a path any number.
    const directory = process.platform === "linux" ? `/proc/self/fd/${openSync(runDir, "r")}` : runDir;
    this.#socketPath = path.join(directory, SOCKET);
    this.#onReport = onReport;
    this.#open().flushHeaders();
  }

  /** Sends an order. One that the runtime cannot take at the moment is lost. */
  send(order: HostCommand): void {
    this.#open().write(`${JSON.stringify(order)}\n`);
  }

  /** There is no further order. What has been sent is carried out. */
  end(): void {
    this.#open().end();
  }

  close(): void {
    this.#request?.destroy();
  }

  #open(): ClientRequest {
    if (this.#request) return this.#request;
    const opened = request({ socketPath: this.#socketPath, method: "POST", headers: { Host: "localhost" } });
    this.#request = opened;
    opened.on("response", (response) => {
      const lines = createInterface(response);
      // SAFETY: the worker's own lines, of the type that they are written as.
      lines.on("line", (line) => this.#onReport(JSON.parse(line) as HostReport));
      // A connection that breaks is told by the request's own end.
      for (const stream of [response, lines]) stream.on("error", () => {});
    });
    opened.on("error", () => {});
    opened.on("close", () => {
      if (this.#request === opened) this.#request = null;
    });
    return opened;
  }
}
