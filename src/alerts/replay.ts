import type { ReportUnreadable } from "../logs/batch.ts";
import { type ProjectSource, projectLines } from "../logs/export/project-lines.ts";
import type { ColdLines } from "../logs/export/segment-lines.ts";
import { ScanPacer } from "../logs/query/budget.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../logs/query/memory.ts";
import { CompiledRules } from "./compiled-rules.ts";
import { type CountedQuery, countedOf, type RuleDefinition, watchOf } from "./definition.ts";
import { Evaluator, type RunDecision } from "./evaluator.ts";
import { RuleMatcher } from "./matcher.ts";

/** What a replay reads. */
export interface ReplaySource {
  workspaceId: string;
  projectId: string;
  recent: ProjectSource["recent"];
  cold: ColdLines;
  report: ReportUnreadable;
}

/** What a rule would have decided. */
export interface Replay {
  /** The first ones, in order of time; at most `MAX_DECISIONS`. */
  decisions: RunDecision[];
  firings: number;
  /** Times between which it would have decided, epoch milliseconds: `from < t <= through`. */
  from: number;
  through: number;
  /** Whether all entries were read. */
  complete: boolean;
  /** Entries that were read, and those that were counted in a group without room. */
  entries: number;
  overflow: number;
  /** Entries that passed the filter of the rule, whether or not they have what it measures. */
  matched: number;
  /** Entries that were received after a window with their time was decided. */
  late: number;
}

/** Decisions that a replay returns. */
const MAX_DECISIONS = 1000;
/** Decisions made at once. */
const STEP_DECISIONS = 10_000;
/** Work units of one call of `Evaluator.advance`. */
const ADVANCE_WORK = 2_000_000;
/** Work units of a replay: about 6 s. */
const MAX_WORK = 4_000_000_000;

/**
 * Decides what a rule would have decided if it had been created at a time, by the code that decides for rules.
 * @param from epoch milliseconds; the rule counts what was received since then
 * @param now the time up to which it decides
 */
export async function replay(
  source: ReplaySource,
  definition: RuleDefinition,
  query: CountedQuery,
  { from, now }: { from: number; now: number },
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<Replay> {
  const pacer = new ScanPacer();
  const { workspaceId, projectId, report, cold, recent } = source;
  const scope = { workspaceId, projectId, report, pacer, memory, times: { from: 0, to: null } };
  const project: ProjectSource = { recent, cold, scope };
  const newest = await recent({ after: 0, until: 0 });
  const after = await lastSeqBefore(project, newest, from);
  const watch = { ...watchOf(definition, query), mutes: [] };
  const run = { num: 1, watch, startSeq: 0, startAt: from, endSeq: null, endAt: null };
  const evaluator = new Evaluator();
  const state = evaluator.begin(run);
  const rule = { run: 1, startSeq: 0, endSeq: null, ...countedOf(definition, query) };
  const matcher = new RuleMatcher(new CompiledRules([rule]), projectId, pacer.meter);
  const decisions: RunDecision[] = [];
  let [entries, firings, through, receivedAt, complete] = [0, 0, from, from, true];
  const take = () => {
    for (const decision of evaluator.takeDecisions()) {
      if (decision.kind === "firing") firings++;
      decisions.push(decision);
    }
    // Those of one group come together, of all the times that passed at once.
    if (decisions.length > MAX_DECISIONS) keepFirst(decisions);
  };
  const advance = async () => {
    while (!evaluator.advance(through, STEP_DECISIONS)) {
      take();
      await pacer.pause(ADVANCE_WORK);
    }
    take();
    evaluator.save();
  };
  for await (const { lines } of projectLines(project, { after, until: newest.lastSeq }, newest.flushedSeq)) {
    for (const { batch, seq, start, end } of lines) {
      // Entries of versions before this one may have been received by a clock that was set back.
      receivedAt = Math.max(receivedAt, batch.receivedAt);
      if (receivedAt > now) break;
      entries++;
      const steps = matcher.steps({ bytes: batch.body.subarray(start, end), seq, receivedAt });
      for (let step = steps.next(); step.done !== true; step = steps.next()) await pacer.pause();
      await pacer.pause();
    }
    for (const hit of matcher.takeHits()) {
      evaluator.add(hit);
      if (evaluator.turn.isSpent) take();
    }
    for (const [num, count] of matcher.takeLate()) evaluator.addLate(num, count);
    through = Math.max(from, receivedAt - 1);
    take();
    await advance();
    if (pacer.meter.done < MAX_WORK && receivedAt <= now) continue;
    complete = receivedAt > now;
    break;
  }
  if (complete) through = now;
  await advance();
  keepFirst(decisions);
  const { overflow, late } = state;
  return { decisions, firings, from, through, complete, entries, overflow, matched: matcher.passed, late };
}

/** Puts decisions in order of time, and removes those after the first `MAX_DECISIONS`. */
export function keepFirst(decisions: Pick<RunDecision, "at">[]): void {
  decisions.sort((a, b) => a.at - b.at);
  decisions.splice(MAX_DECISIONS);
}

/** Returns the `seq` after which everything was received at a time or later. Halves the range of `seq`. */
async function lastSeqBefore(
  source: ProjectSource,
  { lastSeq, flushedSeq }: { lastSeq: number; flushedSeq: number },
  time: number,
): Promise<number> {
  let [low, high] = [0, lastSeq];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const receivedAt = await receivedAtOf(source, middle, flushedSeq);
    // What is gone has expired, so it was received earlier.
    if (receivedAt === null || receivedAt < time) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function receivedAtOf(source: ProjectSource, seq: number, flushedSeq: number): Promise<number | null> {
  for await (const { lines } of projectLines(source, { after: seq - 1, until: seq }, flushedSeq)) {
    const [line] = lines;
    if (line !== undefined) return line.batch.receivedAt;
  }
  return null;
}
