import { openSync } from "node:fs";
import { type ClientRequest, request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import type { HostCommand, HostReport } from "../../src/platform/host.ts";

/** Name of the socket in the run directory; `workerd.sh` binds the worker's entrypoint `control` to it. */
const SOCKET = "control.sock";

/**
 * Sends orders to the worker over one request for the lifetime of the runtime, because a draining runtime accepts no
 * new connection but continues its requests. A restarted runtime gets a new request with the next order.
 */
export class Control {
  readonly #socketPath: string;
  readonly #onReport: (report: HostReport) => void;
  #request: ClientRequest | null = null;

  /**
   * @param runDir the directory in which `workerd.sh` runs
   * @param onReport receives the worker's reports
   */
  constructor(runDir: string, onReport: (report: HostReport) => void) {
    // The address of a socket has at most 107 bytes, which a path may exceed.
    const directory = process.platform === "linux" ? `/proc/self/fd/${openSync(runDir, "r")}` : runDir;
    this.#socketPath = path.join(directory, SOCKET);
    this.#onReport = onReport;
    this.#open().flushHeaders();
  }

  /** Sends an order. An order is lost if the runtime cannot receive it at the moment. */
  send(order: HostCommand): void {
    this.#open().write(`${JSON.stringify(order)}\n`);
  }

  /** Ends the orders. Those already sent are executed. */
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
      // SAFETY: lines that the worker writes with this type.
      lines.on("line", (line) => this.#onReport(JSON.parse(line) as HostReport));
      // The end of the request reports a broken connection.
      for (const stream of [response, lines]) stream.on("error", () => {});
    });
    opened.on("error", () => {});
    opened.on("close", () => {
      if (this.#request === opened) this.#request = null;
    });
    return opened;
  }
}
