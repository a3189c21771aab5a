import type { TokenTable } from "./token-table.ts";

/** Each ASCII character in lower case; other bytes as they are. */
export const LOWER_ASCII = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/**
 * Computes two independent 32-bit hashes over UTF-16 code units, so that any string has a hash, even one with lone
 * surrogates. Not keyed: a client that makes strings collide only causes needless reads of its own segments.
 */
export class TokenHasher {
  a = 0;
  b = 0;

  reset(a: number, b: number): this {
    this.a = a;
    this.b = b;
    return this;
  }

  /** Adds one number of up to 32 bits. */
  unit(unit: number): this {
    this.a = Math.imul(this.a ^ unit, 0x85ebca77);
    this.b = Math.imul(this.b ^ unit, 0xc2b2ae3d);
    this.a ^= this.a >>> 15;
    this.b ^= this.b >>> 13;
    return this;
  }

  /** Adds a string and its length, so that the names of a path cannot run into each other. */
  text(text: string): this {
    let { a, b } = this;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x85ebca77);
      b = Math.imul(b ^ unit, 0xc2b2ae3d);
      a ^= a >>> 15;
      b ^= b >>> 13;
    }
    this.a = a;
    this.b = b;
    return this.unit(0x10000 + text.length);
  }

  /** Adds a string without its length: a further name of a path follows. */
  units(text: string): this {
    for (let i = 0; i < text.length; i++) this.unit(text.charCodeAt(i));
    return this;
  }

  /** Like `text`, for a text in ASCII bytes. */
  ascii(bytes: Uint8Array, from: number, to: number): this {
    let { a, b } = this;
    for (let at = from; at < to; at++) {
      const unit = bytes[at] ?? 0;
      a = Math.imul(a ^ unit, 0x85ebca77);
      b = Math.imul(b ^ unit, 0xc2b2ae3d);
      a ^= a >>> 15;
      b ^= b >>> 13;
    }
    this.a = a;
    this.b = b;
    return this.unit(0x10000 + to - from);
  }

  /** Like `ascii`, with the letters A to Z as a to z. */
  foldedAscii(bytes: Uint8Array, from: number, to: number): this {
    let { a, b } = this;
    for (let at = from; at < to; at++) {
      const unit = LOWER_ASCII[bytes[at] ?? 0] ?? 0;
      a = Math.imul(a ^ unit, 0x85ebca77);
      b = Math.imul(b ^ unit, 0xc2b2ae3d);
      a ^= a >>> 15;
      b ^= b >>> 13;
    }
    this.a = a;
    this.b = b;
    return this.unit(0x10000 + to - from);
  }

  /**
   * Like `foldedAscii`, up to the first marked byte, if that byte is `stop`; otherwise adds nothing. Finds the byte and hashes in
   * one pass, because this loop is most of a text's cost.
   * @param folded each byte in lower case; 0 for a marked one
   * @returns index of the marked byte
   */
  foldedAsciiUntil(stop: number, folded: Uint8Array, bytes: Uint8Array, from: number, end: number): number {
    let { a, b } = this;
    let at = from;
    for (; at < end; at++) {
      const unit = folded[bytes[at] ?? 0] ?? 0;
      if (unit === 0) break;
      a = Math.imul(a ^ unit, 0x85ebca77);
      b = Math.imul(b ^ unit, 0xc2b2ae3d);
      a ^= a >>> 15;
      b ^= b >>> 13;
    }
    if (at < end && bytes[at] === stop) this.reset(a, b).unit(0x10000 + at - from);
    return at;
  }

  /** Spreads the added values over all bits. */
  finish(): this {
    this.a = spread(this.a);
    this.b = spread(this.b ^ 0x9e3779b9);
    return this;
  }
}

/** MurmurHash3's finalizer. */
export function spread(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * A Bloom filter that SQL can test. Each token sets `PROBES` bits. The byte depends on the filter's length, the bit
 * within it on the token only, so a statement does not depend on any filter; see `../store/filter-condition.ts`.
 */

/**
 * With 14 bits and 7 probes a token, 0.15 % of the absent tokens pass. A needless read of a body costs 10 ms or more.
 */
const BITS_PER_TOKEN = 14;
const PROBES = 7;

export function filterBytes(tokens: number, bitsPerToken = BITS_PER_TOKEN): number {
  return Math.ceil((tokens * bitsPerToken) / 8);
}

/** @param length bytes of the filter, below 2 ** 20 */
export function buildFilter(tables: readonly TokenTable[], length: number): Uint8Array {
  const filter = new Uint8Array(length);
  for (const table of tables) {
    table.forEach((a, b) => {
      const bits = bitsOf(a, b);
      for (let probe = 0; probe < PROBES; probe++) {
        const at = scaled(position(a, b, probe), length);
        filter[at] = (filter[at] ?? 0) | (1 << ((bits >>> (3 * probe)) & 7));
      }
    });
  }
  return filter;
}

/** One bit to test: byte `floor(position * length / 2 ** 32)`, bit `bit`. */
export interface Probe {
  position: number;
  bit: number;
}

export function probesOf(a: number, b: number): Probe[] {
  const bits = bitsOf(a, b);
  return Array.from({ length: PROBES }, (_, probe) => ({
    position: position(a, b, probe),
    bit: (bits >>> (3 * probe)) & 7,
  }));
}

/** Tests a filter like the SQL of `../store/filter-condition.ts`. */
export function mayContain(filter: Uint8Array, a: number, b: number): boolean {
  return probesOf(a, b).every(
    (probe) => ((filter[scaled(probe.position, filter.length)] ?? 0) & (1 << probe.bit)) !== 0,
  );
}

/** Scales a position in 2 ** 32 to a position in `length`. */
export function scaled(at: number, length: number): number {
  return Math.floor((at * length) / 0x1_0000_0000);
}

function position(a: number, b: number, probe: number): number {
  return (a + Math.imul(probe, b | 1)) >>> 0;
}

function bitsOf(a: number, b: number): number {
  return spread(b ^ (a << 16) ^ (a >>> 16));
}
