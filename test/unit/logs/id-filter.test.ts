import fc from "fast-check";
import { expect, it } from "vitest";
import { ID_MEMBERS, IdCollector, idHashesOf, mayContainIds } from "../../../src/logs/id-filter.ts";

const encoder = new TextEncoder();
const none = { session: null, traceId: null };

function added(ids: readonly string[], name: "session" | "traceId" = "traceId"): Uint8Array {
  const collector = new IdCollector();
  for (const id of ids) collector.addEntry({ [name]: id });
  return collector.toFilter();
}

const isIn = (filter: Uint8Array, wanted: { session: string | null; traceId: string | null }) =>
  mayContainIds([filter], idHashesOf(wanted));

it("has every id, of either member, in any script, written as text or as bytes of JSON", () => {
  const id = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom('a"b', "\\", "\n", "\u007f", "\ud800", "é", "𐐀"),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ session: id, traceId: id }), { minLength: 1, maxLength: 80 }), (entries) => {
      const asText = new IdCollector();
      const asBytes = new IdCollector();
      for (const entry of entries) {
        asText.addEntry(entry);
        for (const [member, name] of ID_MEMBERS.entries()) {
          const bytes = encoder.encode(`?${JSON.stringify(entry[name])}?`);
          asBytes.addBytes(member, bytes, 2, bytes.length - 2);
        }
      }
      const filter = asText.toFilter();
      expect(asBytes.toFilter()).toEqual(filter);
      for (const entry of entries) {
        expect(isIn(filter, entry)).toBe(true);
        expect(isIn(filter, { ...none, session: entry.session })).toBe(true);
      }
    }),
  );
});

it("excludes most others: 1.2 % pass with ten bits an id", () => {
  const hex = (n: number) => (n * 2654435761).toString(16).padStart(32, "0");
  const filter = added(Array.from({ length: 1000 }, (_, n) => hex(n)));
  expect(filter.length).toBe(1250);
  let passed = 0;
  for (let n = 1000; n < 21_000; n++) if (isIn(filter, { ...none, traceId: hex(n) })) passed++;
  expect(passed / 20_000).toBeLessThan(0.02);
});

it("distinguishes sessions from traces, and counts a repeated id once", () => {
  const filter = added(
    Array.from({ length: 500 }, () => "one"),
    "session",
  );
  expect(filter.length).toBe(2);
  expect(isIn(filter, { ...none, session: "one" })).toBe(true);
  expect(isIn(filter, { ...none, traceId: "one" })).toBe(false);
});

it("is empty without ids and excludes every id; passes every batch if no id is requested", () => {
  expect(added([]).length).toBe(0);
  expect(isIn(added([]), { ...none, traceId: "" })).toBe(false);
  expect(isIn(added([]), none)).toBe(true);
  expect(mayContainIds(null, [1])).toBe(true);
});
