import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HeldBytes } from "../../../src/logs/aggregate/by-group.ts";
import { Texts } from "../../../src/logs/segments/decode/column-values.ts";
import { ByteDictionary, CacheMemory } from "../../../src/logs/segments/scan/byte-dictionary.ts";
import { SeenStrings } from "../../../src/logs/segments/scan/value-ids.ts";

function textsOf(strings: readonly string[]): Texts {
  const bytes = strings.map((text) => Buffer.from(text));
  const offsets = new Int32Array(strings.length + 1);
  for (const [at, { length }] of bytes.entries()) offsets[at + 1] = (offsets[at] ?? 0) + length;
  // In a larger buffer, as strings of a page are.
  const all = new Uint8Array(Buffer.concat([Buffer.from("xyz"), ...bytes]));
  return new Texts(all.subarray(3), offsets);
}

function dictionary(memory = new CacheMemory(new HeldBytes())): ByteDictionary {
  const created = ByteDictionary.create(memory);
  if (created === null) throw new Error("There is memory.");
  return created;
}

describe("a dictionary of bytes", () => {
  it("4: gives equal strings one number and different strings different ones, whatever their lengths", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 70 }),
      // Differ in few bytes, at each of their words.
      fc.string({ unit: fc.constantFrom("a", "b", "ж"), maxLength: 18 }),
    );
    fc.assert(
      fc.property(fc.array(fc.array(text, { maxLength: 30 }), { maxLength: 5 }), (groups) => {
        const ids = dictionary();
        const known = new Map<string, number>();
        for (const group of groups) {
          const texts = textsOf(group);
          for (const [index, own] of group.entries()) {
            const id = ids.idOf(texts, index);
            if (Buffer.byteLength(own) > 64) expect(id).toBe(-1);
            else expect(id).toBe(known.get(own) ?? known.size);
            if (id >= 0) known.set(own, id);
          }
        }
        expect(ids.count).toBe(known.size);
      }),
      { numRuns: 300 },
    );
  });

  it("4: grows to 65,535 strings within its memory, and gives no number to further ones", () => {
    const held = new HeldBytes();
    const ids = dictionary(new CacheMemory(held));
    const strings = Array.from({ length: 70_000 }, (_, at) => (at % 3 === 0 ? `u${at}` : `user-${at}`));
    const texts = textsOf(strings);
    const first = strings.map((_, index) => ids.idOf(texts, index));
    expect(first.slice(0, 65_535)).toEqual(Array.from({ length: 65_535 }, (_, id) => id));
    expect(new Set(first.slice(65_535))).toEqual(new Set([-1]));
    expect(strings.map((_, index) => ids.idOf(texts, index))).toEqual(first);
    expect(held.bytes).toBeLessThanOrEqual(3 * 1024 * 1024);
  });

  it("4: keeps hashes of texts by number, and the strings that a group has had", () => {
    const memory = new CacheMemory(new HeldBytes());
    const ids = dictionary(memory);
    const texts = textsOf(["a", "b"]);
    const id = ids.idOf(texts, 1);
    expect(ids.textHashOf(id)).toBeNull();
    ids.setTextHash(id, { a: 0xffffffff, b: 7 });
    expect(ids.textHashOf(id)).toEqual({ a: -1, b: 7 });
    const seen = new SeenStrings(memory);
    expect([seen.has(3, 40_000), seen.has(3, 40_000), seen.has(3, 1), seen.has(2, 1), seen.has(3, 1)]).toEqual([
      false,
      true,
      false,
      false,
      true,
    ]);
  });
});
