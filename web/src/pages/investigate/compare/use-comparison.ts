import { useMemo } from "preact/hooks";
import { printDuration } from "../../../../../src/query-language/values.ts";
import { useLoad } from "../../../lib/load.ts";
import { type Answer, ask, queryFor } from "../ask.ts";
import { type Bins, binFor, binsOfSize } from "../bins.ts";
import { noteFields } from "../releases/version-fields.ts";
import type { Investigation } from "../use-investigation.ts";
import { useKept } from "../use-kept.ts";
import { type Counts, countsOf } from "./counts.ts";
import { type FieldDifference, fieldDifferences, fieldsIn, numberFields } from "./field-differences.ts";
import { type PatternDifference, patternDifferences } from "./pattern-differences.ts";
import { boundsOf, type TimeSpan } from "./spans-of-time.ts";

/** Spans of time of the chart. */
const SPANS = 60;
/** Patterns of each span that are compared. */
const PATTERNS = 1000;
/** Values of a field that are compared. */
const VALUES = 50;
/** Entries of each span from which shares are compared. */
export const LEAST = 10;

export interface Overview {
  before: Counts;
  now: Counts;
  /** `null`: the earlier span has too few entries to compare with. */
  patterns: PatternDifference[] | null;
  answers: readonly Answer[];
}

/** A field of numbers in both spans; `null` where no entry has it. */
export interface NumberDifference {
  field: string;
  median: { before: number | null; now: number | null };
  high: { before: number | null; now: number | null };
}

export interface Fields {
  /** `null`: a span has too few entries. */
  differences: FieldDifference[] | null;
  numbers: NumberDifference[];
  answers: readonly Answer[];
}

/** Loads what differs between the entries of two spans: counts and patterns first, then fields. */
export function useComparison(investigation: Investigation, before: TimeSpan, now: TimeSpan) {
  const { workspaceId, projectId, round, view, own } = investigation;
  const filter = investigation.filter || "*";
  // Without times, so that a refresh of a relative range keeps what is shown.
  const of = JSON.stringify([workspaceId, projectId, filter, view.range, own.toString()]);
  const key = JSON.stringify([of, before, now, round]);
  const queryOf = (pipe: string, span: TimeSpan) => queryFor(`${filter} | ${pipe}`, projectId, boundsOf(span));
  const [beforeBins, nowBins] = useMemo(() => alignedBins(before, now), [key]);
  const overview = useLoad(key, async (signal): Promise<Overview> => {
    const counting = `count by level, bin(${printDuration(nowBins.binMs)})`;
    const answers = await ask(
      workspaceId,
      [counting, `patterns ${PATTERNS}`].flatMap((pipe) => [queryOf(pipe, before), queryOf(pipe, now)]),
      signal,
    );
    const [first = NOTHING, second = NOTHING, patternsBefore = NOTHING, patternsNow = NOTHING] = answers;
    const scale = (now.end - now.start) / (before.end - before.start);
    return {
      before: countsOf(first, beforeBins, before),
      now: countsOf(second, nowBins, now),
      patterns: patternDifferences(patternsBefore, patternsNow, scale),
      answers,
    };
  });
  const fields = useLoad(key, async (signal): Promise<Fields> => {
    const facets = `facets ${VALUES}`;
    const answers = await ask(workspaceId, [queryOf(facets, before), queryOf(facets, now)], signal);
    const [first = NOTHING, second = NOTHING] = answers;
    for (const answer of answers) noteFields({ workspaceId, projectId }, fieldsIn(answer));
    const numbers = numberFields(answers);
    const columns = numbers.flatMap((field, at) => [`p50(${field}) as median${at}`, `p95(${field}) as high${at}`]);
    const stats = `stats ${columns.join(", ")}`;
    const distributions =
      numbers.length === 0 ? [] : await ask(workspaceId, [queryOf(stats, before), queryOf(stats, now)], signal);
    return {
      differences:
        Math.min(first.matched, second.matched) < LEAST
          ? null
          : // Levels have a table of their own.
            fieldDifferences(first, second, VALUES).filter(({ field }) => field !== "level"),
      numbers: numberDifferences(numbers, distributions),
      answers,
    };
  });
  return { overview, fields, shownOverview: useKept(overview, of), shownFields: useKept(fields, of) };
}

const NOTHING: Answer = { columns: [], rows: [], logs: [], matched: 0, complete: true, notes: [] };

/** Bins of the same size for two spans. */
function alignedBins(before: TimeSpan, now: TimeSpan): [Bins, Bins] {
  const binMs = binFor(Math.max(before.end - before.start, now.end - now.start), SPANS);
  return [binsOfSize(before.start, before.end, binMs), binsOfSize(now.start, now.end, binMs)];
}

/** Reads the tables of percentiles. Fields whose median changed most come first. */
function numberDifferences(fields: readonly string[], [before, now]: readonly Answer[]): NumberDifference[] {
  const numberIn = (answer: Answer | undefined, name: string): number | null => {
    const value = answer?.rows[0]?.[answer.columns.findIndex((column) => column.name === name)];
    return typeof value === "number" ? value : null;
  };
  const both = (name: string) => ({ before: numberIn(before, name), now: numberIn(now, name) });
  return fields
    .map((field, at) => ({ field, median: both(`median${at}`), high: both(`high${at}`) }))
    .sort((a, b) => ratioOf(b) - ratioOf(a));
}

/** How many times larger or smaller the median is, as a logarithm; infinite if it appears, disappears or changes its sign. */
function ratioOf({ median: { before, now } }: NumberDifference): number {
  if (before === now) return 0;
  if (before === null || now === null || before * now <= 0) return Number.POSITIVE_INFINITY;
  return Math.abs(Math.log(now / before));
}
