import { expect, test } from "vitest";
import { ByteCache } from "../../../src/platform/isolate-memory.ts";

test("A3: holds at most its capacity, and evicts the least recently used value", () => {
  const cache = new ByteCache<string>(10);
  const [a, b, c, large] = [{}, {}, {}, {}];
  cache.set(a, "a", 4);
  cache.set(b, "b", 4);
  expect(cache.get(a)).toBe("a");
  cache.set(c, "c", 4);
  expect([cache.get(a), cache.get(b), cache.get(c), cache.held]).toEqual(["a", undefined, "c", 8]);
  cache.set(a, "a", 6);
  expect([cache.get(a), cache.get(c), cache.held]).toEqual(["a", "c", 10]);
  cache.set(a, "a", 7);
  expect([cache.get(a), cache.get(c), cache.held]).toEqual(["a", undefined, 7]);
  cache.set(large, "large", 11);
  expect([cache.get(large), cache.get(a), cache.held]).toEqual([undefined, "a", 7]);
  cache.delete(a);
  cache.delete(a);
  expect([cache.get(a), cache.held]).toEqual([undefined, 0]);
});

test("frees what it kept and no longer keeps, and never what a caller still uses", () => {
  const freed: string[] = [];
  const cache = new ByteCache<string>(10, (value) => freed.push(value));
  const [a, b] = [{}, {}];
  cache.set(a, "a", 4);
  cache.set(a, "a", 6);
  expect(freed).toEqual([]);
  cache.set(b, "b", 8);
  expect(freed).toEqual(["a"]);
  cache.set(b, "b", 11);
  expect([cache.get(b), cache.held, freed]).toEqual([undefined, 0, ["a"]]);
  cache.set(a, "too large", 11);
  expect(freed).toEqual(["a"]);
});
