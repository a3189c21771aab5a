import { type LabelSet, labelKey, labelsObject } from "../../logql/labels.ts";
import { type MetricValue, printValue, type Series } from "../../logql/series.ts";
import type { Steps } from "../../logql/windows.ts";
import type { LogResult } from "../../logs/loki/run-logs.ts";

/** Header by which a client asks for labels by where they come from. */
export const ENCODING_FLAGS = "X-Loki-Response-Encoding-Flags";
const CATEGORIZE = "categorize-labels";

/** The answer of Grafana's statistics, of which clients require the shape. */
const STATS = JSON.stringify({ summary: {}, querier: {}, ingester: {}, cache: {} });

/** Yields the JSON of the streams of entries. @param flags value of `ENCODING_FLAGS` */
export function* streamsText(results: readonly LogResult[], flags: string | undefined): Generator<string> {
  const isCategorized = (flags ?? "").split(",").some((flag) => flag.trim() === CATEGORIZE);
  const streams = new Map<string, { labels: LabelSet; entries: LogResult[] }>();
  for (const result of results) {
    const { stream, metadata, parsed } = result.labels;
    const labels = isCategorized ? stream : new Map([...stream, ...metadata, ...parsed]);
    const key = labelKey(labels);
    const known = streams.get(key) ?? { labels, entries: [] };
    known.entries.push(result);
    streams.set(key, known);
  }
  const encoding = isCategorized ? `"encodingFlags":["${CATEGORIZE}"],` : "";
  yield `{"status":"success","data":{"resultType":"streams",${encoding}"result":[`;
  let comma = "";
  for (const key of [...streams.keys()].sort()) {
    const stream = streams.get(key);
    if (stream === undefined) continue;
    yield `${comma}{"stream":${JSON.stringify(labelsObject(stream.labels))},"values":[`;
    comma = ",";
    for (const [at, entry] of stream.entries.entries())
      yield `${at === 0 ? "" : ","}${valueText(entry, isCategorized)}`;
    yield "]}";
  }
  yield `],"stats":${STATS}}}`;
}

/** Returns a frame of a tail. */
export function tailStreams(results: readonly LogResult[]): string {
  const streams = new Map<string, { stream: Record<string, string>; values: [string, string][] }>();
  for (const { timestamp, line, labels } of results) {
    const all = new Map([...labels.stream, ...labels.metadata, ...labels.parsed]);
    const key = labelKey(all);
    const known = streams.get(key) ?? { stream: labelsObject(all), values: [] };
    known.values.push([`${timestamp}000000`, line]);
    streams.set(key, known);
  }
  return JSON.stringify({ streams: [...streams.values()], dropped_entries: [] });
}

/** Entries that a frame names as dropped at most. */
const MAX_DROPPED = 100;

/** Returns a frame that names entries which are left out of a tail, the first 100 of them. */
export function droppedEntries(results: readonly LogResult[]): string {
  const dropped = results.slice(0, MAX_DROPPED).map(({ timestamp, labels }) => {
    return { timestamp: `${timestamp}000000`, labels: labelsObject(labels.stream) };
  });
  return JSON.stringify({ streams: [], dropped_entries: dropped });
}

function valueText({ timestamp, line, labels }: LogResult, isCategorized: boolean): string {
  const pair = [`${timestamp}000000`, line];
  if (!isCategorized) return JSON.stringify(pair);
  const categories = {
    ...(labels.metadata.size > 0 ? { structuredMetadata: labelsObject(labels.metadata) } : {}),
    ...(labels.parsed.size > 0 ? { parsed: labelsObject(labels.parsed) } : {}),
  };
  return JSON.stringify([...pair, categories]);
}

/** Yields the JSON of a metric: of several instants a matrix, of one a vector. */
export function* metricText(value: MetricValue, steps: Steps, isInstant: boolean): Generator<string> {
  if (value.kind === "number" && isInstant) {
    const scalar = JSON.stringify([steps.first / 1000, printValue(value.value)]);
    yield `{"status":"success","data":{"resultType":"scalar","result":${scalar},"stats":${STATS}}}`;
    return;
  }
  const series = value.kind === "series" ? value.series : [constant(value.value, steps.count)];
  yield `{"status":"success","data":{"resultType":"${isInstant ? "vector" : "matrix"}","result":[`;
  let comma = "";
  const byKey = series.map((each) => ({ key: labelKey(each.labels), each }));
  byKey.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const { each } of byKey) {
    const points = pointsOf(each, steps);
    if (points.length === 0) continue;
    const metric = `{"metric":${JSON.stringify(labelsObject(each.labels))}`;
    yield `${comma}${metric},${isInstant ? `"value":${points[0]}` : `"values":[${points.join(",")}]`}}`;
    comma = ",";
  }
  yield `],"stats":${STATS}}}`;
}

function constant(value: number, count: number): Series {
  return { labels: new Map(), values: new Float64Array(count).fill(value), has: new Uint8Array(count).fill(1) };
}

function pointsOf({ values, has }: Series, { first, step, count }: Steps): string[] {
  const points: string[] = [];
  for (let at = 0; at < count; at++)
    if (has[at] === 1) points.push(`[${(first + at * step) / 1000},"${printValue(values[at] ?? 0)}"]`);
  return points;
}
