import { MAX_ROWS } from "../aggregate/table.ts";
import { parseStoredLine } from "../entry.ts";
import { logId } from "../entry-view.ts";
import type { Cursor } from "../query/cursor.ts";
import { compareRows, type Order } from "../query/feed.ts";
import { ObjectWork } from "../query/json-bytes.ts";
import type { ReadMemory } from "../query/memory.ts";
import { runQuery } from "../query/run-query.ts";
import { type Row, rowBytes } from "../query/top-rows.ts";
import { entryStepsOf } from "./entry-steps.ts";
import { MAX_CONTEXTS, NEIGHBOURS_MISSING, withNeighbours } from "./neighbours.ts";
import { type EntryPipe, isByTime, NEWEST_FIRST, type PipeOf, type SearchPlan } from "./search-plan.ts";
import { type Found, type SearchRun, snapshotOf } from "./search-query.ts";
import { readSorted, sortRows } from "./sorted-rows.ts";

/** Entries in memory, in order. */
export interface EntryRows {
  rows: Row[];
  /** Those of `rows` that matched, if the others are their neighbours. */
  matches?: ReadonlySet<Row>;
  matched: number;
  scanned: number;
  complete: boolean;
  exact: boolean;
  asOf: string;
  notes: string[];
  /** Commit number of the snapshot. */
  commit: number;
}

/** Reads the entries that the first pipe leaves: the first ones of their order. */
export async function readRows(search: SearchRun, plan: SearchPlan): Promise<Found<EntryRows>> {
  const [first] = plan.entryPipes;
  const usual = first?.kind === "context" ? MAX_CONTEXTS : plan.table === null ? search.wanted.limit : MAX_ROWS;
  const count = first?.kind === "limit" ? first.limit : usual;
  const read = await (isByTime(plan.sort)
    ? readInTime(search, plan.sort, count)
    : readSorted(search, plan.sort, count));
  if (!read.ok || plan.table === null || first?.kind !== "context") return read;
  const { answer } = read;
  // A table has no further pages.
  if (answer.exact && answer.matched <= count) return read;
  const note = `The table has the first ${count} entries with their neighbours; there are more.`;
  return { ok: true, answer: { ...answer, complete: false, notes: [note, ...answer.notes] } };
}

/**
 * Reads pages until there are enough entries, or memory or work ends.
 * @param take takes the entries instead of the result; returns the bytes that it holds of one
 */
export async function readInTime(
  search: SearchRun,
  { order }: PipeOf<"sort">,
  count: number,
  take?: (row: Row) => number,
): Promise<Found<EntryRows>> {
  const { wanted, filter, reading } = search;
  const { source, budget, memory, pacer } = reading;
  const rows: Row[] = [];
  const hold = (row: Row) => {
    rows.push(row);
    return rowBytes(row);
  };
  let [held, taken] = [0, 0];
  let cursor: Cursor | null = null;
  let scanned = 0;
  for (;;) {
    const query = {
      ...{ projectId: wanted.projectId, filter, order, offset: 0, limit: Math.min(PAGE_ROWS, count - taken), cursor },
      ...{ includeTotal: false, asOf: cursor?.asOf ?? wanted.asOf },
    };
    const left = { ...budget, work: budget.work - pacer.meter.done, heldBytes: budget.heldBytes - held };
    const result = await runQuery(source, query, () => 0, left, new SharedMemory(memory, held));
    if (!result.ok) return result;
    pacer.meter.add(result.work);
    scanned += result.page.stats.scanned;
    for (const row of result.page.rows) {
      held += (take ?? hold)(row);
      await pacer.pause(row.line.length);
    }
    taken += result.page.rows.length;
    cursor = result.cursor;
    const isOver =
      held >= MOST_HELD * budget.heldBytes || pacer.meter.done >= budget.work || result.page.rows.length === 0;
    if (cursor !== null && taken < count && !isOver) continue;
    const complete = cursor === null || taken >= count;
    const snapshot = snapshotOf(search, result.snapshot);
    const notes = complete ? snapshot.notes : [...snapshot.notes, ENDED];
    const exact = cursor === null;
    return {
      ok: true,
      answer: {
        rows,
        matched: taken,
        scanned,
        complete,
        exact,
        asOf: snapshot.asOf,
        notes,
        commit: result.snapshot.commit,
      },
    };
  }
}

/** Share of the bytes of a read that entries may take before the next page. */
const MOST_HELD = 0.75;
/** Entries of one page. */
const PAGE_ROWS = 2000;
export const ENDED = "The request reached its limit of work or memory: further entries are missing. Narrow the filter.";

/** Memory of which a part is held already. */
export class SharedMemory implements ReadMemory {
  readonly #memory: ReadMemory;
  readonly #held: number;

  constructor(memory: ReadMemory, held: number) {
    this.#memory = memory;
    this.#held = held;
  }

  canHoldRows(bytes: number): boolean {
    return this.#memory.canHoldRows(this.#held + bytes);
  }

  canHoldState(bytes: number): boolean {
    return this.#memory.canHoldState(this.#held + bytes);
  }

  grantInput(wanted: number, minBytes: number): number {
    return this.#memory.grantInput(wanted, minBytes);
  }

  recordInput(bytes: number): void {
    this.#memory.recordInput(bytes);
  }

  recordDecoded(bytes: number): void {
    this.#memory.recordDecoded(bytes);
  }

  receive(bytes: Uint8Array): void {
    this.#memory.receive(bytes);
  }

  renew(): void {
    this.#memory.renew();
  }
}

/** Work units of parsing a row, and each character of it. */
const ROW_WORK = 1000;
const CHARACTER_WORK = 6;
/** Budgets that the pipes of one request may reach. */
export const MOST_WORK = 1.5;

/** Runs the pipes of entries. Neighbours are in the order of time: as the last `sort` states, else the newest first. */
export async function pipeRows(search: SearchRun, found: EntryRows, plan: SearchPlan): Promise<EntryRows> {
  const { entryPipes, sort } = plan;
  let { order } = isByTime(sort) ? sort : NEWEST_FIRST;
  let piped = found;
  for (const pipe of entryPipes) {
    if (pipe.kind === "sort") order = isByTime(pipe) ? pipe.order : NEWEST_FIRST.order;
    piped = { ...piped, ...(await pipeOf(search, piped, pipe, order)) };
  }
  return piped;
}

async function pipeOf(search: SearchRun, found: EntryRows, pipe: EntryPipe, order: Order): Promise<Partial<EntryRows>> {
  const { rows, complete, notes, commit } = found;
  switch (pipe.kind) {
    case "limit":
      return { rows: rows.slice(0, pipe.limit) };
    case "where":
      return filtered(search, found, pipe);
    case "sort":
      // Like entries that are read in the order of time: those of one time are in the same direction.
      if (isByTime(pipe)) return { rows: rows.toSorted((a, b) => compareRows(pipe.order, a, b)) };
      return { rows: await sortRows(search, rows, pipe) };
    case "context": {
      const wide = await withNeighbours(search, rows, pipe.entries, order, commit);
      const missing = wide.complete ? [] : [NEIGHBOURS_MISSING];
      const matches = found.matches ?? new Set(rows);
      return { rows: wide.rows, matches, complete: complete && wide.complete, notes: [...notes, ...missing] };
    }
  }
}

/** Tests rows in steps of some milliseconds, as far as the request's work allows. */
async function filtered(
  { reading, wanted, compared }: SearchRun,
  { rows, complete, notes }: EntryRows,
  { filter }: PipeOf<"where">,
): Promise<Pick<EntryRows, "rows" | "complete" | "notes">> {
  const { memory, pacer, budget } = reading;
  const steps = entryStepsOf(filter, wanted.now, compared);
  const objects = new ObjectWork();
  const passing: Row[] = [];
  for (const row of rows) {
    const { projectId, seq } = row;
    const line = Buffer.from(row.line, "latin1");
    pacer.meter.add(ROW_WORK + line.length * CHARACTER_WORK + objects.of(line, 0, line.length));
    const entry = parseStoredLine(line.toString("utf8"));
    if (entry === null) continue;
    const test = steps(entry, { ...row, id: logId(projectId, seq) }, pacer.meter);
    let step = test.next();
    for (; step.done !== true; step = test.next()) {
      memory.renew();
      await pacer.pause();
      if (pacer.meter.done > MOST_WORK * budget.work)
        return { rows: passing, complete: false, notes: [ENDED, ...notes] };
    }
    if (step.value) passing.push(row);
    memory.renew();
    await pacer.pause();
  }
  return { rows: passing, complete, notes };
}
