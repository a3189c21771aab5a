import { useMemo, useState } from "preact/hooks";
import { printDuration } from "../../../../../src/query-language/values.ts";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import { errorsOf } from "../added-test.ts";
import { type Answer, ask, queryFor } from "../ask.ts";
import { type Bins, binsOf } from "../bins.ts";
import type { Investigation } from "../use-investigation.ts";
import { useKept } from "../use-kept.ts";
import {
  type Errors,
  errorsIn,
  type Order,
  type Pattern,
  patternsOf,
  sorted,
  type Trend,
  trendQueries,
  trendsOf,
} from "./pattern-model.ts";

/** Patterns that are counted apart; the entries of others are one row. */
const COUNTED = 1000;
/** Patterns that are listed at first, and with each further step. */
export const STEP = 50;
/** Spans of a trend, at most. */
const SPANS = 48;
const MINUTE = 60_000;
/** Queries for the trends of one step, at most. */
const TREND_QUERIES = 4;

/** Spans with which patterns are compared: name in the address, and label. */
export const VERSUS = [
  { value: "1d", label: "Against yesterday", ms: 86_400_000 },
  { value: "7d", label: "Against last week", ms: 604_800_000 },
  { value: "before", label: "Against the range before", ms: null },
  { value: "none", label: "No comparison", ms: null },
] as const;
export type Versus = (typeof VERSUS)[number]["value"];

export interface FoundPatterns {
  answers: readonly Answer[];
  patterns: Pattern[];
  /** Empty unless the order needs them. */
  errors: Errors;
}

/** Loads the patterns of a query with their counts in the earlier span, and their errors for the order of these. */
export function usePatterns(investigation: Investigation, versus: Versus, order: Order) {
  const { workspaceId, projectId, filter, bounds, times, round, view, isInvalid } = investigation;
  const query = `${filter || "*"} | patterns ${COUNTED}${versusPipe(versus, view.range.kind === "all", times)}`;
  const queries = order === "errors" ? [query, `${errorsOf(filter)} | patterns ${COUNTED}`] : [query];
  // Without times and order, so that a refresh of a relative range and another order keep the list.
  const of = JSON.stringify([workspaceId, projectId, filter, versus, view.range]);
  const key = `${of} ${JSON.stringify(bounds)} ${round} ${queries.length}`;
  const loaded = useLoad(key, async (signal): Promise<FoundPatterns | null> => {
    if (isInvalid) return null;
    const asked = queries.map((each) => queryFor(each, projectId, bounds));
    const answers = await ask(workspaceId, asked, signal);
    const [answer, errors] = answers;
    if (answer === undefined) return null;
    return { answers, patterns: patternsOf(answer), errors: errors === undefined ? new Map() : errorsIn(errors) };
  });
  return { loaded, found: useKept(loaded, of) };
}

function versusPipe(versus: Versus, isAllTime: boolean, { start, end }: Investigation["times"]): string {
  // All entries have no span before.
  if (versus === "none" || isAllTime) return "";
  const ms =
    VERSUS.find(({ value }) => value === versus)?.ms ?? Math.max(MINUTE, Math.ceil((end - start) / MINUTE) * MINUTE);
  return ` vs ${printDuration(ms)}`;
}

export interface Trends {
  bins: Bins;
  of: ReadonlyMap<string, Trend>;
  /** Whether the entries of a pattern without trend were not counted, or not completely. */
  complete: boolean;
}

/** Loads the trends of the listed patterns, in one request for each step of the list. */
export function useTrends(investigation: Investigation, listed: readonly string[]): Loaded<Trends> {
  const { workspaceId, projectId, filter, bounds, times } = investigation;
  const bins = useMemo(() => binsOf(times.start, times.end, SPANS), [times.start, times.end]);
  const key = JSON.stringify([workspaceId, projectId, filter, bounds, listed, investigation.round]);
  return useLoad(listed.length === 0 ? "" : key, async (signal): Promise<Trends> => {
    const queries = trendQueries(filter, listed, bins.binMs, TREND_QUERIES).map((query) =>
      queryFor(query, projectId, bounds),
    );
    const answers = queries.length === 0 ? [] : await ask(workspaceId, queries, signal);
    return { bins, of: trendsOf(answers, bins), complete: answers.every(({ complete }) => complete) };
  });
}

/** The part of the list that is shown. */
export function useListed(
  { patterns, errors }: Pick<FoundPatterns, "patterns" | "errors">,
  order: Order,
  shows: (pattern: Pattern) => boolean,
) {
  const [steps, setSteps] = useState(1);
  const all = useMemo(() => sorted(patterns, order, errors).filter(shows), [patterns, order, errors, shows]);
  return { all, listed: all.slice(0, steps * STEP), more: () => setSteps((before) => before + 1) };
}
