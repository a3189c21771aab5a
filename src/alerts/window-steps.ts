import { cellsOf, familyOf, isAtLevel, joined, type Part, readingOf } from "./measure.ts";
import { type Reading, stepsOf, type View, type Watch } from "./rule.ts";

/** The entries of a group by the steps of its window. */

/** The entries of one step of a window. Plain data. Step `k` is `(k - 1, k]` times the length of a step. */
export interface Step {
  at: number;
  /** Entries, or values of the measured field. */
  count: number;
  firstSeq: number;
  lastSeq: number;
  /** The values; `null` if the rule counts entries. */
  part: Part | null;
}

/** Entries of one group and step, to be added. */
export interface Added {
  step: number;
  /** The first step that was not decided yet when the entries were received. */
  undecided: number;
  count: number;
  firstSeq: number;
  lastSeq: number;
  /** Times of the first and of the newest entry, epoch milliseconds. */
  firstAt: number;
  lastAt: number;
  part: Part | null;
}

/** Hashes that `count_distinct` keeps of a group. Of more it keeps a sample. */
export const DISTINCT_HASHES = 4096;

/** Adds entries to the steps of a group. */
export function addToSteps(watch: Watch, steps: Step[], added: Added): void {
  const { step, undecided, count, firstSeq, lastSeq, part } = added;
  // With a delay, entries come out of order, and what is kept would depend on it: the bound of all values has to do.
  const isSampled = watch.measure !== null && familyOf(watch.measure) === "distinct" && watch.delayMs === null;
  if (isSampled) trim(steps, undecided - stepsOf(watch));
  let at = steps.length;
  while (at > 0 && (steps[at - 1]?.at ?? 0) > step) at--;
  let place = steps[at - 1];
  if (place?.at !== step) {
    const level = isSampled ? levelOfNew(steps) : 0;
    place = { at: step, count: 0, firstSeq, lastSeq, part: watch.measure === null ? null : { numbers: [], level } };
    steps.splice(at, 0, place);
  }
  place.count += count;
  place.firstSeq = Math.min(place.firstSeq, firstSeq);
  place.lastSeq = Math.max(place.lastSeq, lastSeq);
  if (part !== null && watch.measure !== null) place.part = joined(watch.measure, place.part, part);
  if (isSampled) thin(watch, steps, place, part);
}

/** Returns the level with which a step begins: that of the others, or one less if few hashes are kept. */
function levelOfNew(steps: readonly Step[]): number {
  const level = steps.reduce((most, { part }) => Math.max(most, part?.level ?? 0), 0);
  return level > 0 && hashesOf(steps) < DISTINCT_HASHES / 4 ? level - 1 : level;
}

/** Keeps the hashes of a group within their bound. @param part what was added to a step */
function thin(watch: Watch, steps: readonly Step[], place: Step, part: Part | null): void {
  // A window that ends later has the hash by its newest step.
  if (watch.condition.kind !== "change") {
    const newer = new Set(part?.numbers);
    for (const step of steps) {
      if (step === place || step.part === null) continue;
      step.part = { ...step.part, numbers: step.part.numbers.filter((hash) => !newer.has(hash)) };
    }
  }
  while (hashesOf(steps) > DISTINCT_HASHES) {
    const level = 1 + steps.reduce((most, step) => Math.max(most, step.part?.level ?? 0), 0);
    for (const step of steps) {
      const numbers = step.part?.numbers.filter((hash) => isAtLevel(hash, level)) ?? [];
      step.part = { numbers, level };
    }
  }
}

function hashesOf(steps: readonly Step[]): number {
  return steps.reduce((sum, { part }) => sum + (part?.numbers.length ?? 0), 0);
}

/** Returns how many values the steps of a group keep. */
export function cellsOfSteps({ measure }: Pick<Watch, "measure">, steps: readonly Step[]): number {
  return measure === null ? 0 : steps.reduce((sum, { part }) => sum + cellsOf(measure, part), 0);
}

const NOTHING: Reading = { count: 0, value: 0, isExact: true };

/** Returns what a group has in the windows that a decision compares. */
export function viewAt(watch: Watch, steps: readonly Step[], step: number): View {
  const isChange = watch.condition.kind === "change";
  const window = isChange ? stepsOf(watch) / 2 : stepsOf(watch);
  const within = (newest: number) =>
    readingAt(
      watch,
      steps.filter(({ at }) => at <= newest && at > newest - window),
    );
  return { current: within(step), before: isChange ? within(step - window) : NOTHING };
}

function readingAt({ measure }: Watch, steps: readonly Step[]): Reading {
  const count = steps.reduce((sum, step) => sum + step.count, 0);
  if (measure === null) return { count, value: count, isExact: true };
  return readingOf(
    measure,
    count,
    steps.flatMap(({ part }) => part ?? []),
  );
}

/** Drops the entries of a step and before. */
export function trim(steps: Step[], step: number): void {
  let gone = 0;
  while (gone < steps.length && (steps[gone]?.at ?? 0) <= step) gone++;
  if (gone > 0) steps.splice(0, gone);
}
