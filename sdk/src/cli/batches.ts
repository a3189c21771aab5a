import { MAX_BODY_BYTES, MAX_ENTRIES } from "../limits.ts";

/**
 * Milliseconds that an entry waits for others, so that input which grows slowly makes at most two requests a second.
 */
const WAIT_MS = 500;
/** Number of batches that may wait for the one in flight. */
const MAX_BEHIND = 1;

/** The position of an entry in the input. */
export interface InputPosition {
  /** Path of the file; `null` for standard input. */
  file: string | null;
  /** Line number from 1. */
  line: number;
}

export interface OutgoingEntry extends InputPosition {
  /** The entry as one line of JSON. */
  bytes: Uint8Array;
}

/** Collects entries into batches and sends one batch at a time, so that the seqs are in the order of the input. */
export class Batches {
  readonly #deliver: (batch: readonly OutgoingEntry[]) => Promise<void>;
  readonly #failed: () => void;
  #waiting: OutgoingEntry[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #behind = 0;
  #sent: Promise<void> = Promise.resolve();

  /** @param failed called as soon as `deliver` has thrown. No further batch is sent. */
  constructor(deliver: (batch: readonly OutgoingEntry[]) => Promise<void>, failed: () => void) {
    this.#deliver = deliver;
    this.#failed = failed;
  }

  /** Adds an entry. Waits while too many batches are queued. @throws the error of `deliver` */
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

  /** Sends the last batch and waits for all. @throws the error of `deliver` */
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

/** Concatenates entries to NDJSON. */
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
