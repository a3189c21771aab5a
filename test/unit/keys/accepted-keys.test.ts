import { expect, test } from "vitest";
import { AcceptedKeys } from "../../../src/keys/api-key.ts";

test("A1: the cache of accepted keys is bounded and evicts the key that was accepted longest ago", () => {
  const keys = new AcceptedKeys(2);
  keys.add("a");
  keys.add("b");
  keys.add("a");
  keys.add("c");
  expect(["a", "b", "c"].map((hash) => keys.has(hash))).toEqual([true, false, true]);
  keys.delete("a");
  expect(keys.has("a")).toBe(false);
});
