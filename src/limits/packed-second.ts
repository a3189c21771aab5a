/**
 * One counter's admitted units within one second, packed for one row: a run of (millisecond within the second, units),
 * both as LEB128, in order of time. At most 1,000 pairs: about 5 KB at the largest limit.
 */
export class PackedSecond {
  #bytes: Uint8Array;
  #length = 0;
  /** Where the newest pair begins, so that another unit in the same millisecond rewrites only it. */
  #lastAt = 0;
  #lastMs = -1;
  #lastCount = 0;

  constructor() {
    this.#bytes = new Uint8Array(16);
  }

  static from(blob: ArrayBuffer): PackedSecond {
    const packed = new PackedSecond();
    forEachPacked(blob, (ms, count) => packed.add(ms, count));
    return packed;
  }

  /** Counts `cost` units at millisecond `ms` (0..999), which must not be less than in any earlier call. */
  add(ms: number, cost: number): void {
    if (ms === this.#lastMs) {
      this.#length = this.#lastAt;
      this.#lastCount += cost;
    } else {
      this.#lastAt = this.#length;
      this.#lastMs = ms;
      this.#lastCount = cost;
    }
    this.#write(ms);
    this.#write(this.#lastCount);
  }

  toBlob(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #write(value: number): void {
    if (this.#length + 5 > this.#bytes.length) {
      const grown = new Uint8Array(this.#bytes.length * 2 + 8);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#length++] = rest;
  }
}

export function forEachPacked(blob: ArrayBuffer, visit: (ms: number, count: number) => void): void {
  const bytes = new Uint8Array(blob);
  let at = 0;
  const read = (): number => {
    let value = 0;
    let shift = 0;
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
      shift += 7;
    }
  };
  while (at < bytes.length) {
    const ms = read();
    visit(ms, read());
  }
}
