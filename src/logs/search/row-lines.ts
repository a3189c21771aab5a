import type { Field } from "../../query-language/syntax.ts";
import { TYPE_BITS } from "../aggregate/aggregator.ts";
import type { FoundField } from "../aggregate/found-field.ts";
import { LineFields } from "../aggregate/line-fields.ts";
import { BatchMatcher, type LineMatch } from "../query/batch-matcher.ts";
import type { WorkMeter } from "../query/budget.ts";
import type { LineSource } from "../query/feed.ts";
import { OPEN_FILTER } from "../query/filter.ts";
import type { Row } from "../query/top-rows.ts";
import { aggregateField } from "./search-plan.ts";
import { compareOrdered } from "./value-table.ts";

/** Reads rows in memory as scans read the lines of stored entries. */
export class RowLines {
  readonly matcher = new BatchMatcher(OPEN_FILTER);

  /** Calls `take` with the line of a row, unless it is damaged. */
  read({ line, projectId, seq, receivedAt }: Row, take: (match: LineMatch, lines: LineSource) => void): void {
    const body = Buffer.from(line, "latin1");
    const lines: LineSource = {
      projectId,
      pieces: () => [body],
      seqAt: () => seq,
      receivedAtOf: () => receivedAt,
      isVisible: () => true,
    };
    this.matcher.forEachMatch(
      body,
      () => true,
      (match) => take(match, lines),
      () => undefined,
    );
  }
}

/** Work units of comparing a value with the others of its entry. */
const VALUE_WORK = 30;

/** Finds the values by which entries are sorted. */
export class SortKeys {
  readonly #fields: LineFields;
  readonly #found: FoundField | undefined;
  readonly #sign: number;
  readonly #meter: WorkMeter;

  /** @param sign 1 for a rising order, -1 for a falling one */
  constructor(field: Field, sign: number, meter: WorkMeter) {
    this.#sign = sign;
    this.#meter = meter;
    this.#fields = new LineFields([aggregateField(field)]);
    this.#found = this.#fields.found[0];
  }

  /**
   * Returns the value of the field, of an array the one that comes first in the order: a number for a time or a level, else
   * JSON; `null` without a value.
   */
  of(match: LineMatch, lines: LineSource): number | string | null {
    const found = this.#found;
    if (found === undefined || !this.#fields.read(match, lines)) return null;
    this.#meter.add(this.#fields.takeWork() + found.count * VALUE_WORK);
    let first: number | string | null = null;
    for (let at = 0; at < found.count; at++) {
      if (found.kinds[at] === TYPE_BITS.null) continue;
      const value = found.hasNumber ? found.numberAt(at) : found.textAt(at);
      if (first === null || compareOrdered(value, first, this.#sign) < 0) first = value;
    }
    return first;
  }
}
