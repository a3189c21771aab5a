import { MAX_BODY_BYTES, MAX_ENTRIES } from "../limits.ts";

/** Milliseconds that an entry waits for others. A following sender makes at most two requests a second. */
const WAIT_MS = 500;
/** Batches that may wait behind the one that is being sent. */
const MAX_BEHIND = 1;

/** Where an entry stood. */
export interface Place {
  /** Null: standard input. */
  file: string | null;
  /** From 1. */
  line: number;
}

export interface OutgoingEntry extends Place {
  /** One line of JSON. */
  bytes: Uint8Array;
}

/** Gathers entries into batches and sends these one after the other: the order of the input is that of the seqs. */
export class Batches {
  readonly #deliver: (batch: readonly OutgoingEntry[]) => Promise<void>;
  readonly #failed: () => void;
  #waiting: OutgoingEntry[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #behind = 0;
  #sent: Promise<void> = Promise.resolve();

  /** @param failed is told as soon as `deliver` has thrown; nothing is sent from then on */
  constructor(deliver: (batch: readonly OutgoingEntry[]) => Promise<void>, failed: () => void) {
    this.#deliver = deliver;
    this.#failed = failed;
  }

  /** Takes an entry; waits while enough is on its way. @throws what `deliver` has thrown */
  async add(entry: OutgoingEntry): Promise<void> {
    const size = entry.bytes.length + 1;
    if (this.#waiting.length === MAX_ENTRIES || this.#bytes + size > MAX_BODY_BYTES) {
      this.#cut();
      if (this.#behind > MAX_BEHIND) await this.#sent;
    }
    this.#waiting.push(entry);
    this.#bytes += size;
    this.#timer ??= setTimeout(() => this.#cut(), WAIT_MS);
  }

  /** Sends what waits. @throws what `deliver` has thrown */
  async end(): Promise<void> {
    this.#cut();
    await this.#sent;
  }

  #cut(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    this.#bytes = 0;
    this.#behind++;
    this.#sent = this.#sent.then(async () => {
      await this.#deliver(batch);
      this.#behind--;
    });
    this.#sent.catch(this.#failed);
  }
}

/** Entries as NDJSON. */
export function bodyOf(entries: readonly OutgoingEntry[]): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(entries.reduce((size, { bytes }) => size + bytes.length + 1, 0));
  let at = 0;
  for (const { bytes } of entries) {
    body.set(bytes, at);
    at += bytes.length + 1;
    body[at - 1] = 10;
  }
  return body;
}
