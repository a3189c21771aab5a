import { EntryLabels, ERROR_LABEL, type LabelSet, labelsObject } from "../../logql/labels.ts";
import { type LokiEntry, labelStep, Pipeline, type Processed, selectorTest, unwrapped } from "../../logql/pipeline.ts";
import { evaluate, groupedLabels, type MetricValue, type Series } from "../../logql/series.ts";
import type { Grouping, MetricExpression, RangeAggregation, RangeFunction, Stage } from "../../logql/syntax.ts";
import { RangeWindows, type Steps } from "../../logql/windows.ts";
import { STATE_BYTES } from "../query/memory.ts";
import { compileFilter } from "../search/compile-filter.ts";
import { countRange } from "./count-range.ts";
import { LokiLimit, type LokiReading, narrowedReading, readAll } from "./reading.ts";
import { QueryRegexes } from "./regexes.ts";
import { selectorFilter } from "./selector-filter.ts";

/** Work units of adding a sample to a window. */
const WINDOW_WORK = 8;
/** Range aggregations of one query. */
const MAX_RANGES = 10;

const UTF8 = new TextEncoder();

/** Functions whose windows a sum may group before it adds them up: the result is the same, and fewer series are held. */
const SUMMED: ReadonlySet<RangeFunction> = new Set<RangeFunction>([
  ...(["rate", "count_over_time", "bytes_rate", "bytes_over_time", "sum_over_time"] as const),
]);

/**
 * Evaluates a metric.
 * @throws LogqlError, LokiLimit
 */
export async function runMetric(
  reading: LokiReading,
  expression: MetricExpression,
  steps: Steps,
): Promise<MetricValue> {
  const ranges = rangesOf(expression, null);
  if (ranges.length > MAX_RANGES) throw new LokiLimit(`a query has at most ${MAX_RANGES} range aggregations`);
  const series = new Map<RangeAggregation, Series[]>();
  let held = 0;
  for (const { range, outer } of ranges) {
    const windows = await readRange(reading, range, outer, steps, held);
    series.set(range, windows.finish(absentLabels(range)));
    held += windows.bytes;
  }
  return evaluate(expression, steps.count, (range) => series.get(range) ?? []);
}

interface PlacedRange {
  range: RangeAggregation;
  /** Grouping of the sum around it; `null` if there is none that may be applied first. */
  outer: Grouping | null;
}

function rangesOf(expression: MetricExpression, outer: Grouping | null): PlacedRange[] {
  switch (expression.kind) {
    case "range":
      return [{ range: expression, outer: SUMMED.has(expression.fn) && expression.grouping === null ? outer : null }];
    case "vector-aggregation": {
      const { fn, of, grouping } = expression;
      return rangesOf(of, fn === "sum" && of.kind === "range" ? (grouping ?? { isWithout: false, labels: [] }) : null);
    }
    case "binary":
      return [...rangesOf(expression.left, null), ...rangesOf(expression.right, null)];
    default:
      return [];
  }
}

async function readRange(
  reading: LokiReading,
  range: RangeAggregation,
  outer: Grouping | null,
  steps: Steps,
  held: number,
): Promise<RangeWindows> {
  const { memory, pacer } = reading;
  const { meter } = pacer;
  const windows = new RangeWindows(range, steps);
  let granted = 0;
  const checkMemory = (): void => {
    const bytes = held + windows.bytes;
    if (bytes <= granted) return;
    granted = bytes;
    if (bytes > STATE_BYTES || !memory.canHoldState(bytes))
      throw new LokiLimit(
        `the query has too many series and steps (${windows.seriesCount} series): group by fewer labels, or use a longer step`,
      );
  };
  const rows = await countRange(reading, range, range.grouping ?? outer, steps, windows, checkMemory);
  if (rows !== null) {
    meter.add(rows * WINDOW_WORK);
    return windows;
  }
  const sampleOf = sampler(range, outer, new QueryRegexes(meter));
  const { from, to } = windows.span;
  const filter = { ...compileFilter(selectorFilter(range.logs.matchers), 0), from, to };
  await readAll(narrowedReading(reading, range.logs.stages), filter, (entry, seq) => {
    const sample = sampleOf(entry);
    if (sample === null) return true;
    const added = windows.add(sample.labels, sample.value, { timestamp: entry.timestamp, seq });
    meter.add(added * WINDOW_WORK);
    checkMemory();
    return true;
  });
  return windows;
}

interface Sample {
  labels: LabelSet;
  value: number;
}

/** Returns a function that makes the sample of an entry; `null` if the entry has none. */
function sampler(
  { fn, logs, unwrap, grouping }: RangeAggregation,
  outer: Grouping | null,
  regexes: QueryRegexes,
): (entry: LokiEntry) => Sample | null {
  const { compile } = regexes;
  const passes = selectorTest(logs.matchers, compile);
  const used = grouping ?? outer;
  const hasNoLabels = fn === "absent_over_time" || (used !== null && used.labels.length === 0);
  // As in Loki: a line that a parser cannot read is no error where none of its labels is read.
  const parses = !hasNoLabels || unwrap !== null || logs.stages.some(readsLabels);
  const pipeline = new Pipeline(logs, regexes, parses);
  const tests = unwrap?.tests.map((test) => labelStep(test, compile)) ?? [];
  const labelsOf = (entry: Processed): LabelSet => {
    if (entry.labels.error !== null) throw new LokiLimit(pipelineError(entry));
    if (hasNoLabels) return new Map();
    const all = entry.labels.all();
    if (unwrap !== null && (used === null || used.isWithout)) all.delete(unwrap.label);
    return used === null ? all : groupedLabels(all, used);
  };
  const numberOf = (entry: Processed): number | null => {
    if (unwrap !== null) return unwrapped(entry, unwrap.label, unwrap.conversion);
    return fn === "bytes_rate" || fn === "bytes_over_time" ? byteLength(entry.line) : 1;
  };
  if (logs.stages.length === 0 && unwrap === null) return plainSampler(passes, numberOf, labelsOf);
  return (entry) => {
    if (!passes(entry.stream)) return null;
    const processed = pipeline.run(entry);
    if (processed === null) return null;
    const value = numberOf(processed);
    if (value === null || !tests.every((test) => test(processed))) return null;
    return { labels: labelsOf(processed), value };
  };
}

/** Without stages the line is read only if its length counts. */
function plainSampler(
  passes: (labels: LabelSet) => boolean,
  numberOf: (entry: Processed) => number | null,
  labelsOf: (entry: Processed) => LabelSet,
): (entry: LokiEntry) => Sample | null {
  return (entry) => {
    if (!passes(entry.stream)) return null;
    const processed: Processed = {
      timestamp: entry.timestamp,
      get line() {
        return entry.line;
      },
      set line(_text) {
        throw new RangeError("No stage sets the line.");
      },
      labels: new EntryLabels(entry.stream, entry.metadata),
    };
    return { value: numberOf(processed) ?? 0, labels: labelsOf(processed) };
  };
}

function readsLabels(stage: Stage): boolean {
  switch (stage.kind) {
    case "label":
      return true;
    case "line_format":
      return stage.template.parts.some(({ kind }) => kind === "action");
    case "label_format":
      return true;
    default:
      return false;
  }
}

function pipelineError({ labels }: Processed): string {
  const shown = JSON.stringify(labelsObject(labels.all())).slice(0, 500);
  const filter = `| ${ERROR_LABEL}=""`;
  return `pipeline error: '${labels.error}' for series: '${shown}'. Use a label filter to intentionally skip this error, for instance ${filter}`;
}

/** Returns the labels of `absent_over_time`: those that the selector names with a value, once each. */
function absentLabels({ logs }: RangeAggregation): LabelSet {
  const labels = new Map<string, string>();
  const twice = new Set<string>();
  for (const { name, operator, value } of logs.matchers) {
    if (operator === "=" && !labels.has(name) && !twice.has(name)) labels.set(name, value);
    else {
      labels.delete(name);
      twice.add(name);
    }
  }
  return labels;
}

function byteLength(text: string): number {
  return UTF8.encode(text).length;
}
