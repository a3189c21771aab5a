import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDataTest, passes, toDataFilter } from "../../../sdk/src/cli/data-test.ts";
import { matchesContent } from "../../../src/logs/query/filter.ts";
import { Filters, toFilter } from "../../../src/logs/query/schema.ts";

/** Few names and values, so that tests often match. */
const name = fc.constantFrom("a", "b", "0", "length", "__proto__", "x.y", "service");
const scalar = fc.constantFrom<unknown>(0, 1, 2, -1, "1", "a", "", true, null);
const { data } = fc.letrec((tie) => ({
  data: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("data"), { maxLength: 2 }), tie("object")),
  object: fc.array(fc.tuple(name, tie("data")), { maxLength: 3 }).map((members) => {
    const object = {};
    for (const [key, value] of members) {
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true });
    }
    return object;
  }),
}));
const path = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .map((names) => names.map((one) => (one.includes(".") ? `[${JSON.stringify(one)}]` : one)).join("."));
const test_ = fc.oneof(
  fc
    .tuple(path, fc.constantFrom("=", "!="), scalar)
    .map(([at, operator, value]) => `${at}${operator}${JSON.stringify(value)}`),
  fc
    .tuple(path, fc.constantFrom(">", ">=", "<", "<="), fc.constantFrom(0, 1, "1", "a"))
    .map(([at, operator, value]) => `${at}${operator}${JSON.stringify(value)}`),
  path,
  path.map((at) => `!${at}`),
);

test("a tail excludes exactly what a query would", () => {
  fc.assert(
    fc.property(
      fc.array(test_, { minLength: 1, maxLength: 3 }),
      data,
      fc.constantFrom("a", "1", undefined),
      (texts, value, own) => {
        const tests = texts.map(parseDataTest);
        let filter: object;
        try {
          filter = toDataFilter(tests);
        } catch {
          return;
        }
        const service = toFilter(Filters.parse({ data: filter }));
        const entry = {
          timestamp: "",
          level: "info" as const,
          category: "",
          type: "",
          message: "",
          data: Object(value),
        };
        if (own !== undefined) Object.assign(entry, { service: own });
        expect(passes(tests, entry)).toBe(matchesContent(service, entry));
      },
    ),
    { numRuns: 3000 },
  );
});
