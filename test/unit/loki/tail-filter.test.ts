import { expect, test } from "vitest";
import { parseLogql } from "../../../src/logql/parse.ts";
import type { StoredEntry } from "../../../src/logs/entry.ts";
import { tailResults } from "../../../src/logs/loki/tail-filter.ts";

function tailOf(query: string) {
  const expression = parseLogql(query);
  if (expression.kind !== "logs") throw new Error("A tail has entries.");
  return tailResults(expression);
}

const entry: StoredEntry = {
  ...{ id: "log_x", seq: 1, projectId: "proj_x", timestamp: "2026-11-22T10:00:00.000Z" },
  ...{
    receivedAt: "2026-11-22T10:00:00.000Z",
    level: "info" as const,
    category: "custom",
    type: "log",
    service: "shop",
  },
  message: "x".repeat(20_000),
};

/** Number of entries of which the stages are run; `null` if all are. */
function endOf(query: string, entries: number): number | null {
  const take = tailOf(query);
  for (let at = 0; at < entries; at++) {
    try {
      take(entry);
    } catch (error) {
      expect(String(error)).toContain("the query takes too long for a tail");
      return at;
    }
  }
  return null;
}

test("a tail goes on for long lines, and ends for stages that take much longer than their lines", () => {
  expect(endOf('{service="shop"} | json | logfmt | line_format "{{.service}} {{__line__ | ToUpper}}"', 500)).toBeNull();
  const costly = endOf(`{service="shop"} | line_format "{{__line__${" | ToUpper | ToLower".repeat(50)}}}"`, 500);
  expect(costly).toBeGreaterThan(0);
  expect(costly).toBeLessThan(10);
  expect(endOf(`{service="other"} | line_format "{{__line__${" | ToUpper".repeat(99)}}}"`, 500)).toBeNull();
});
