import { TYPE_BITS } from "../aggregate/aggregator.ts";
import { LINE_BYTE_WORK, LINE_WORK, MAX_GROUPS_OF_ENTRY } from "../aggregate/entry-aggregator.ts";
import { fieldOf } from "../aggregate/fields.ts";
import { LineFields } from "../aggregate/line-fields.ts";
import type { OwnMember } from "../entry.ts";
import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer, WORK, type WorkMeter } from "../query/budget.ts";
import type { LineSource } from "../query/feed.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import type { ProjectProgress } from "../query/recent-feed.ts";
import { boundedSource } from "../query/tiers.ts";
import { ColumnCounter } from "../segments/scan/column-counter.ts";
import { countMatching, type StatsSource } from "./count-entries.ts";
import type { Counted, CountSink, RowSink } from "./count-feed.ts";
import {
  type Bucket,
  Histogram,
  isCountedGroup,
  LineNames,
  NOTHING,
  type StatsQuery,
  TooManyBuckets,
} from "./histogram.ts";

/** The response of `POST /logger/stats`. */
export interface StatsAnswer {
  buckets: Bucket[];
  total: number;
  complete: boolean;
  /** The newest `seq` of the snapshot. Absent if the query covers several projects or the `seq` is not known. */
  lastSeq?: number;
}

export type StatsResult = { ok: true; answer: StatsAnswer } | { ok: false; reason: "too_many" };

/**
 * Counts entries by time. Uses the counts stored with batches and segments for filters on level, category, type and
 * whole minutes. Scans entries for other filters and groups, and for the two partial minutes at the ends of a time range.
 */
export async function runStats(
  source: StatsSource,
  { filter, intervalMs, groupBy }: StatsQuery,
  budget: QueryBudget = QUERY_BUDGET,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<StatsResult> {
  const histogram = new Histogram(intervalMs, groupBy);
  const pacer = new ScanPacer();
  const ownTexts = groupBy === null || isCountedGroup(groupBy) ? null : new OwnTexts(groupBy, pacer.meter);
  const sink = new HistogramSink(histogram, new ColumnCounter(intervalMs, groupBy, pacer.meter), ownTexts);
  try {
    const counting = { source: boundedSource(source, memory), sink, budget, memory, pacer };
    const { complete, progress } = await countMatching(counting, filter, null);
    const answer = { buckets: histogram.buckets(), total: histogram.total, complete, ...lastSeqOf(progress) };
    return { ok: true, answer };
  } catch (error) {
    if (error instanceof TooManyBuckets) return { ok: false, reason: "too_many" };
    throw error;
  }
}

function lastSeqOf(progress: readonly ProjectProgress[]): Pick<StatsAnswer, "lastSeq"> {
  const lastSeq = progress.length === 1 ? progress[0]?.lastSeq : undefined;
  return lastSeq === undefined ? {} : { lastSeq };
}

/** Adds entries to a histogram. */
class HistogramSink implements CountSink {
  readonly takesCounts: boolean;
  readonly isFull = false;
  readonly #histogram: Histogram;
  readonly #names = new LineNames();
  readonly #ownTexts: OwnTexts | null;
  readonly rows: RowSink;

  /** @param ownTexts of the own member by which the histogram groups; `null` if it groups by none */
  constructor(histogram: Histogram, counter: ColumnCounter, ownTexts: OwnTexts | null) {
    this.takesCounts = histogram.takesCounts;
    this.#histogram = histogram;
    this.#ownTexts = ownTexts;
    this.rows = {
      columnsOf: (reader, group) => counter.columnsOf(reader, group),
      add: (reader, group, rows, chunk) =>
        counter.count(reader, group, rows, chunk, (start, name, count) => histogram.addNamed(start, name, count)),
    };
  }

  get needsLevelsAlone(): boolean {
    return this.#histogram.needsLevelsAlone;
  }

  add(timestamp: number, counted: Counted, count: number): void {
    this.#histogram.add(timestamp, counted, count);
  }

  addLevel(timestamp: number, level: number, count: number): void {
    this.#histogram.addLevel(timestamp, level, count);
  }

  addLine(match: LineMatch, lines: LineSource, matcher: BatchMatcher): boolean {
    if (this.#ownTexts !== null) {
      const names = this.#ownTexts.of(match, lines);
      if (names !== null) this.#histogram.addInGroups(match.timestamp, names);
      return names !== null;
    }
    const { needsNames } = this.#histogram;
    if (!matcher.reads && needsNames && !matcher.isEntry(match)) return false;
    this.#histogram.add(match.timestamp, needsNames ? this.#names.of(match) : NOTHING, 1);
    return true;
  }

  scanned(): void {}
}

/** Work units of looking at a value of an entry. */
const VALUE_WORK = 30;

/** Reads the texts of an own member in lines, as a table grouped by the member does. */
class OwnTexts {
  readonly #fields: LineFields;
  readonly #meter: WorkMeter;

  constructor(member: OwnMember, meter: WorkMeter) {
    this.#fields = new LineFields([fieldOf(member)]);
    this.#meter = meter;
  }

  /** Returns the different texts of an entry, the first 100 if it has more; `null` if the line is no entry. */
  of(match: LineMatch, lines: LineSource): Iterable<string> | null {
    this.#meter.add(LINE_WORK + (match.end - match.start) * LINE_BYTE_WORK);
    const [found] = this.#fields.found;
    if (found === undefined || !this.#fields.read(match, lines)) return null;
    this.#meter.add(this.#fields.takeWork() + found.count * VALUE_WORK);
    const texts = new Set<string>();
    for (let at = 0; at < found.count && texts.size < MAX_GROUPS_OF_ENTRY; at++) {
      if (found.kinds[at] !== TYPE_BITS.string) continue;
      const text = parsedText(found.textAt(at));
      if (text === null) return null;
      this.#meter.add(WORK.text + text.length * WORK.wideTextByte);
      texts.add(text);
    }
    return texts;
  }
}

/** @param json bytes of UTF-8, one character each. @returns `null` if it is no string */
function parsedText(json: string): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(json, "latin1").toString("utf8"));
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
