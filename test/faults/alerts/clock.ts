import type { FaultServer } from "../server.ts";

/** The clock of the service, ahead of the machine's. It never goes back. */
export class Clock {
  readonly #server: FaultServer;
  #offsetMs = 0;

  constructor(server: FaultServer) {
    this.#server = server;
  }

  /** Takes the offset to which commits have moved the clock. */
  took(offsetMs: number): void {
    this.#offsetMs = Math.max(this.#offsetMs, offsetMs);
  }

  /** Moves the clock on, also that of a server that has just started. */
  async forward(ms: number): Promise<void> {
    this.#offsetMs += ms;
    await this.#server.order({ do: "clock", offsetMs: this.#offsetMs });
  }
}
