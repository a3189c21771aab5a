import { z } from "zod";
import type { Resource } from "../../http/resource.ts";
import { detectFields, valuesOfField } from "../../logs/loki/detected-fields.ts";
import { runPatterns } from "../../logs/loki/patterns.ts";
import { type LogsQuery, runLogs } from "../../logs/loki/run-logs.ts";
import { addLokiRoute } from "./loki-route.ts";
import { InvalidParameter, limitOf, millisecondsFrom, rangeOf, stepOf } from "./parameters.ts";
import { logsOf, rangeParameters, required } from "./query.ts";

const text = z.string().optional();
const SELECTOR = '{service="shop"}';
/** Entries of which the fields are read, and fields or values of one, by default and at most. */
const LINES = { usual: 1000, max: 5000 };
const FIELDS = { usual: 1000, max: 5000 };

const parameters = z.object({
  query: z.string().describe("LogQL for entries."),
  ...rangeParameters,
  line_limit: text,
  limit: text,
});

/** Adds the routes that look into the lines of entries. */
export function addLokiLines(resource: Resource): void {
  addLokiRoute(resource, {
    path: "/detected_fields",
    operation: "loki.detected-fields",
    summary: "List the fields of the newest lines",
    parameters,
    request: { query: SELECTOR },
    example: { fields: [{ label: "status", type: "int", cardinality: 3, parsers: ["json"] }], limit: 1000 },
    prepare: (params, now) => {
      const { query, limit } = sampleOf(params, now);
      return async (reading) => {
        const fields = detectFields(await runLogs(reading, query), limit);
        return [JSON.stringify({ fields, limit })];
      };
    },
  });
  addLokiRoute(resource, {
    path: "/detected_field/:field/values",
    operation: "loki.detected-field-values",
    summary: "List the values of a field of the newest lines",
    parameters,
    request: { query: SELECTOR },
    example: { values: ["200", "500"], limit: 1000 },
    prepare: (params, now, c) => {
      const { query, limit } = sampleOf(params, now);
      const field = c.req.param("field") ?? "";
      return async (reading) => {
        const values = valuesOfField(await runLogs(reading, query), field).slice(0, limit);
        return [JSON.stringify({ values, limit })];
      };
    },
  });
  addLokiRoute(resource, {
    path: "/patterns",
    operation: "loki.patterns",
    summary: "Count entries by the pattern of their message",
    description: "The counts of all patterns add up to the number of entries.",
    parameters: z.object({ query: z.string().describe("LogQL for entries."), ...rangeParameters, step: text }),
    request: { query: SELECTOR, step: "60" },
    example: { status: "success", data: [{ pattern: "job <num> done", samples: [[1795435200, 3]] }] },
    prepare: (params, now) => {
      const range = rangeOf(params, now);
      const expression = logsOf(required(params, "query"));
      const step = stepOf(params, range);
      if (step < 1000) throw new InvalidParameter("step", "must be a second or longer.");
      const query = { expression, from: millisecondsFrom(range.start), to: millisecondsFrom(range.end), step };
      return async (reading) => [JSON.stringify({ status: "success", data: await runPatterns(reading, query) })];
    },
  });
}

/** Returns the query for the newest lines, and how much of them is listed. */
function sampleOf(params: URLSearchParams, now: bigint): { query: LogsQuery; limit: number } {
  const { start, end } = rangeOf(params, now);
  const expression = logsOf(required(params, "query"));
  const lines = limitOf(params, "line_limit", LINES.usual, LINES.max);
  const limit = limitOf(params, "limit", FIELDS.usual, FIELDS.max);
  const times = { from: millisecondsFrom(start), to: millisecondsFrom(end) };
  return { query: { expression, ...times, order: "desc", limit: lines, interval: 0 }, limit };
}
