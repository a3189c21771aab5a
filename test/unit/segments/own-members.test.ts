import { describe, expect, test } from "vitest";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import type { SegmentFile } from "../../../src/logs/segments/encode/encode-segment.ts";
import { RowGroupFilter } from "../../../src/logs/segments/scan/row-group-filter.ts";
import { EARLIER_FILE, EARLIER_LINES, FOREIGN_FILE, FOREIGN_LINES } from "./earlier-files.ts";
import { filesOf, merge } from "./merging.ts";
import { bytesOf, encode, line, linesIn, open, valuesIn } from "./support.ts";

/** Positions of the lines that pass. */
function found(bytes: Uint8Array, body: object): number[] {
  const { filter } = QueryBody.parse(body);
  const { reader, chunk } = open(bytes);
  const passing: number[] = [];
  let first = 0;
  for (const [group, { rows }] of reader.rowGroups.entries()) {
    const own = new RowGroupFilter(reader, group, filter, { asOf: null, afterCommit: 0 }, new WorkMeter());
    const steps = own.steps((column) => chunk(group, column));
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    for (const row of step.value.rows) passing.push(first + row);
    first += rows;
  }
  return passing;
}

const shop = Array.from({ length: 40 }, (_, at) =>
  line(
    at % 5 === 4 ? undefined : { n: at, ...(at % 3 === 0 && { host: { ip: `10.0.0.${at}` } }) },
    { service: at % 2 === 0 ? "checkout" : "search", ...(at % 4 === 0 && { host: `web-${at % 3}` }) },
    at,
  ),
);

describe("own members in segment files", () => {
  test("18.3: service and host are columns of their own, and lines come back letter for letter", () => {
    const bytes = bytesOf(encode(shop));
    const { reader } = open(bytes);
    expect(reader.columns.map(({ name }) => name)).toEqual(expect.arrayContaining(["service", "host", "data.n"]));
    expect(linesIn(bytes).map(String)).toEqual(shop);
    expect(valuesIn(bytes, "service").slice(0, 3)).toEqual(["checkout", "search", "checkout"]);
    expect(valuesIn(bytes, "host").slice(0, 3)).toEqual(["web-0", null, null]);
    // No line is stored whole.
    expect(valuesIn(bytes, "shape")).not.toContain("line");
    expect(found(bytes, { filters: { host: "web-0" } })).toEqual(
      shop.flatMap((text, at) => (text.includes('"host":"web-0"') ? [at] : [])),
    );
    expect(found(bytes, { q: "host.ip:10.0.0.0" })).toEqual([0]);
  });

  test("18.3: lines that have them only after the columns were chosen", () => {
    const late = [line({ n: 1 }), line({ n: 2 }), ...shop];
    const bytes = bytesOf(encode(late, { groupRows: 2 }));
    expect(linesIn(bytes).map(String)).toEqual(late);
    expect(open(bytes).reader.indexOf("service")).toBe(-1);
    const wanted = late.flatMap((text, at) => (text.includes('"service":"search"') ? [at] : []));
    expect(found(bytes, { filters: { service: "search" } })).toEqual(wanted);
    expect(found(bytes, { filters: { data: { service: "search" } } })).toEqual(wanted);
  });

  test("18.3: a member of `data` with the name of an own one keeps its line, and each is found", () => {
    const both = [
      line({ service: "a", n: 1 }, { service: "b" }),
      line({ service: { name: "c" } }, { service: "b" }),
      line({ service: 5 }, { service: "b" }),
      line({ service: "b" }),
    ];
    const bytes = bytesOf(encode(both));
    expect(linesIn(bytes).map(String)).toEqual(both);
    expect(found(bytes, { q: "service:b" })).toEqual([0, 1, 2, 3]);
    expect(found(bytes, { q: "data.service:b" })).toEqual([1, 3]);
    expect(found(bytes, { q: "service.name:c" })).toEqual([1]);
    expect(found(bytes, { filters: { data: { service: 5 } } })).toEqual([2]);
    expect(found(bytes, { filters: { search: "B" } })).toEqual([0, 1, 2, 3]);
  });

  test("18.3: many shapes with own members are joined as others are", () => {
    const many = Array.from({ length: 400 }, (_, at) =>
      line(
        Object.fromEntries(Array.from({ length: 9 }, (__, bit) => [`m${bit}`, at]).filter((_, bit) => (at >> bit) & 1)),
        { ...(at % 2 === 0 && { session: "s" }), service: "checkout" },
        at,
      ),
    );
    const bytes = bytesOf(encode(many, { exactShapes: 16 }));
    expect(linesIn(bytes).map(String)).toEqual(many);
    expect(new Set(valuesIn(bytes, "shape")).size).toBeLessThan(100);
    expect(valuesIn(bytes, "shape")).not.toContain("line");
  });
});

describe("files of the version before", () => {
  const queries: [object, number[]][] = [
    [{ filters: { service: "checkout" } }, [0, 2]],
    [{ filters: { service: ["search", "x"] } }, [1, 3]],
    [{ filters: { host: "web-1" } }, [1]],
    [{ q: "service:CHECKOUT" }, [0, 2]],
    [{ q: "-service:*" }, [4]],
    [{ filters: { data: { service: "checkout" } } }, [0]],
    [{ filters: { data: { service: { exists: true } } } }, [0, 1, 3]],
  ];

  test("18.3: are read as before, and filters by service find what was sent beside the message", () => {
    expect(linesIn(EARLIER_FILE).map(String)).toEqual(EARLIER_LINES);
    for (const [query, expected] of queries)
      expect(found(EARLIER_FILE, query), JSON.stringify(query)).toEqual(expected);
  });

  test("18.3: give the bytes that they were, for lines without own members", () => {
    const again = bytesOf(encode(EARLIER_LINES));
    expect(open(again).reader.columns).toEqual(open(EARLIER_FILE).reader.columns);
  });

  test("18.3: are found by own members that it stored as whole lines", () => {
    expect(linesIn(FOREIGN_FILE).map(String)).toEqual(FOREIGN_LINES);
    expect(found(FOREIGN_FILE, { filters: { service: "checkout" } })).toEqual([0, 2]);
    expect(found(FOREIGN_FILE, { q: "service:search host:web-1" })).toEqual([1]);
    expect(found(FOREIGN_FILE, { filters: { data: { service: "checkout" } } })).toEqual([0, 2]);
    expect(found(FOREIGN_FILE, { q: "-host:*" })).toEqual([0, 2]);
  });

  test.each([1000, 1])(
    "18.3: merge with files of this version (row groups of %i rows and more are copied)",
    (copyRows) => {
      const [same, newer] = filesOf([...EARLIER_LINES, ...shop], [EARLIER_LINES.length]);
      if (same === undefined || newer === undefined) throw new Error("There are two files.");
      const { reader } = open(EARLIER_FILE);
      expect([reader.properties.encoder, reader.properties.count]).toEqual([4, same.count]);
      const older: SegmentFile = { ...same, parts: [EARLIER_FILE], footer: EARLIER_FILE.subarray(4) };
      const { merged } = merge([older, newer], { copyRows });
      expect(linesIn(bytesOf(merged)).map(String)).toEqual([...EARLIER_LINES, ...shop]);
      expect(valuesIn(bytesOf(merged), "service").slice(0, 7)).toEqual([
        "checkout",
        "search",
        null,
        null,
        null,
        "checkout",
        "search",
      ]);
      expect(found(bytesOf(merged), { filters: { service: "checkout" } }).slice(0, 3)).toEqual([0, 2, 5]);
    },
  );
});
