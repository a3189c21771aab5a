import { z } from "zod";
import type { Resource } from "../../http/resource.ts";
import { LogqlError } from "../../logql/error.ts";
import { labelKey, labelsObject } from "../../logql/labels.ts";
import { parseMatchers } from "../../logql/parse.ts";
import type { LogExpression, Matcher, MetricExpression } from "../../logql/syntax.ts";
import { STREAM_LABELS } from "../../logs/loki/loki-entry.ts";
import { runMetric } from "../../logs/loki/run-metric.ts";
import { ownStreams, readStreams, type Selection } from "../../logs/loki/streams.ts";
import { metricText } from "./answers.ts";
import { addLokiRoute } from "./loki-route.ts";
import {
  InvalidParameter,
  limitOf,
  millisecondOf,
  millisecondsFrom,
  type NanosecondRange,
  rangeOf,
  stepOf,
} from "./parameters.ts";
import { admitted, rangeParameters, required } from "./query.ts";

const SIX_HOURS = 6n * 3_600_000_000_000n;
const text = z.string().optional();
const optionalQuery = z.string().optional().describe("A selector, `{...}`.");
const SELECTOR = '{service="shop"}';
const LABELS = { status: "success", data: ["level", "service"] };
/** Series of a volume, by default and at most. */
const VOLUMES = { usual: 100, max: 1000 };
/** The largest `limit` of a volume that is accepted: Logs Drilldown asks for 5,000 series, Loki has its own bound, too. */
const VOLUME_LIMIT = 1_000_000;

export function addLokiMetadata(resource: Resource): void {
  addLabels(resource);
  addIndex(resource);
  addDetected(resource);
}

function addLabels(resource: Resource): void {
  for (const path of ["/labels", "/label"]) {
    addLokiRoute(resource, {
      path,
      operation: "loki.labels",
      summary: path === "/labels" ? "List the labels of streams" : "List the labels of streams, by an older path",
      parameters: z.object({ ...rangeParameters, query: optionalQuery }),
      example: LABELS,
      request: { since: "1h" },
      prepare: (params, now) => {
        const selection = selectionOf(params.get("query"), rangeOf(params, now, SIX_HOURS));
        return async (reading) => {
          const names = new Set<string>(selection.matchers.length === 0 ? STREAM_LABELS : []);
          for (const { labels } of await readStreams(reading, selection))
            for (const name of labels.keys()) names.add(name);
          return [JSON.stringify({ status: "success", data: [...names].sort() })];
        };
      },
    });
  }
  addLokiRoute(resource, {
    path: "/label/:label/values",
    operation: "loki.label-values",
    summary: "List the values of a label",
    parameters: z.object({ ...rangeParameters, query: optionalQuery }),
    example: { status: "success", data: ["error", "info"] },
    request: { since: "1h" },
    prepare: (params, now, c) => {
      const name = c.req.param("label") ?? "";
      const selection = selectionOf(params.get("query"), rangeOf(params, now, SIX_HOURS));
      return async (reading) => {
        const isOwn = [...selection.matchers.map((matcher) => matcher.name), name].every(isOwnLabel);
        const streams = await (isOwn ? ownStreams : readStreams)(reading, selection);
        const values = new Set(streams.flatMap(({ labels }) => labels.get(name) ?? []));
        return [JSON.stringify({ status: "success", data: [...values].sort() })];
      };
    },
  });
  addLokiRoute(resource, {
    path: "/series",
    operation: "loki.series",
    summary: "List streams",
    parameters: z.object({
      "match[]": z.string().optional().describe("A selector; may be repeated."),
      ...rangeParameters,
    }),
    example: { status: "success", data: [{ level: "error", service: "shop" }] },
    request: { "match[]": SELECTOR },
    prepare: (params, now) => {
      const range = rangeOf(params, now, SIX_HOURS);
      const matches = [...params.getAll("match[]"), ...params.getAll("match")];
      if (matches.length > MAX_MATCHES) throw new InvalidParameter("match[]", `at most ${MAX_MATCHES}.`);
      const selections = (matches.length === 0 ? ["{}"] : matches).map((match) => selectionOf(match, range));
      return async (reading) => {
        const found = new Map<string, Record<string, string>>();
        for (const selection of selections) {
          for (const { labels } of await readStreams(reading, selection))
            found.set(labelKey(labels), labelsObject(labels));
        }
        return [JSON.stringify({ status: "success", data: [...found.values()] })];
      };
    },
  });
  addLokiRoute(resource, {
    path: "/status/buildinfo",
    operation: "loki.build-info",
    summary: "Return the version of Loki whose API this is",
    parameters: z.object({}),
    example: BUILD,
    request: {},
    prepare:
      () =>
      async ({ source }) => {
        await admitted(source);
        return [JSON.stringify(BUILD)];
      },
  });
}

const MAX_MATCHES = 10;
/** Grafana chooses what it asks for by the version. */
const BUILD = { version: "3.6.0", revision: "taffrail", branch: "", buildUser: "", buildDate: "", goVersion: "" };

function isOwnLabel(name: string): boolean {
  return STREAM_LABELS.some((label) => label === name);
}

function addIndex(resource: Resource): void {
  addLokiRoute(resource, {
    path: "/index/stats",
    operation: "loki.index-stats",
    summary: "Count the entries of a selector",
    description:
      "`streams` and `entries` are exact. `bytes` are those of the lines, which are all read; `chunks` is 0.",
    parameters: z.object({ query: z.string().describe("A selector."), ...rangeParameters }),
    example: { streams: 2, chunks: 0, entries: 1200, bytes: 98304 },
    request: { query: SELECTOR },
    prepare: (params, now) => {
      const range = rangeOf(params, now);
      const selection = selectionOf(required(params, "query"), range);
      const steps = { first: selection.to - 1, step: 1, count: 1 };
      const bytes = volumeOf(selection, [], selection.to - selection.from);
      return async (reading) => {
        const streams = await readStreams(reading, selection);
        const own = streams.some(({ entries }) => entries === 0) ? await ownStreams(reading, selection) : streams;
        const value = selection.to > selection.from ? await runMetric(reading, bytes, steps) : null;
        const [series] = value?.kind === "series" ? value.series : [];
        const entries = own.reduce((sum, each) => sum + each.entries, 0);
        return [JSON.stringify({ streams: streams.length, chunks: 0, entries, bytes: series?.values[0] ?? 0 })];
      };
    },
  });
  for (const isRange of [false, true]) {
    addLokiRoute(resource, {
      path: isRange ? "/index/volume_range" : "/index/volume",
      operation: isRange ? "loki.volume-range" : "loki.volume",
      summary: isRange ? "Sum the bytes of lines by label and step" : "Sum the bytes of lines by label",
      parameters: z.object({
        query: z.string().describe("A selector."),
        ...rangeParameters,
        limit: text,
        ...(isRange ? { step: text } : {}),
        targetLabels: z.string().optional().describe("Names of labels, with commas. By default those of the selector."),
        aggregateBy: z.enum(["series", "labels"]).optional(),
      }),
      example: { status: "success", data: { resultType: "vector", result: [] } },
      request: { query: SELECTOR },
      prepare: (params, now) => {
        const range = rangeOf(params, now);
        const selection = selectionOf(required(params, "query"), range);
        const limit = Math.min(limitOf(params, "limit", VOLUMES.usual, VOLUME_LIMIT), VOLUMES.max);
        const named = (params.get("targetLabels") ?? "").split(",").filter((name) => name !== "");
        const labels = named.length > 0 ? named : [...new Set(selection.matchers.map(({ name }) => name))];
        if (params.get("aggregateBy") === "labels") throw new LogqlError("aggregateBy=labels is not supported", null);
        const grouped = labels.length > 0 ? labels : [...STREAM_LABELS];
        const step = isRange ? stepOf(params, range) : Math.max(1, selection.to - selection.from);
        const count = isRange ? Math.floor((selection.to - selection.from) / step) + 1 : 1;
        const first = isRange ? millisecondOf(range.start) : selection.to - 1;
        const steps = { first, step, count };
        const metric = volumeOf(selection, grouped, step);
        return async (reading) => {
          const value = await runMetric(reading, metric, steps);
          if (value.kind === "number") throw new RangeError("A volume is a series.");
          const total = (values: Float64Array) => values.reduce((sum, each) => sum + each, 0);
          const largest = value.series.toSorted((a, b) => total(b.values) - total(a.values)).slice(0, limit);
          return metricText({ kind: "series", series: largest }, steps, !isRange);
        };
      },
    });
  }
}

/** Returns `sum by (labels) (bytes_over_time({...}[range]))`. @param range milliseconds */
function volumeOf({ matchers }: Selection, labels: string[], range: number): MetricExpression {
  const logs: LogExpression = { kind: "logs", matchers: [...matchers], stages: [] };
  const bytes = { parameter: null, unwrap: null, range: range * 1e6, offset: 0, grouping: null };
  return {
    kind: "vector-aggregation",
    fn: "sum",
    parameter: null,
    of: { kind: "range", fn: "bytes_over_time", logs, ...bytes },
    grouping: { isWithout: false, labels },
  };
}

function addDetected(resource: Resource): void {
  addLokiRoute(resource, {
    path: "/detected_labels",
    operation: "loki.detected-labels",
    summary: "List the labels of streams with their numbers of values",
    parameters: z.object({ query: optionalQuery, ...rangeParameters }),
    request: {},
    example: { detectedLabels: [{ label: "service", cardinality: 4 }] },
    prepare: (params, now) => {
      const selection = selectionOf(params.get("query"), rangeOf(params, now));
      return async (reading) => {
        const values = new Map<string, Set<string>>();
        for (const { labels } of await readStreams(reading, selection)) {
          for (const [name, value] of labels) values.set(name, (values.get(name) ?? new Set()).add(value));
        }
        const detectedLabels = [...values].map(([label, { size }]) => ({ label, cardinality: size }));
        return [JSON.stringify({ detectedLabels })];
      };
    },
  });
}

function selectionOf(query: string | null, { start, end }: NanosecondRange): Selection {
  const times = { from: millisecondsFrom(start), to: millisecondsFrom(end) };
  return { matchers: matchersOf(query), ...times };
}

/** Returns the matchers of a selector, which may be empty. */
function matchersOf(query: string | null): Matcher[] {
  const trimmed = (query ?? "").trim();
  return trimmed === "" ? [] : parseMatchers(trimmed);
}
