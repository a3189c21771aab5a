/** Bits of a hash that choose a register. */
const INDEX_BITS = 14;
const REGISTERS = 1 << INDEX_BITS;
/** Bits of a hash whose leading zeros are counted. */
const RANK_BITS = 32;

/** Stated standard error of a distinct count from a sketch: 1.04 divided by the root of the number of registers. */
export const CARDINALITY_ERROR = 0.0082;

/**
 * Estimates how many different hashes were added (HyperLogLog with the estimator of Ertl, arXiv 1702.01284, which needs
 * no correction for small or large counts). Registers depend on the set of hashes alone, so sketches merge exactly.
 */
export class Cardinality {
  static readonly bytes = REGISTERS + 200;
  /** Work units of an estimate or a merge. */
  static readonly readWork = 20_000;
  readonly registers: Uint8Array;

  constructor(registers: Uint8Array = new Uint8Array(REGISTERS)) {
    this.registers = registers;
  }

  /** Adds a hash of twice 32 bits. */
  add(a: number, b: number): void {
    const at = a >>> (32 - INDEX_BITS);
    const rank = Math.clz32(b) + 1;
    if (rank > (this.registers[at] ?? 0)) this.registers[at] = rank;
  }

  merge(registers: Uint8Array): void {
    for (const [at, rank] of registers.entries()) {
      if (rank > (this.registers[at] ?? 0)) this.registers[at] = rank;
    }
  }

  /** Returns the estimate, a whole number. */
  estimate(): number {
    const counts = new Float64Array(RANK_BITS + 2);
    for (const rank of this.registers) counts[rank] = (counts[rank] ?? 0) + 1;
    let z = REGISTERS * tau(1 - (counts[RANK_BITS + 1] ?? 0) / REGISTERS);
    for (let rank = RANK_BITS; rank >= 1; rank--) z = 0.5 * (z + (counts[rank] ?? 0));
    z += REGISTERS * sigma((counts[0] ?? 0) / REGISTERS);
    return Math.round((REGISTERS * REGISTERS) / (2 * Math.LN2 * z));
  }
}

function sigma(share: number): number {
  if (share === 1) return Number.POSITIVE_INFINITY;
  let x = share;
  let y = 1;
  let z = share;
  for (let before = Number.NaN; z !== before; ) {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  }
  return z;
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let x = share;
  let y = 1;
  let z = 1 - share;
  for (let before = Number.NaN; z !== before; ) {
    x = Math.sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
  }
  return z / 3;
}
