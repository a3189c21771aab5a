import { Pipeline, selectorTest } from "../../logql/pipeline.ts";
import type { LogExpression } from "../../logql/syntax.ts";
import { compileFilter } from "../search/compile-filter.ts";
import { patternOf, patternWorkOf } from "../search/pattern.ts";
import { LokiLimit, type LokiReading, narrowedReading, readAll } from "./reading.ts";
import { QueryRegexes } from "./regexes.ts";
import { selectorFilter } from "./selector-filter.ts";

/** Entries of one pattern by the second of their step. */
export interface PatternSamples {
  pattern: string;
  samples: [second: number, entries: number][];
}

export interface PatternsQuery {
  expression: LogExpression;
  /** Epoch milliseconds, `from <= timestamp < to`. */
  from: number;
  to: number;
  /** Milliseconds. */
  step: number;
}

/** Patterns and steps of one answer. */
const MAX_COUNTS = 200_000;
const MAX_PATTERNS = 20_000;
const PATTERN_BYTES = 400;

/**
 * Counts entries by the pattern of their message. The counts of all patterns add up to the number of entries.
 * @throws LogqlError, LokiLimit
 */
export async function runPatterns(
  reading: LokiReading,
  { expression, from, to, step }: PatternsQuery,
): Promise<PatternSamples[]> {
  const { memory, pacer } = reading;
  const regexes = new QueryRegexes(pacer.meter);
  const passes = selectorTest(expression.matchers, regexes.compile);
  const pipeline = new Pipeline(expression, regexes);
  const patterns = new Map<string, Map<number, number>>();
  let counts = 0;
  let bytes = 0;
  await readAll(
    narrowedReading(reading, expression.stages),
    { ...compileFilter(selectorFilter(expression.matchers), 0), from, to },
    (entry, _seq, { message }) => {
      if (!passes(entry.stream) || (expression.stages.length > 0 && pipeline.run(entry) === null)) return true;
      pacer.meter.add(patternWorkOf(message));
      const pattern = patternOf(message);
      const second = (Math.floor(entry.timestamp / step) * step) / 1000;
      const known = patterns.get(pattern) ?? new Map<number, number>();
      if (!patterns.has(pattern)) bytes += PATTERN_BYTES + 2 * pattern.length;
      patterns.set(pattern, known);
      if (!known.has(second)) counts++;
      known.set(second, (known.get(second) ?? 0) + 1);
      const isFull = counts > MAX_COUNTS || patterns.size > MAX_PATTERNS || !memory.canHoldState(bytes + counts * 40);
      if (isFull)
        throw new LokiLimit("there are too many patterns: narrow the selector or the time range, or use a longer step");
      return true;
    },
  );
  const all = [...patterns].map(([pattern, known]) => ({
    pattern,
    samples: [...known].sort(([a], [b]) => a - b),
    total: [...known.values()].reduce((sum, count) => sum + count, 0),
  }));
  all.sort((a, b) => b.total - a.total || (a.pattern < b.pattern ? -1 : 1));
  return all.map(({ pattern, samples }) => ({ pattern, samples }));
}
