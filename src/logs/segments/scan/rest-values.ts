import { WORK, type WorkMeter } from "../../query/budget.ts";
import { foldCase } from "../../query/fold-case.ts";
import { ObjectWork } from "../../query/json-bytes.ts";
import { beginPathWork, takePathWork } from "../../search/data-values.ts";
import type { ValueSteps } from "../../search/entry-steps.ts";
import type { TextColumn, Texts } from "../decode/column-values.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { hasValue, textsOf } from "./mark-rows.ts";
import type { OpenGroup } from "./open-group.ts";
import { byteText, TextFinder } from "./text-finder.ts";

/** Work units of parsing what a row has in `rest`, and each of its bytes. */
const PARSE_WORK = 500;
const PARSE_BYTE_WORK = 8;
/** Work units of searching a byte for a name, and of each value that has it. */
const SEARCHED_BYTE_WORK = 0.5;
const FOUND_WORK = 100;
/** Characters that JSON writes in another way than as themselves. */
const ESCAPED = /["\\\p{Cc}]|\p{Surrogate}/u;

/** A test of the values of `data` that have no column. */
export class RestValues {
  readonly #passes: (data: unknown) => boolean;
  readonly #steps: ValueSteps<unknown> | null;
  /** Find texts that each object has with a value that passes: names of the path, and the literal of the value, as JSON writes them. */
  readonly #finders: readonly { finder: TextFinder; byteWork: number }[];
  readonly #objects = new ObjectWork();

  /**
   * @param passes whether a part of `data` has a value that passes
   * @param literal folded text of each value that passes; "" if there is none
   * @param steps in place of `passes`; `null` if that is fast for all
   * @param path of each value that passes; empty if it may be anywhere
   */
  constructor(
    passes: (data: unknown) => boolean,
    literal: string,
    steps: ValueSteps<unknown> | null,
    path: readonly (string | number)[] = [],
  ) {
    this.#steps = steps;
    this.#passes = passes;
    const names = namesOf(path).map((name) => new TextFinder(foldCase(name), name));
    const finder = ESCAPED.test(literal) ? null : TextFinder.of(literal);
    this.#finders = [
      ...names.map((name) => ({ finder: name, byteWork: SEARCHED_BYTE_WORK })),
      ...(finder === null ? [] : [{ finder, byteWork: finder.byteWork }]),
    ];
  }

  /**
   * Marks the rows of which a value in `rest` passes. Rows without `rest` have none.
   * @throws MalformedFile
   */
  *mark({ meter }: OpenGroup, rest: TextColumn, rows: Int32Array, marks: Uint8Array): Generator<void> {
    const texts = textsOf(rest);
    const candidates = this.#finders.length === 0 ? null : yield* this.#candidates(texts, meter);
    if (candidates?.includes(1) === false) return;
    const known = rest.kind === "indexedTexts" ? new Int8Array(texts.length) : null;
    for (const row of rows) {
      if (!hasValue(rest, row)) continue;
      const at = rest.kind === "texts" ? row : (rest.indices[row] ?? 0);
      if (candidates !== null && candidates[at] === 0) continue;
      let verdict = known?.[at] ?? 0;
      if (verdict === 0) {
        verdict = (yield* this.#isPassing(texts, at, meter)) ? 1 : -1;
        if (known !== null) known[at] = verdict;
      }
      meter.add(WORK.columnRow);
      if (verdict === 1) marks[row] = 1;
      if (meter.isDue) yield;
    }
  }

  *#isPassing(texts: Texts, at: number, meter: WorkMeter): Generator<void, boolean> {
    const bytes = texts.bytesAt(at);
    meter.add(PARSE_WORK + bytes.length * PARSE_BYTE_WORK + this.#objects.of(bytes, 0, bytes.length));
    const data = parsed(texts.at(at));
    return this.#steps === null ? this.#counted(data, meter) : yield* this.#steps(data, meter);
  }

  #counted(data: unknown, meter: WorkMeter): boolean {
    beginPathWork();
    const passes = this.#passes(data);
    meter.add(takePathWork());
    return passes;
  }

  /** Returns 1 for each text that all finders find. */
  *#candidates(texts: Texts, meter: WorkMeter): Generator<void, Uint8Array> {
    let candidates = new Uint8Array(texts.length).fill(1);
    let all: string | undefined;
    for (const { finder, byteWork } of this.#finders) {
      // The texts were perhaps decoded in this step: a row group may have 8 MiB of them.
      if (meter.isDue) yield;
      meter.add(texts.bytes.length * byteWork);
      const found = new Uint8Array(texts.length);
      let count = 0;
      all ??= byteText(texts.bytes);
      const add = (index: number) => {
        found[index] = candidates[index] ?? 0;
        count++;
      };
      finder.find(texts, add, all);
      meter.add(count * FOUND_WORK);
      candidates = found;
      if (count === 0) break;
    }
    if (meter.isDue) yield;
    return candidates;
  }
}

/** Returns texts of JSON that an object has with a value at a path: names may be joined by dots there, as in `"a.b"`. */
function namesOf(path: readonly (string | number)[]): string[] {
  const names = path.filter((part) => typeof part === "string");
  const [first] = names;
  const last = names.at(-1);
  if (first === undefined || last === undefined) return [];
  const isPlain = (name: string) => !ESCAPED.test(name);
  if (names.length === 1) return isPlain(first) ? [`"${first}"`] : [];
  // Few other texts have the end of a name and a quote.
  return [...(isPlain(last) ? [`${last}"`] : []), ...(isPlain(first) ? [`"${first}`] : [])];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MalformedFile("The rest of a line has another form.", { cause: error });
  }
}
