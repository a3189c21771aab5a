import { ByteReader, ByteWriter } from "../bytes/varint.ts";

/**
 * One counter's admitted units within one second, packed for one row: a run of (millisecond within the second, units),
 * in order of time. At most 1,000 pairs: about 5 KB at the largest limit.
 */
export class PackedSecond {
  readonly #writer = new ByteWriter();
  /** Where the newest pair begins, so that another unit in the same millisecond rewrites only it. */
  #lastAt = 0;
  #lastMs = -1;
  #lastCount = 0;

  static from(blob: ArrayBuffer): PackedSecond {
    const packed = new PackedSecond();
    forEachPacked(blob, (ms, count) => packed.add(ms, count));
    return packed;
  }

  /** Counts `cost` units at millisecond `ms` (0..999), which must not be less than in any earlier call. */
  add(ms: number, cost: number): void {
    if (ms === this.#lastMs) {
      this.#writer.length = this.#lastAt;
      this.#lastCount += cost;
    } else {
      this.#lastAt = this.#writer.length;
      this.#lastMs = ms;
      this.#lastCount = cost;
    }
    this.#writer.varint(ms);
    this.#writer.varint(this.#lastCount);
  }

  toBlob(): Uint8Array {
    return this.#writer.toBytes();
  }
}

export function forEachPacked(blob: ArrayBuffer, visit: (ms: number, count: number) => void): void {
  const reader = new ByteReader(new Uint8Array(blob));
  while (!reader.done) {
    const ms = reader.varint();
    visit(ms, reader.varint());
  }
}
