import { readCold } from "../../tail/cold-range.ts";
import type { SeqSource } from "../../tail/context.ts";
import { linesOfBatches, type SeqLines, type SeqRange } from "../../tail/frames.ts";
import { reportEntries } from "../batch.ts";
import { BatchMatcher } from "../query/batch-matcher.ts";
import { compareRows, type Order } from "../query/feed.ts";
import { OPEN_FILTER } from "../query/filter.ts";
import { piecesOf } from "../query/lines.ts";
import { type Row, rowBytes } from "../query/top-rows.ts";
import type { SearchRun } from "./search-query.ts";

/** Matches whose neighbours one request reads. Each needs calls of its own. */
export const MAX_CONTEXTS = 50;

/** What a note states about neighbours that were not read. */
export const NEIGHBOURS_MISSING =
  "Not all neighbours fit into the answer: ask for fewer of them, or for fewer entries.";

/** A range of one project in which all entries are wanted. */
interface Wanted extends SeqRange {
  projectId: string;
}

/** Entries with their neighbours. */
export interface WithNeighbours {
  rows: Row[];
  /** Whether all neighbours are there. */
  complete: boolean;
}

/**
 * Adds the entries before and after each row, in the order in which its project received them.
 * @param rows in the order of importance: the neighbours of the first ones are read first
 * @param count entries on either side
 * @param commit number of the snapshot
 */
export async function withNeighbours(
  { reading, source }: SearchRun,
  rows: readonly Row[],
  count: number,
  order: Order,
  commit: number,
): Promise<WithNeighbours> {
  const { memory, budget, pacer } = reading;
  const found = new Map(rows.map((row) => [nameOf(row), row]));
  let bytes = rows.reduce((sum, row) => sum + rowBytes(row), 0);
  let isFull = false;
  const add = (row: Row) => {
    if (found.has(nameOf(row))) return;
    const held = bytes + rowBytes(row);
    if (held > budget.answerBytes || !memory.canHoldRows(held)) {
      isFull = true;
      return;
    }
    bytes = held;
    found.set(nameOf(row), row);
  };
  for (const wanted of rangesOf(rows.slice(0, MAX_CONTEXTS), count)) {
    if (isFull || pacer.meter.done >= budget.work) {
      isFull = true;
      break;
    }
    await readRange(reading, source.bySeq(wanted.projectId), wanted, commit, add);
  }
  const complete = !isFull && rows.length <= MAX_CONTEXTS;
  return { rows: [...found.values()].sort((a, b) => compareRows(order, a, b)), complete };
}

function nameOf({ projectId, seq }: { projectId: string; seq: number }): string {
  return `${projectId}/${seq}`;
}

/** Returns the ranges around rows. Those that overlap or touch are one. */
function rangesOf(rows: readonly Row[], count: number): Wanted[] {
  const ranges: Wanted[] = [];
  for (const { projectId, seq } of rows) {
    const range = { projectId, after: Math.max(0, seq - count - 1), until: seq + count };
    for (;;) {
      const at = ranges.findIndex(
        (known) => known.projectId === projectId && known.after <= range.until && known.until >= range.after,
      );
      const [known] = at < 0 ? [] : ranges.splice(at, 1);
      if (known === undefined) break;
      range.after = Math.min(range.after, known.after);
      range.until = Math.max(range.until, known.until);
    }
    ranges.push(range);
  }
  return ranges;
}

/** Reads a range. The object is read first, because a batch leaves it only after it is in the cold tier. */
async function readRange(
  { memory, pacer }: SearchRun["reading"],
  { scope, recent, cold }: SeqSource,
  { projectId, after, until }: Wanted,
  commit: number,
  add: (row: Row) => void,
): Promise<void> {
  let page = await recent({ after, until });
  const matcher = new BatchMatcher({ ...OPEN_FILTER, from: page.oldest }, pacer.meter);
  const end = Math.min(until, page.lastSeq);
  const take = async (lines: SeqLines) => {
    const damaged: number[] = [];
    const isWanted = (_: number, index: number) => {
      const seq = lines.seqAt(index);
      return seq > after && seq <= end && lines.isVisible?.(index) !== false;
    };
    const steps = matcher.steps(
      piecesOf(lines.body),
      isWanted,
      (match) => {
        const { index, timestamp, raw, start, end: lineEnd } = match;
        const seq = lines.seqAt(index);
        if (!matcher.isEntry(match)) damaged.push(seq);
        else {
          const line = raw.toString("latin1", start, lineEnd);
          add({ timestamp, seq, projectId, receivedAt: lines.receivedAtOf(index), tier: "recent", line });
        }
      },
      (index) => isWanted(0, index) && damaged.push(lines.seqAt(index)),
    );
    for (const _ of steps) await pacer.pause();
    reportEntries(scope.report, projectId, damaged);
  };
  for (;;) {
    memory.renew();
    const visible = page.batches.filter((batch) => batch.commit <= commit);
    for (const batch of visible) for (const lines of linesOfBatches([batch], scope.report)) await take(lines);
    if (page.through >= end) break;
    page = await recent({ after: page.through, until: end });
  }
  const coldEnd = Math.min(end, page.flushedSeq);
  for (let position = after; position < coldEnd; ) {
    memory.renew();
    const { units, through } = await readCold(cold, { ...scope, asOf: commit }, { after: position, until: coldEnd });
    for (const unit of units) await take(unit);
    position = through;
  }
}
