/** Entries after which an acknowledgement is sent immediately. The service requires one after at most 1,000. */
const ENTRIES = 500;
/** Milliseconds after which fewer entries are acknowledged. */
const DELAY_MS = 1000;

interface AcknowledgementPorts {
  /** Calls `call` after `milliseconds`, unless the returned function is called first. */
  later(milliseconds: number, call: () => void): () => void;
}

/** Decides when a tail sends its next acknowledgement. */
export class Acknowledgements {
  readonly #ports: AcknowledgementPorts;
  readonly #send: () => void;
  #unacknowledged = 0;
  #cancel: (() => void) | null = null;

  constructor(ports: AcknowledgementPorts, send: () => void) {
    this.#ports = ports;
    this.#send = send;
  }

  /** Counts received entries; a progress report counts as one. */
  add(count: number): void {
    this.#unacknowledged += count;
  }

  /** Sends an acknowledgement now if enough entries have arrived, otherwise within a second. */
  schedule(): void {
    if (this.#unacknowledged >= ENTRIES) this.#flush();
    else this.#cancel ??= this.#ports.later(DELAY_MS, () => this.#flush());
  }

  /** Forgets unacknowledged entries: the connection is closed. */
  reset(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#unacknowledged = 0;
  }

  #flush(): void {
    const hasNew = this.#unacknowledged > 0;
    this.reset();
    if (hasNew) this.#send();
  }
}
