import type { Aggregator } from "../aggregate/aggregator.ts";
import { EntryAggregator } from "../aggregate/entry-aggregator.ts";
import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import type { ScanPacer } from "../query/budget.ts";
import type { LineSource } from "../query/feed.ts";
import { type ReadMemory, STATE_BYTES } from "../query/memory.ts";
import { ColumnAggregator } from "../segments/scan/column-aggregator.ts";
import type { Counted, CountSink, PartSink, PartState, RowSink } from "./count-feed.ts";

/** Messages whose patterns are remembered, from columns and from lines; see `PatternTexts`. */
const PATTERN_BYTES = 3 * 1024 * 1024;

/** Adds entries to an aggregator until a bound is reached. */
export class TableSink implements CountSink {
  readonly takesCounts: boolean;
  readonly needsLevelsAlone: boolean;
  matched = 0;
  examined = 0;
  readonly rows: RowSink;
  readonly parts: PartSink | undefined;
  /** Bound that was reached; `null` if none was. */
  full: "groups" | "memory" | null = null;
  readonly #aggregator: Aggregator;
  readonly #entries: EntryAggregator;
  readonly #memory: ReadMemory;
  readonly #held: number;
  readonly #maxBytes: number;
  #granted: number;

  /**
   * @param held bytes of other states of the request
   * @param maxBytes of the states
   */
  constructor(aggregator: Aggregator, memory: ReadMemory, { meter }: ScanPacer, held = 0, maxBytes = STATE_BYTES) {
    const { plan } = aggregator;
    this.#held = held + (plan.fields.some(({ own }) => own === "pattern") ? PATTERN_BYTES : 0);
    this.#granted = held;
    this.#maxBytes = maxBytes;
    // Which keys are left out depends on all entries before.
    const hasRoom = (bytes: number) => this.#hasRoom(bytes);
    this.parts = plan.maxValues === undefined ? { plan, hasRoom, merge: (state) => this.#merge(state) } : undefined;
    const columns = new ColumnAggregator(aggregator, meter);
    this.rows = {
      columnsOf: (reader, group) => columns.columnsOf(reader, group),
      add: (reader, group, rows, chunk) => this.#addRows(columns.add(reader, group, rows, chunk)),
    };
    this.#aggregator = aggregator;
    this.#entries = new EntryAggregator(aggregator, meter);
    this.#memory = memory;
    this.takesCounts = EntryAggregator.takesCounts(plan);
    this.needsLevelsAlone = plan.keys.every((key) => "binMs" in key || plan.fields[key.field]?.own === "level");
  }

  get isFull(): boolean {
    return this.full !== null;
  }

  add(timestamp: number, counted: Counted, count: number): void {
    if (this.full !== null) return;
    const added = this.#entries.addCounted(timestamp, counted, count);
    if (added === "full") this.full = "groups";
    else this.#counted(count);
  }

  addLevel(timestamp: number, level: number, count: number): void {
    this.add(timestamp, { level, category: "", type: "" }, count);
  }

  addLine(match: LineMatch, lines: LineSource, matcher: BatchMatcher): boolean {
    if (this.full !== null) return true;
    // Names at the beginning of a line are read without the rest of it.
    if (!matcher.reads && this.#entries.readsNamesAlone && !matcher.isEntry(match)) return false;
    const added = this.#entries.add(match, lines);
    if (added === "full") this.full = "groups";
    else if (added === "added") this.#counted(1);
    return added !== "damaged";
  }

  scanned(count: number): void {
    this.examined += count;
  }

  *#addRows(steps: ReturnType<ColumnAggregator["add"]>): Generator<void, Int32Array> {
    const { added, left, isFull } = yield* steps;
    if (isFull) this.full = "groups";
    this.#counted(added);
    return left;
  }

  *#merge({ partial, matched, examined }: PartState): Generator<number> {
    if (this.full !== null) return;
    if (!(yield* this.#aggregator.merge(partial))) this.full = "groups";
    this.examined += examined;
    this.#counted(matched);
  }

  #hasRoom(bytes: number): boolean {
    const wanted = this.#held + this.#aggregator.held.bytes + bytes;
    return wanted > this.#maxBytes || this.#memory.canHoldRows(wanted);
  }

  #mayHold(bytes: number): boolean {
    try {
      return this.#memory.canHoldState(bytes);
    } catch (error) {
      // The read runs again with a new state.
      this.#aggregator.release();
      throw error;
    }
  }

  /** @throws ShortOfMemory */
  #counted(count: number): void {
    this.matched += count;
    const bytes = this.#held + this.#aggregator.held.bytes;
    if (bytes <= this.#granted) return;
    this.#granted = bytes;
    if (bytes <= this.#maxBytes && this.#mayHold(bytes)) return;
    if (this.#aggregator.plan.maxValues === undefined) this.full = "memory";
    else for (const key of this.#aggregator.groups.keys) key.close();
  }
}
