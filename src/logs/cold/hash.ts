/**
 * Two independent 32-bit hashes, taken over UTF-16 code units so that any string has one, alone surrogates included.
 * Not keyed: whoever makes strings collide makes his own segments be read in vain.
 */
export class TokenHasher {
  a = 0;
  b = 0;

  reset(a: number, b: number): this {
    this.a = a;
    this.b = b;
    return this;
  }

  /** One number of up to 32 bits. */
  unit(unit: number): this {
    this.a = Math.imul(this.a ^ unit, 0x85ebca77);
    this.b = Math.imul(this.b ^ unit, 0xc2b2ae3d);
    this.a ^= this.a >>> 15;
    this.b ^= this.b >>> 13;
    return this;
  }

  /** A string and its length, so that names of a path cannot run into each other. */
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

  /** Spreads what was taken in over all bits. */
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

const FIRST_CAPACITY = 1024;
/** Hashes that a set takes; then it is full, stops counting and is of no more use. More fit no filter of a segment. */
const MOST_HASHES = 80_000;

/** A set of hash pairs: open addressing in two typed arrays, a tenth of the memory of a `Set`. */
export class HashSet64 {
  #a = new Uint32Array(FIRST_CAPACITY);
  #b = new Uint32Array(FIRST_CAPACITY);
  #size = 0;
  #hasZero = false;

  /** Infinite once it is full: what came later is not in it. */
  get size(): number {
    if (this.#size >= MOST_HASHES) return Number.POSITIVE_INFINITY;
    return this.#size + (this.#hasZero ? 1 : 0);
  }

  add(a: number, b: number): void {
    if (this.#size >= MOST_HASHES) return;
    if (a === 0 && b === 0) {
      this.#hasZero = true;
      return;
    }
    if (this.#size * 2 >= this.#a.length) this.#grow();
    if (insert(this.#a, this.#b, a >>> 0, b >>> 0)) this.#size++;
  }

  forEach(visit: (a: number, b: number) => void): void {
    if (this.#hasZero) visit(0, 0);
    for (let slot = 0; slot < this.#a.length; slot++) {
      const a = this.#a[slot] ?? 0;
      const b = this.#b[slot] ?? 0;
      if (a !== 0 || b !== 0) visit(a, b);
    }
  }

  clear(): void {
    if (this.size === 0) return;
    this.#a.fill(0);
    this.#b.fill(0);
    this.#size = 0;
    this.#hasZero = false;
  }

  #grow(): void {
    const a = new Uint32Array(this.#a.length * 2);
    const b = new Uint32Array(this.#b.length * 2);
    this.forEach((oldA, oldB) => {
      if (oldA !== 0 || oldB !== 0) insert(a, b, oldA, oldB);
    });
    this.#a = a;
    this.#b = b;
  }
}

function insert(as: Uint32Array, bs: Uint32Array, a: number, b: number): boolean {
  const mask = as.length - 1;
  for (let slot = a & mask; ; slot = (slot + 1) & mask) {
    const otherA = as[slot];
    const otherB = bs[slot];
    if (otherA === a && otherB === b) return false;
    if (otherA !== 0 || otherB !== 0) continue;
    as[slot] = a;
    bs[slot] = b;
    return true;
  }
}
