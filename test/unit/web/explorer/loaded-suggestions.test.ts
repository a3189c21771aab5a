import { describe, expect, it } from "vitest";
import type { LoadedFields } from "../../../../web/src/pages/explorer/fields/loaded-fields.ts";
import { fieldsToBegin, withLoaded } from "../../../../web/src/pages/explorer/search/loaded-suggestions.ts";
import type { Suggestions } from "../../../../web/src/pages/explorer/search/suggestions.ts";

const TIMES = { start: 0, end: 1, from: "2026-11-22T11:00:00.000Z" };

function loaded(filter: string): LoadedFields {
  return {
    scope: { workspaceId: "ws_1", projectId: null, times: TIMES },
    filter,
    fields: {
      matched: 900,
      complete: true,
      fields: [
        { name: "level", type: "string", entries: 900, values: [{ value: "error", count: 900 }] },
        {
          name: "status",
          type: "number",
          entries: 800,
          values: [
            { value: 200, count: 700 },
            { value: 502, count: 90 },
            { value: 350, count: 10 },
          ],
        },
        { name: "service", type: "string", entries: 700, values: [{ value: "the gateway", count: 5 }] },
        { name: "exception", type: "string", entries: 2, values: [] },
      ],
    },
  };
}

function at(query: string, suggested: Suggestions | null, filter = "*", times = TIMES): Suggestions | null {
  return withLoaded({ query, position: query.length }, suggested, loaded(filter), times);
}

function ofService(query: string, start: number, items: Suggestions["items"]): Suggestions {
  const basis = { kind: "sample", entries: 500, complete: false } as const;
  return { query, start, end: query.length, items, basis };
}

describe("suggestions from the list of fields", () => {
  it("are values that begin with what is typed, with their counts, before the service answers", () => {
    expect(at("status:5", null)).toEqual({
      query: "status:5",
      start: 7,
      end: 8,
      items: [
        { text: "502", kind: "value", count: 90 },
        { text: "350", kind: "value", count: 10 },
      ],
      basis: { kind: "counts", entries: 900, complete: true },
    });
    expect(at("service:", null)?.items).toEqual([{ text: '"the gateway"', kind: "value", count: 5 }]);
  });

  it("come before those of the service, which have no counts of their own then", () => {
    const suggested = ofService("status:", 7, [
      { text: "200", kind: "value", count: 400 },
      { text: "404", kind: "value", count: 1 },
      { text: ">=", kind: "operator" },
    ]);
    expect(at("status:", suggested)?.items).toEqual([
      { text: "200", kind: "value", count: 700 },
      { text: "502", kind: "value", count: 90 },
      { text: "350", kind: "value", count: 10 },
      { text: "404", kind: "value" },
      { text: ">=", kind: "operator" },
    ]);
  });

  it("follow those of the service without counts if the list counts other entries", () => {
    const query = "service:x status:";
    expect(at(query, null)).toBeNull();
    const suggested = ofService(query, query.length, [{ text: "200", kind: "value", count: 4 }]);
    const expected = [
      { text: "200", kind: "value", count: 4 },
      { text: "502", kind: "value" },
      { text: "350", kind: "value" },
    ];
    expect(at(query, suggested)).toMatchObject({ items: expected, basis: { entries: 500 } });
    expect(at(query, suggested, "*", { ...TIMES, from: "2026-11-21T11:00:00.000Z" })?.items).toEqual(expected);
    expect(at(query, suggested, "service:x")?.items[0]).toEqual({ text: "200", kind: "value", count: 700 });
  });

  it("are names, also of rare fields and of those whose values are not listed", () => {
    expect(at("exce", null)?.items).toEqual([{ text: "exception:", kind: "field", type: "string", count: 2 }]);
    expect(at("* | count by exce", null)?.items[0]?.text).toBe("exception");
    // Of a table, its columns are names.
    expect(at("* | count by status | where exce", null)).toBeNull();
    expect(fieldsToBegin(loaded("*")).map(({ text }) => text)).toEqual(["level:", "status:", "service:", "exception:"]);
  });
});
