import { spread } from "./hash.ts";
import type { TokenTable } from "./token-table.ts";

/**
 * A Bloom filter that SQL can test. Each token sets `PROBES` bits. Which byte depends on the filter's length, which bit
 * of that byte on the token alone, so a statement is written without knowing a filter: see `filter-sql.ts`.
 */

/** 14 bits and 7 probes a token: 0.15 % of the tokens that are not there pass. A needless body costs 10 ms and more. */
const BITS_PER_TOKEN = 14;
const PROBES = 7;

export function filterBytes(tokens: number): number {
  return Math.ceil((tokens * BITS_PER_TOKEN) / 8);
}

/** @param length bytes of the filter, below 2 ** 20 */
export function buildFilter(tables: readonly TokenTable[], length: number): Uint8Array {
  const filter = new Uint8Array(length);
  for (const table of tables) {
    table.forEach((a, b) => {
      const bits = bitsOf(a, b);
      for (let probe = 0; probe < PROBES; probe++) {
        const at = scaled(place(a, b, probe), length);
        filter[at] = (filter[at] ?? 0) | (1 << ((bits >>> (3 * probe)) & 7));
      }
    });
  }
  return filter;
}

/** One bit to test: byte `floor(place * length / 2 ** 32)`, bit `bit`. */
export interface Probe {
  place: number;
  bit: number;
}

export function probesOf(a: number, b: number): Probe[] {
  const bits = bitsOf(a, b);
  return Array.from({ length: PROBES }, (_, probe) => ({
    place: place(a, b, probe),
    bit: (bits >>> (3 * probe)) & 7,
  }));
}

/** What the SQL of `filter-sql.ts` computes. */
export function mayContain(filter: Uint8Array, a: number, b: number): boolean {
  return probesOf(a, b).every((probe) => ((filter[scaled(probe.place, filter.length)] ?? 0) & (1 << probe.bit)) !== 0);
}

/** A place in 2 ** 32 as one in `length`. */
export function scaled(at: number, length: number): number {
  return Math.floor((at * length) / 0x1_0000_0000);
}

function place(a: number, b: number, probe: number): number {
  return (a + Math.imul(probe, b | 1)) >>> 0;
}

function bitsOf(a: number, b: number): number {
  return spread(b ^ (a << 16) ^ (a >>> 16));
}
