import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import type { Resource } from "../../http/resource.ts";
import { LogqlError } from "../../logql/error.ts";
import { isSeries, parseLogql } from "../../logql/parse.ts";
import { printLogql } from "../../logql/print.ts";
import type { MetricValue } from "../../logql/series.ts";
import type { LogExpression, MetricExpression } from "../../logql/syntax.ts";
import type { Steps } from "../../logql/windows.ts";
import type { LokiReading } from "../../logs/loki/reading.ts";
import { runLogs } from "../../logs/loki/run-logs.ts";
import { runMetric } from "../../logs/loki/run-metric.ts";
import { counted } from "../../platform/bytes.ts";
import { ENCODING_FLAGS, metricText, streamsText } from "./answers.ts";
import { addLokiRoute, type LokiRead } from "./loki-route.ts";
import {
  InvalidParameter,
  intervalOf,
  limitOf,
  millisecondOf,
  millisecondsFrom,
  type NanosecondRange,
  orderOf,
  rangeOf,
  stepOf,
  timeOf,
} from "./parameters.ts";

/** Entries of an answer, by default and at most, as in Loki. */
const LIMIT = { usual: 100, max: 5000 };

export const timeParameter = z.string().optional().describe("Nanoseconds, seconds, or RFC 3339.");
export const rangeParameters = {
  start: timeParameter,
  end: timeParameter,
  since: z.string().optional().describe("A duration before the end, in place of `start`."),
};
const text = z.string().optional();
const queryParameter = z
  .string()
  .describe("LogQL.")
  .meta({ examples: ['{service="shop"} |= "timeout"'] });

const MATRIX = {
  status: "success",
  data: { resultType: "matrix", result: [{ metric: { level: "error" }, values: [[1795435200, "3"]] }] },
};
const VECTOR = {
  status: "success",
  data: { resultType: "vector", result: [{ metric: { level: "error" }, value: [1795435200, "3"] }] },
};

export function addLokiQueries(resource: Resource): void {
  addLokiRoute(resource, {
    path: "/query_range",
    operation: "loki.query-range",
    summary: "Query a range with LogQL",
    description:
      "Entries, or a metric at the multiples of `step` from `start` to `end`. What is not supported is 400 and names it.",
    parameters: z.object({
      query: queryParameter,
      ...rangeParameters,
      step: z.string().optional().describe("Seconds or a duration, of a metric."),
      interval: z.string().optional().describe("Seconds or a duration that entries are apart at least."),
      limit: z
        .string()
        .optional()
        .describe(`Entries, ${LIMIT.usual} by default, at most ${counted(LIMIT.max)}.`),
      direction: z.enum(["backward", "forward"]).optional(),
    }),
    example: MATRIX,
    request: { query: 'sum by (level) (rate({service="shop"}[1m]))', since: "1h", step: "60" },
    rows: LIMIT.max,
    prepare: (params, now, c) => {
      const range = rangeOf(params, now);
      const expression = parseLogql(required(params, "query"));
      if (expression.kind === "logs") return logsRead(c, params, expression, range);
      const step = stepOf(params, range);
      const steps = alignedSteps(range, step);
      return async (reading) => metricText(await admittedMetric(reading, expression, steps), steps, false);
    },
  });
  addLokiRoute(resource, {
    path: "/query",
    operation: "loki.query",
    summary: "Query an instant with LogQL",
    description: "A metric at one time. Entries are read with `query_range`.",
    parameters: z.object({ query: queryParameter, time: timeParameter, limit: text, direction: text }),
    example: VECTOR,
    request: { query: 'sum by (level) (count_over_time({service="shop"}[1h]))' },
    prepare: (params, now) => {
      const expression = parseLogql(required(params, "query"));
      if (expression.kind === "logs") {
        const message =
          "log queries are not supported as an instant query type, please change your query to a range query type";
        throw new LogqlError(message, null);
      }
      const steps = { first: millisecondOf(timeOf(params, "time", now)), step: 1, count: 1 };
      return async (reading) => metricText(await admittedMetric(reading, expression, steps), steps, true);
    },
  });
  addLokiRoute(resource, {
    path: "/format_query",
    operation: "loki.format-query",
    summary: "Format a query of LogQL",
    parameters: z.object({ query: queryParameter }),
    example: { status: "success", data: '{service="shop"} |= "timeout"' },
    request: { query: '{service="shop"}|="timeout"' },
    prepare: (params) => {
      const answer = { status: "success", data: printLogql(parseLogql(required(params, "query"))) };
      return async ({ source }) => {
        await admitted(source);
        return [JSON.stringify(answer)];
      };
    },
  });
}

/** Returns the multiples of a step from the last one up to the start to the first one from the end on, as Loki does it. */
function alignedSteps({ start, end }: NanosecondRange, step: number): Steps {
  const first = Math.floor(millisecondOf(start) / step) * step;
  const last = Math.ceil(millisecondsFrom(end) / step) * step;
  return { first, step, count: Math.max(1, (last - first) / step + 1) };
}

/** Runs a metric. One that reads no entries, such as Grafana's health check, needs a valid key, too. */
async function admittedMetric(reading: LokiReading, expression: MetricExpression, steps: Steps): Promise<MetricValue> {
  if (!isSeries(expression)) await admitted(reading.source);
  return runMetric(reading, expression, steps);
}

/** Admits and counts a request that reads no entries, by the smallest read. */
export async function admitted(source: Parameters<LokiRead>[0]["source"]): Promise<void> {
  const none = { from: 0, to: 0, levelMask: 0, categoryMask: 0, followsMoves: true };
  await source.recentCounts({ ...none, asOf: null, after: 0 });
}

/** Returns the entries of a query. @throws LogqlError for a metric */
export function logsOf(query: string): LogExpression {
  const expression = parseLogql(query);
  if (expression.kind === "logs") return expression;
  throw new LogqlError("only log selector is supported", null);
}

export function required(params: URLSearchParams, name: string): string {
  const value = params.get(name);
  if (value === null || value.trim() === "") throw new InvalidParameter(name, "is required.");
  return value;
}

function logsRead(
  c: Context<AppEnv>,
  params: URLSearchParams,
  expression: LogExpression,
  { start, end }: NanosecondRange,
): LokiRead {
  const query = {
    expression,
    from: millisecondsFrom(start),
    to: millisecondsFrom(end),
    order: orderOf(params),
    limit: limitOf(params, "limit", LIMIT.usual, LIMIT.max),
    interval: intervalOf(params),
  };
  const flags = c.req.header(ENCODING_FLAGS);
  return async (reading) => streamsText(await runLogs(reading, query), flags);
}
