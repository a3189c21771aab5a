/**
 * Slots of a table sorted by a key column, ties by slot. Slots that have been appended since are sorted in when the order
 * is next asked for: adding costs nothing, and as keys mostly rise, sorting in moves little.
 */
export class SlotOrder {
  #slots = new Uint32Array(0);
  #length = 0;

  /** The slots 0..count-1 by key. Valid until the next call. */
  upTo(count: number, keys: Float64Array): Uint32Array {
    if (this.#slots.length < count) this.#grow(keys.length);
    const added = count - this.#length;
    if (added > 0) this.#merge(this.#sorted(this.#length, count, keys), keys);
    this.#length = count;
    return this.#slots.subarray(0, count);
  }

  #sorted(from: number, to: number, keys: Float64Array): Uint32Array {
    const added = Uint32Array.from({ length: to - from }, (_, index) => from + index);
    if (isRising(added, keys)) return added;
    return added.sort((a, b) => keyAt(keys, a) - keyAt(keys, b) || a - b);
  }

  /** From the back, so that only slots behind the least new key move. A new slot is larger than every old one. */
  #merge(added: Uint32Array, keys: Float64Array): void {
    const slots = this.#slots;
    let old = this.#length - 1;
    let fresh = added.length - 1;
    for (let at = this.#length + added.length - 1; fresh >= 0; at--) {
      const freshSlot = added[fresh] ?? 0;
      const oldSlot = slots[old] ?? 0;
      if (old >= 0 && keyAt(keys, oldSlot) > keyAt(keys, freshSlot)) {
        slots[at] = oldSlot;
        old--;
      } else {
        slots[at] = freshSlot;
        fresh--;
      }
    }
  }

  #grow(capacity: number): void {
    const grown = new Uint32Array(capacity);
    grown.set(this.#slots.subarray(0, this.#length));
    this.#slots = grown;
  }
}

function isRising(slots: Uint32Array, keys: Float64Array): boolean {
  for (let i = 1; i < slots.length; i++) {
    if (keyAt(keys, slots[i - 1] ?? 0) > keyAt(keys, slots[i] ?? 0)) return false;
  }
  return true;
}

function keyAt(keys: Float64Array, slot: number): number {
  return keys[slot] ?? 0;
}
