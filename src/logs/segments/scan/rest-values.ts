import { WORK, type WorkMeter } from "../../query/budget.ts";
import { beginPathWork, takePathWork } from "../../search/data-values.ts";
import type { ValueSteps } from "../../search/entry-steps.ts";
import type { TextColumn, Texts } from "../decode/column-values.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { hasValue, textsOf } from "./mark-rows.ts";
import type { OpenGroup } from "./open-group.ts";
import { TextFinder } from "./text-finder.ts";

/** Work units of parsing what a row has in `rest`, and each of its bytes. */
const PARSE_WORK = 500;
const PARSE_BYTE_WORK = 8;
/** Characters that JSON writes in another way than as themselves. */
const ESCAPED = /["\\\p{Cc}]|\p{Surrogate}/u;

/** A test of the values of `data` that have no column. */
export class RestValues {
  readonly #passes: (data: unknown) => boolean;
  readonly #steps: ValueSteps<unknown> | null;
  /** Finds the literal that each value has that passes, as JSON writes it; `null` if there is none. */
  readonly #finder: TextFinder | null;

  /**
   * @param passes whether a part of `data` has a value that passes
   * @param literal folded text of each value that passes; "" if there is none
   * @param steps in place of `passes`; `null` if that is fast for all
   */
  constructor(passes: (data: unknown) => boolean, literal: string, steps: ValueSteps<unknown> | null) {
    this.#steps = steps;
    this.#passes = passes;
    this.#finder = literal === "" || ESCAPED.test(literal) ? null : new TextFinder(literal);
  }

  /**
   * Marks the rows of which a value in `rest` passes. Rows without `rest` have none.
   * @throws MalformedFile
   */
  *mark({ meter }: OpenGroup, rest: TextColumn, rows: Int32Array, marks: Uint8Array): Generator<void> {
    const texts = textsOf(rest);
    const candidates = this.#candidates(texts);
    if (this.#finder !== null) meter.add(texts.bytes.length * this.#finder.byteWork);
    const known = rest.kind === "indexedTexts" ? new Int8Array(texts.length) : null;
    for (const row of rows) {
      if (!hasValue(rest, row)) continue;
      const at = rest.kind === "texts" ? row : (rest.indices[row] ?? 0);
      if (candidates !== null && candidates[at] === 0) continue;
      let verdict = known?.[at] ?? 0;
      if (verdict === 0) {
        const bytes = texts.bytesAt(at).length;
        meter.add(PARSE_WORK + bytes * PARSE_BYTE_WORK);
        const data = parsed(texts, at);
        const passes = this.#steps === null ? this.#counted(data, meter) : yield* this.#steps(data, meter);
        verdict = passes ? 1 : -1;
        if (known !== null) known[at] = verdict;
      }
      meter.add(WORK.columnRow);
      if (verdict === 1) marks[row] = 1;
      if (meter.isDue) yield;
    }
  }

  #counted(data: unknown, meter: WorkMeter): boolean {
    beginPathWork();
    const passes = this.#passes(data);
    meter.add(takePathWork());
    return passes;
  }

  #candidates(texts: Texts): Uint8Array | null {
    if (this.#finder === null) return null;
    const candidates = new Uint8Array(texts.length);
    this.#finder.find(texts, (index) => {
      candidates[index] = 1;
    });
    return candidates;
  }
}

function parsed(texts: Texts, at: number): unknown {
  try {
    return JSON.parse(texts.at(at));
  } catch (error) {
    throw new MalformedFile("The rest of a line has another form.", { cause: error });
  }
}
