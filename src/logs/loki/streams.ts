import { type LabelSet, labelKey } from "../../logql/labels.ts";
import { selectorTest } from "../../logql/pipeline.ts";
import type { Matcher } from "../../logql/syntax.ts";
import { fieldOf } from "../aggregate/fields.ts";
import { planOf } from "../aggregate/plan.ts";
import { MAX_ROWS } from "../aggregate/table.ts";
import { compileFilter } from "../search/compile-filter.ts";
import { runTable } from "../stats/run-table.ts";
import { STREAM_LABELS } from "./loki-entry.ts";
import { LokiLimit, type LokiReading, readAll, TOO_MUCH_WORK } from "./reading.ts";
import { QueryRegexes } from "./regexes.ts";
import { selectorFilter } from "./selector-filter.ts";

/** A part of the stored entries. Times are epoch milliseconds, `from <= timestamp < to`. */
export interface Selection {
  matchers: readonly Matcher[];
  from: number;
  to: number;
}

/** A stream with the number of its entries. */
export interface Stream {
  labels: LabelSet;
  entries: number;
}

/** Newest entries of which the labels that clients of Loki sent are read. */
export const SAMPLED_ENTRIES = 10_000;

/**
 * Returns the streams of a selection. Labels of the six own names are those of all entries. Labels that clients sent are
 * read of the newest entries, unless the selector names such a label.
 * @throws LogqlError, LokiLimit
 */
export async function readStreams(reading: LokiReading, selection: Selection): Promise<Stream[]> {
  const isOwn = selection.matchers.every(({ name }) => STREAM_LABELS.some((label) => label === name));
  const streams = new Map<string, Stream>();
  const count = (labels: LabelSet, entries: number): void => {
    const key = labelKey(labels);
    const known = streams.get(key) ?? { labels, entries: 0 };
    known.entries += entries;
    streams.set(key, known);
    if (streams.size > MAX_ROWS) throw new LokiLimit(`the selector has more than ${MAX_ROWS} streams`);
  };
  if (!isOwn) {
    await readSample(reading, selection, Number.POSITIVE_INFINITY, (labels) => count(labels, 1));
    return [...streams.values()];
  }
  const sampled = new Map<string, LabelSet>();
  await readSample(reading, selection, SAMPLED_ENTRIES, (labels) => {
    if (sampled.size < MAX_ROWS) sampled.set(labelKey(labels), labels);
  });
  const own = await ownStreams(reading, selection);
  const bySample = new Set<string>();
  for (const labels of sampled.values()) {
    count(labels, 0);
    bySample.add(labelKey(ownLabels(labels)));
  }
  for (const { labels, entries } of own) if (!bySample.has(labelKey(labels))) count(labels, entries);
  return [...streams.values()];
}

/** Returns the six own labels of all entries, with the numbers of entries. */
export async function ownStreams(reading: LokiReading, selection: Selection): Promise<Stream[]> {
  const { matchers, from, to } = selection;
  const { source, budget, memory, pacer } = reading;
  const passes = selectorTest(matchers, new QueryRegexes(pacer.meter).compile);
  const keys = STREAM_LABELS.map((name) => ({ name, field: fieldOf(name) }));
  const plan = planOf(keys, [{ fn: "count", field: null, name: "count" }], null);
  const filter = { ...compileFilter(selectorFilter(matchers), 0), from, to };
  const left = { ...budget, work: Math.max(1, budget.work - pacer.meter.done) };
  const wanted = { projectId: null, filter, plan, sort: null, limit: MAX_ROWS, asOf: null };
  const result = await runTable(source, wanted, left, memory);
  if (!result.ok) throw new LokiLimit(TOO_MUCH_WORK);
  pacer.meter.add(result.work);
  if (!result.answer.complete) throw new LokiLimit(TOO_MUCH_WORK);
  // A list is no label, and counts in the groups of its items.
  if (result.hasLists) return ownStreamsOfLines(reading, selection);
  return result.answer.rows.flatMap((row): Stream[] => {
    const values: unknown[] = JSON.parse(Buffer.from(row, "latin1").toString("utf8"));
    const labels = new Map<string, string>();
    for (const [at, name] of STREAM_LABELS.entries()) {
      const value = values[at];
      if (value !== undefined && value !== "" && typeof value !== "object") labels.set(name, String(value));
    }
    return passes(labels) ? [{ labels, entries: Number(values.at(-1)) }] : [];
  });
}

async function ownStreamsOfLines(reading: LokiReading, selection: Selection): Promise<Stream[]> {
  const streams = new Map<string, Stream>();
  await readSample(reading, selection, Number.POSITIVE_INFINITY, (all) => {
    const labels = ownLabels(all);
    const key = labelKey(labels);
    const known = streams.get(key) ?? { labels, entries: 0 };
    known.entries++;
    streams.set(key, known);
    if (streams.size > MAX_ROWS) throw new LokiLimit(`the selector has more than ${MAX_ROWS} streams`);
  });
  return [...streams.values()];
}

function ownLabels(labels: LabelSet): LabelSet {
  return new Map([...labels].filter(([name]) => STREAM_LABELS.some((label) => label === name)));
}

/** Calls `take` with the labels of the newest entries of a selection. */
async function readSample(
  reading: LokiReading,
  { matchers, from, to }: Selection,
  most: number,
  take: (labels: LabelSet) => void,
): Promise<void> {
  const passes = selectorTest(matchers, new QueryRegexes(reading.pacer.meter).compile);
  const filter = { ...compileFilter(selectorFilter(matchers), 0), from, to };
  let left = most;
  await readAll(reading, filter, ({ stream }) => {
    if (passes(stream)) {
      take(stream);
      left--;
    }
    return left > 0;
  });
}
