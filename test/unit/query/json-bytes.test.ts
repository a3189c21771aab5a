import fc from "fast-check";
import { expect, test } from "vitest";
import { toByteString } from "../../../src/logs/query/case-folding.ts";
import { ObjectWork } from "../../../src/logs/query/json-bytes.ts";

function workOf(objects: ObjectWork, value: unknown): number {
  const json = Buffer.from(JSON.stringify(value));
  return objects.of(json, 0, json.length);
}

test("objects with the names of an earlier one take nothing more, also in other lines", () => {
  const objects = new ObjectWork();
  const line = (value: number) => ({ a: value, 'b"\\': "x", c: [{ d: "e:", a: 1 }, "f", {}], g: { a: "\\" } });
  const first = workOf(objects, line(1));
  expect(first).toBeGreaterThan(0);
  expect(workOf(objects, line(2))).toBe(0);
});

test("names in another order, behind other names or in parts are new", () => {
  const objects = new ObjectWork();
  const one = workOf(objects, { a: 1 });
  expect(one).toBeGreaterThan(0);
  expect(workOf(objects, { a: 1, b: 1 })).toBe(one);
  expect(workOf(objects, { b: 1, a: 1 })).toBe(2 * one);
  expect(workOf(objects, { ab: 1 })).toBe(one);
  expect(workOf(objects, { a: { b: 1 } })).toBe(0);
  expect(workOf(objects, { a: "b", c: [":"] })).toBe(one);
});

test("members of an object with many take more than those of small objects", () => {
  const objects = new ObjectWork();
  const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at]));
  const list = Array.from({ length: 1000 }, () => ({ k: 1 }));
  workOf(objects, [wide, list]);
  expect(workOf(objects, list)).toBe(0);
  expect(workOf(objects, wide)).toBeGreaterThan(900 * 100);
});

test("names are new that a known hash maps to the same value", () => {
  // All have the same FNV-1a hash of 32 bits.
  const names = ["-xxbdT", "XPxlTU", "vikocA", "jP7pe5", "kpMtYp", "s-4umO", "ku2Hg2", "c5vHXK", "XbKJbZ", "dV1K8K"];
  const fnv = (name: string) =>
    [...Buffer.from(name)].reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5 | 0);
  expect(new Set(names.map(fnv)).size).toBe(1);
  const objects = new ObjectWork();
  const one = workOf(objects, { [names[0] ?? ""]: 1 });
  const others = workOf(
    objects,
    names.slice(1).map((name) => ({ [name]: 1 })),
  );
  expect(others).toBe((names.length - 1) * one);
});

test("anything is read to its end, whatever it is", () => {
  const objects = new ObjectWork();
  for (const text of ["", '"', '"\\', "}}}{", '{"a', '{"a"', '{"a":"', '{"a":"\\', "[".repeat(99), "{".repeat(99)]) {
    const raw = Buffer.from(text);
    expect(objects.of(raw, 0, raw.length)).toBeLessThan(2000);
  }
});

test("a text as bytes, one character each, is its UTF-8, whatever its length and characters", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 300 }),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 3 }), (parts) => {
      const text = parts.join("");
      expect(toByteString(text)).toBe(Buffer.from(text, "utf8").toString("latin1"));
    }),
  );
  for (const text of ["", "\u0000\u007f", "\u0080", "\ud800", "é".repeat(300), "a".repeat(256), "a".repeat(257)]) {
    expect(toByteString(text)).toBe(Buffer.from(text, "utf8").toString("latin1"));
  }
});
