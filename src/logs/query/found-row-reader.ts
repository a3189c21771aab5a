import { BatchMatcher, type Wanted } from "./batch-matcher.ts";
import { type QueryBudget, type ScanPacer, WORK } from "./budget.ts";
import type { FoundKey } from "./cursor.ts";
import { itemOfBatch, type ScanItem } from "./feed.ts";
import type { ReadMemory } from "./memory.ts";
import { openMoved } from "./moved-feed.ts";
import type { ResumableScanQuery } from "./resumable-scan.ts";
import { openItem, readable, rowOf } from "./scan.ts";
import type { LogSource } from "./tiers.ts";
import { type Row, rowBytes } from "./top-rows.ts";

/** Reads the rows of keys that a resumable scan has found, in whichever tier they are now. */
export class FoundRowReader {
  readonly #source: LogSource;
  readonly #scan: ResumableScanQuery;
  readonly #pacer: ScanPacer;
  readonly #memory: ReadMemory;
  readonly #budget: QueryBudget;
  readonly #matcher: BatchMatcher;
  readonly #projects: ReadonlySet<string>;
  /** Rows that were read together with requested ones. */
  readonly #found = new Map<string, Row>();
  #bytes = 0;

  /** @param projects that are searched; needed because a client may have forged its cursor */
  constructor(
    source: LogSource,
    scan: ResumableScanQuery,
    pacer: ScanPacer,
    memory: ReadMemory,
    budget: QueryBudget,
    projects: ReadonlySet<string>,
  ) {
    this.#source = source;
    this.#scan = scan;
    this.#pacer = pacer;
    this.#memory = memory;
    this.#budget = budget;
    this.#matcher = new BatchMatcher(scan.filter, pacer.meter);
    this.#projects = projects;
  }

  /**
   * Reads rows in order, at least one, until the budget is used up.
   * @returns the rows, and the number of keys that were read; the row of a key may have been deleted
   */
  async read(keys: readonly FoundKey[], limit: number): Promise<{ rows: Row[]; taken: number }> {
    const rows: Row[] = [];
    let answerBytes = 0;
    let taken = 0;
    for (const key of keys) {
      if (rows.length === limit || (taken > 0 && this.#pacer.meter.done >= this.#scan.work)) break;
      const row = await this.#rowOf(key, keys.slice(taken));
      if (row !== null) {
        answerBytes += row.line.length;
        if (rows.length > 0 && answerBytes > this.#budget.answerBytes) break;
        rows.push(row);
      }
      taken++;
    }
    return { rows, taken };
  }

  /** Returns `null` if the row was deleted. @param wanted further keys that may be read in the same request */
  async #rowOf(key: FoundKey, wanted: readonly FoundKey[]): Promise<Row | null> {
    if (!this.#projects.has(key.projectId)) return null;
    const known = this.#found.get(nameOf(key));
    if (known) return known;
    const names = new Set(wanted.map(nameOf));
    return (await this.#fromBatch(key, names)) ?? (await this.#fromSegments(key, names));
  }

  async #fromBatch(key: FoundKey, wanted: ReadonlySet<string>): Promise<Row | null> {
    const { timestamp, batch: position } = key;
    if (position === null) return null;
    const scan = { ...this.#scan.recent, from: timestamp, to: timestamp + 1, position, maxBytes: 1 };
    const { batches } = await this.#source.recent(scan);
    this.#pacer.meter.add(WORK.segment);
    const [batch] = batches;
    return batch?.commit === position.commit ? this.#scanItem(itemOfBatch(batch), key, wanted) : null;
  }

  async #fromSegments(key: FoundKey, wanted: ReadonlySet<string>): Promise<Row | null> {
    const { timestamp, seq, projectId } = key;
    const time = { from: timestamp, to: timestamp + 1 };
    const selection = { ...this.#scan.cold, ...time, afterCommit: 0 };
    const filter = { ...this.#scan.filter, ...time };
    const groups = { filter, pacer: this.#pacer, memory: this.#memory, rows: null };
    const feed = await openMoved(this.#source.cold, selection, { projectId, after: seq - 1, until: seq }, groups);
    let row: Row | null = null;
    while (row === null && feed.bound() !== null) row = await this.#scanItem(await feed.take(), key, wanted);
    this.#pacer.meter.add(feed.cost);
    return row;
  }

  async #scanItem(item: ScanItem, key: FoundKey, wanted: ReadonlySet<string>): Promise<Row | null> {
    this.#memory.renew();
    this.#pacer.meter.add(WORK.item);
    const lines = await openItem(item, this.#source.report);
    if (lines === null) return null;
    const { projectId } = lines;
    const name = nameOf(key);
    let found: Row | null = null;
    const isWanted: Wanted = (_, index) => {
      if (!item.isWhole && !lines.isVisible(index)) return false;
      return wanted.has(nameOf({ projectId, seq: lines.seqAt(index) }));
    };
    const steps = this.#matcher.steps(
      lines.pieces(isWanted),
      isWanted,
      (match) => {
        if (!this.#matcher.reads && !this.#matcher.isEntry(match)) return;
        const row = rowOf(match, lines, item.tier);
        this.#pacer.meter.add(WORK.row + row.line.length);
        if (nameOf(row) === name) found = row;
        else if (!this.#found.has(nameOf(row)) && this.#mayKeep(row)) this.#found.set(nameOf(row), row);
      },
      () => undefined,
      lines,
    );
    for (const _ of readable(steps, this.#matcher, item, this.#source.report)) {
      this.#memory.renew();
      await this.#pacer.pause();
    }
    lines.close?.();
    return found;
  }

  #mayKeep(row: Row): boolean {
    const bytes = this.#bytes + rowBytes(row);
    if (bytes > this.#budget.heldBytes || !this.#memory.canHoldRows(bytes)) return false;
    this.#bytes = bytes;
    return true;
  }
}

function nameOf({ projectId, seq }: { projectId: string; seq: number }): string {
  return `${projectId}/${seq}`;
}
