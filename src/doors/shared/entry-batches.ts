import { type Batch, bytesOf, decodeBody, freeBatches } from "../../logs/batch.ts";
import type { BodyFailure } from "../../logs/ingest/body-failure.ts";
import { BatchBuilder } from "../../logs/ingest/build-batch.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { EntryFitter } from "./entry-fitter.ts";

/** Nanoseconds for a byte of a batch that is built again, for the worst input, on a fast machine. */
const COST_OF_REBUILT_BYTE = 20;

/**
 * Bytes of lines of one request. A body may be 20 MiB, and its records may share parts that are stored with each of them: 64
 * MiB is 20,000 records of 3 KiB. A small body may become this many bytes and 16 times its size (records of 200 bytes
 * with a resource of 3 KB), or it would fill the memory: batches are sent to the object between the chunks of a body only.
 */
export const REQUEST_BYTES = { most: 64 * 1024 * 1024, least: 2 * 1024 * 1024, perByte: 16 } as const;
/** Bytes of lines that are expected of a byte of the body. */
export const EXPECTED_RATIO = 1.25;
export const TOO_LARGE: BodyFailure = {
  reason: "too_many",
  message: `With what records share in each of them, the entries are too large: more than ${REQUEST_BYTES.most} bytes, or ${REQUEST_BYTES.perByte} times the body.`,
};

const utf8 = new TextDecoder();

/** The finished batches of one request, in order, which can be built again with other times or without some entries. */
export class EntryBatches {
  readonly #meter: TurnMeter;
  readonly #fitter: EntryFitter;
  readonly #batches: Batch[] = [];
  #held = 0;
  #taken = 0;

  constructor(meter: TurnMeter, fitter: EntryFitter) {
    this.#meter = meter;
    this.#fitter = fitter;
  }

  /** Those that were not taken. */
  get all(): readonly Batch[] {
    return this.#batches;
  }

  /** Bytes of those that were not taken. */
  get held(): number {
    return this.#held;
  }

  /** Number of the entries of those that were taken. */
  get taken(): number {
    return this.#taken;
  }

  /** Number of the entries of all. */
  get count(): number {
    return this.#batches.reduce((sum, { count }) => sum + count, this.#taken);
  }

  add(batch: Batch): void {
    this.#batches.push(batch);
    this.#held += bytesOf([batch]);
  }

  /** Frees the batches, which are stored now. */
  take(): void {
    this.#taken = this.count;
    freeBatches(this.#batches);
    this.#batches.length = 0;
    this.#held = 0;
  }

  /** Gives entries with an earlier time the time of receipt. */
  *moveOlder(oldest: number): Steps<void> {
    yield* this.#rebuild(
      ({ minTimestamp }) => minTimestamp < oldest,
      () => true,
      oldest,
    );
  }

  /** @param positions among all entries of the request; none of them was taken */
  *leaveOut(positions: ReadonlySet<number>): Steps<void> {
    const isKept = (position: number) => !positions.has(position);
    const isTouched = ({ count }: Batch, first: number) => {
      for (let at = first; at < first + count; at++) if (!isKept(at)) return true;
      return false;
    };
    yield* this.#rebuild(isTouched, isKept, Number.NEGATIVE_INFINITY);
  }

  *#rebuild(
    isDue: (batch: Batch, first: number) => boolean,
    isKept: (position: number) => boolean,
    oldest: number,
  ): Steps<void> {
    let first = this.#taken;
    for (const batch of [...this.#batches]) {
      const { count } = batch;
      if (isDue(batch, first)) {
        this.#meter.spend(batch.size * COST_OF_REBUILT_BYTE);
        const from = first;
        const rebuilt = this.#rebuilt(batch, (index) => isKept(from + index), oldest);
        const batches = rebuilt === null ? [] : [rebuilt];
        this.#batches.splice(this.#batches.indexOf(batch), 1, ...batches);
        this.#held += bytesOf(batches) - bytesOf([batch]);
        freeBatches([batch]);
        if (this.#meter.isDue) yield;
      }
      first += count;
    }
  }

  /** Returns a batch of some entries of another one; `null` of none. */
  #rebuilt({ encoding, body }: Batch, isKept: (index: number) => boolean, oldest: number): Batch | null {
    const builder = new BatchBuilder({ now: this.#fitter.now, oldest: null });
    const lines = utf8.decode(decodeBody(encoding, body)).split("\n");
    for (const [index, line] of lines.entries()) {
      if (!isKept(index)) continue;
      const fitted = this.#fitter.moved(line, oldest);
      builder.addLine(fitted, fitted.line);
    }
    return builder.finish().batch;
  }
}
