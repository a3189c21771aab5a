import { expect, it } from "vitest";
import { parse } from "../../../../src/query-language/parse.ts";
import { SLOWEST_QUERIES } from "../../../../src/workspace/panels.ts";
import { durationFields, pathField, slowestQuery } from "../../../../web/src/pages/boards/slowest.ts";
import type { FieldFacts } from "../../../../web/src/pages/explorer/fields/field-facts.ts";

function fields(types: Readonly<Record<string, string>>): FieldFacts[] {
  return Object.entries(types).map(([name, type]) => ({ name, type, entries: 10, values: [] }));
}

/** The query that the fields of some entries lead to. */
function queryOf(types: Readonly<Record<string, string>>): string | null {
  const [duration] = durationFields(fields(types));
  const path = pathField(fields(types));
  return duration === undefined || path === null ? null : slowestQuery(duration, path);
}

it.each([
  // pino-http
  [
    {
      "req.id": "number",
      "req.method": "string",
      "req.url": "string",
      "res.statusCode": "number",
      responseTime: "number",
    },
    'responseTime:* req.url:* | stats count(), p95(responseTime) as "p95 ms" by req.url | sort "p95 ms" desc | limit 10',
  ],
  // OpenTelemetry's semantic conventions
  [
    {
      '"http.route"': "string",
      '"url.path"': "string",
      '"http.server.request.duration"': "number",
      "resource.service.name": "string",
    },
    'http.server.request.duration:* http.route:* | stats count(), p95(http.server.request.duration) as "p95 s" by http.route | sort "p95 s" desc | limit 10',
  ],
  // plain
  [
    { ms: "number", route: "string", items: "number" },
    'ms:* route:* | stats count(), p95(ms) as "p95 ms" by route | sort "p95 ms" desc | limit 10',
  ],
  // A name without a unit names the field, as its unit is not known.
  [
    { duration: "number", endpoint: "string" },
    "duration:* endpoint:* | stats count(), p95(duration) by endpoint | sort p95(duration) desc | limit 10",
  ],
  [
    { duration_ns: "number", latency: "number", "http.target": "string" },
    'duration_ns:* http.target:* | stats count(), p95(duration_ns) as "p95 ns" by http.target | sort "p95 ns" desc | limit 10',
  ],
  // Serilog and ASP.NET
  [
    { ElapsedMilliseconds: "number", RequestPath: "string" },
    'ElapsedMilliseconds:* RequestPath:* | stats count(), p95(ElapsedMilliseconds) as "p95 ms" by RequestPath | sort "p95 ms" desc | limit 10',
  ],
])("finds duration, unit and path in %j", (types, query) => {
  expect(queryOf(types)).toBe(query);
  const parsed = parse(query);
  expect(parsed.ok && parsed.columns?.map(({ name }) => name)).toHaveLength(3);
});

it.each([
  // Percentiles read no text.
  { duration: "string", route: "string" },
  { durationMs: "number", user: "string" },
  // Ends of words and other numbers are no durations and no paths.
  { items: "number", forms: "number", curl: "string", subpath: "string" },
])("finds nothing in %j", (types) => {
  expect(queryOf(types)).toBeNull();
});

it("the queries of the service's own panel are valid", () => {
  for (const query of SLOWEST_QUERIES) expect(parse(query)).toMatchObject({ ok: true });
});
