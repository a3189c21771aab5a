import fc from "fast-check";
import type { TestAggregation, TestField, TestKey } from "./reference.ts";

/** A field of the entry itself. */
export const own = (text: string): TestField => ({ text, paths: [] });
const OWN = [
  "level",
  "category",
  "type",
  "message",
  "session",
  "trace",
  "span",
  "seq",
  "time",
  "received",
  "project",
  "id",
  "pattern",
];
const DATA: TestField[] = [
  { text: "a", paths: [["a"]] },
  { text: "b", paths: [["b"]] },
  { text: "data.a", paths: [["a"]] },
  { text: "a.b", paths: [["a", "b"], ["a.b"]] },
  { text: '"a.b"', paths: [["a.b"]] },
  { text: "a.b.a", paths: [["a", "b", "a"], ["a.b", "a"], ["a", "b.a"], ["a.b.a"]] },
  { text: "a[0]", paths: [["a", "0"]] },
  { text: "a.0", paths: [["a", "0"], ["a.0"]] },
  { text: "a.length", paths: [["a", "length"], ["a.length"]] },
  { text: "service", paths: [["service"], ["service", "name"], ["service.name"]] },
  { text: "data.service", paths: [["service"]] },
  { text: "__proto__", paths: [["__proto__"]] },
  { text: '"".b', paths: [["", "b"]] },
  { text: '"\\""', paths: [['"']] },
  { text: 'a["a.b"]', paths: [["a", "a.b"]] },
];
const field = fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...DATA) }, fc.constantFrom(...OWN.map(own)));
const BINS = { "30s": 30_000, "1m": 60_000, "7m": 420_000, "1d": 86_400_000 } as const;
const bin = fc.constantFrom(...Object.entries(BINS)).map(([text, ms]): TestKey => ({ bin: text, ms }));
export const key: fc.Arbitrary<TestKey> = fc.oneof({ weight: 3, arbitrary: field }, bin);
const NUMERIC = ["sum", "avg", "p50", "p75", "p90", "p95", "p99", "p999"];
export const aggregation: fc.Arbitrary<TestAggregation> = fc.oneof(
  fc.constant({ fn: "count" }),
  fc.record({ fn: fc.constantFrom("count", "count_distinct", "first", "last", "values"), field }),
  fc.record({ fn: fc.constantFrom(...NUMERIC), field: fc.constantFrom(...DATA, own("seq")) }),
  fc.record({
    fn: fc.constantFrom("min", "max"),
    field: fc.constantFrom(...DATA, ...["seq", "time", "received", "level"].map(own)),
  }),
);

/** Returns the body of a request. */
export function bodyOf(keys: readonly TestKey[], aggregations: readonly TestAggregation[], more: object = {}) {
  return {
    aggregations: aggregations.map(({ fn, field: of }, at) => ({
      fn,
      ...(of ? { field: of.text } : {}),
      as: `c${at}`,
    })),
    groupBy: keys.map((each) => ("bin" in each ? { bin: each.bin } : each.text)),
    ...more,
  };
}
