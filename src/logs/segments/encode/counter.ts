import { LevelCounter, Tally, type TypePair, TypePairs } from "../../cold/format/counts.ts";
import { LEVELS, type Level } from "../../entry.ts";
import { SummaryBuilder } from "../../summary.ts";
import { latin1 } from "../value-scanner.ts";
import type { RowGroup } from "./row-group.ts";
import { TextDictionary } from "./text-dictionary.ts";

/** Bytes of the pairs of category and type that are found without decoding them. */
const CACHE_BYTES = 16 * 1024;
const SEVERITY = new Map(LEVELS.map((level, severity) => [level.charCodeAt(0), severity]));
const [LEVEL_SLOT, CATEGORY_SLOT, TYPE_SLOT] = [0, 1, 2];

/** Counts the entries of a segment by minute, level, category and type. */
export class EntryCounter {
  readonly #levels = new LevelCounter();
  readonly #summary = new SummaryBuilder();
  readonly #tally = new Tally(this.#summary, this.#levels);
  readonly #pairs = new TypePairs();
  readonly #cache = new TextDictionary(CACHE_BYTES);
  readonly #cached: TypePair[] = [];
  levelMask = 0;
  categoryMask = 0;

  /** Counts the last row of a row group. @returns its severity */
  add(group: RowGroup): number {
    const row = group.rows - 1;
    const isWhole = (group.shape[row] ?? 0) < 0;
    const severity = isWhole ? this.#wholeSeverity(group, row) : this.#severity(group, row);
    const pair = isWhole ? this.#wholePair(group, row) : this.#pair(group, row);
    this.levelMask |= 1 << severity;
    this.categoryMask |= pair.categoryBit;
    this.#tally.add(group.timestamp[row] ?? 0, severity, pair);
    return severity;
  }

  /** @returns the packed counts; see `../../cold/format/counts.ts` and `../../summary.ts` */
  pack(): { levels: Uint8Array; summary: Uint8Array } {
    this.#tally.flush();
    return { levels: this.#levels.pack(), summary: this.#summary.pack() };
  }

  /** Frees its memory. */
  release(): void {
    this.#cache.release();
  }

  #severity(group: RowGroup, row: number): number {
    const letter = group.bodies[row]?.[group.valueStart(row, LEVEL_SLOT) + 1];
    return SEVERITY.get(letter ?? 0) ?? 0;
  }

  #pair(group: RowGroup, row: number): TypePair {
    const body = group.bodies[row] ?? new Uint8Array();
    const first = group.first[row] ?? 0;
    const start = group.valueStart(row, CATEGORY_SLOT);
    const end = group.ends[first + TYPE_SLOT] ?? 0;
    const index = this.#cache.add(body, start, end);
    const known = this.#cached[index];
    if (known !== undefined) return known;
    const category = textAt(body, start, group.ends[first + CATEGORY_SLOT] ?? 0);
    const pair = this.#pairs.of(category, textAt(body, group.valueStart(row, TYPE_SLOT), end));
    if (index >= 0) this.#cached[index] = pair;
    return pair;
  }

  #wholeSeverity(group: RowGroup, row: number): number {
    // SAFETY: `indexOf` only compares; a line that is an entry has a level.
    return Math.max(0, LEVELS.indexOf((group.wholeMembers(row)[LEVEL_SLOT] ?? "") as Level));
  }

  #wholePair(group: RowGroup, row: number): TypePair {
    const members = group.wholeMembers(row);
    return this.#pairs.of(members[CATEGORY_SLOT] ?? "", members[TYPE_SLOT] ?? "");
  }
}

function textAt(body: Uint8Array, start: number, end: number): string {
  return String(JSON.parse(Buffer.from(latin1(body, start, end), "latin1").toString("utf8")));
}
