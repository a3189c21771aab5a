import { WORK, type WorkMeter } from "../../query/budget.ts";
import { ObjectWork } from "../../query/json-bytes.ts";
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
/** Work units of searching a byte for a name. */
const SEARCHED_BYTE_WORK = 0.5;
/** Characters that JSON writes in another way than as themselves. */
const ESCAPED = /["\\\p{Cc}]|\p{Surrogate}/u;

/** A test of the values of `data` that have no column. */
export class RestValues {
  readonly #passes: (data: unknown) => boolean;
  readonly #steps: ValueSteps<unknown> | null;
  /** Finds the literal that each value has that passes, as JSON writes it; `null` if there is none. */
  readonly #finder: TextFinder | null;
  /** Texts that each object has with a value that passes. */
  readonly #names: readonly Buffer[];
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
    this.#names = namesOf(path);
    this.#passes = passes;
    this.#finder = literal === "" || ESCAPED.test(literal) ? null : new TextFinder(literal);
  }

  /**
   * Marks the rows of which a value in `rest` passes. Rows without `rest` have none.
   * @throws MalformedFile
   */
  *mark({ meter }: OpenGroup, rest: TextColumn, rows: Int32Array, marks: Uint8Array): Generator<void> {
    const texts = textsOf(rest);
    const all = bufferOf(texts.bytes);
    for (const name of this.#names) {
      meter.add(all.length * SEARCHED_BYTE_WORK);
      if (!all.includes(name)) return;
    }
    if (meter.isDue) yield;
    const candidates = this.#candidates(texts);
    if (this.#finder !== null) meter.add(texts.bytes.length * this.#finder.byteWork);
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
    const bytes = bufferOf(texts.bytesAt(at));
    if (this.#names.length > 0) {
      meter.add(WORK.condition + bytes.length * SEARCHED_BYTE_WORK);
      if (!this.#names.every((name) => bytes.includes(name))) return false;
    }
    meter.add(PARSE_WORK + bytes.length * PARSE_BYTE_WORK + this.#objects.of(bytes, 0, bytes.length));
    const data = parsed(bytes);
    return this.#steps === null ? this.#counted(data, meter) : yield* this.#steps(data, meter);
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

/** Returns texts of JSON that an object has with a value at a path: names may be joined by dots there, as in `"a.b"`. */
function namesOf(path: readonly (string | number)[]): Buffer[] {
  const names = path.filter((part) => typeof part === "string");
  const [first] = names;
  const last = names.at(-1);
  if (first === undefined || last === undefined) return [];
  const isPlain = (name: string) => !ESCAPED.test(name);
  if (names.length === 1) return isPlain(first) ? [Buffer.from(`"${first}"`)] : [];
  // Few other texts have the end of a name and a quote.
  return [...(isPlain(last) ? [`${last}"`] : []), ...(isPlain(first) ? [`"${first}`] : [])].map((text) =>
    Buffer.from(text),
  );
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new MalformedFile("The rest of a line has another form.", { cause: error });
  }
}
