import type { LokiEntry } from "../../logql/pipeline.ts";
import { type Entry, parseStoredLine } from "../entry.ts";
import { logId } from "../entry-view.ts";
import type { LineMatch } from "../query/batch-matcher.ts";
import type { WorkMeter } from "../query/budget.ts";
import type { LineSource } from "../query/feed.ts";
import { ObjectWork } from "../query/json-bytes.ts";
import type { CountSink, RowSink } from "../stats/count-feed.ts";
import { lokiEntryOf } from "./loki-entry.ts";

/** Work units of an entry: parsing its line and running its stages, and of each byte. */
const ENTRY_WORK = 3000;
const BYTE_WORK = 8;

/** @returns whether further entries are wanted */
export type TakeEntry = (entry: LokiEntry, seq: number, stored: Entry) => boolean;

/** Passes the entries of both tiers on, from their lines and in no certain order. */
export class EntrySink implements CountSink {
  readonly takesCounts = false;
  readonly needsLevelsAlone = false;
  readonly rows: RowSink = {
    columnsOf: () => [],
    *add(_reader, _group, rows) {
      yield* [];
      return rows;
    },
  };
  isFull = false;
  examined = 0;
  readonly #take: TakeEntry;
  readonly #meter: WorkMeter;
  readonly #objects = new ObjectWork();

  constructor(take: TakeEntry, meter: WorkMeter) {
    this.#take = take;
    this.#meter = meter;
  }

  add(): void {
    throw new RangeError("Entries have lines.");
  }

  addLevel(): void {
    throw new RangeError("Entries have lines.");
  }

  addLine(match: LineMatch, lines: LineSource): boolean {
    if (this.isFull) return true;
    const { raw, start, end } = match;
    this.#meter.add(ENTRY_WORK + (end - start) * BYTE_WORK + this.#objects.of(raw, start, end));
    const entry = parseStoredLine(raw.toString("utf8", start, end));
    if (entry === null) return false;
    const { projectId } = lines;
    const seq = lines.seqAt(match.index);
    const receivedAt = lines.receivedAtOf(match.index);
    const place = { timestamp: match.timestamp, receivedAt, seq, projectId, id: logId(projectId, seq) };
    this.isFull = !this.#take(lokiEntryOf(entry, place), seq, entry);
    return true;
  }

  scanned(count: number): void {
    this.examined += count;
  }
}
