import { TokenHasher } from "../../cold/filter/bloom.ts";
import { atId, atPath, hashValue, MARK, type TokenCollector, type TokenHash } from "../../cold/filter/tokens.ts";
import { parseStoredLine } from "../../entry.ts";
import { TEXT_MEMBERS } from "../columns.ts";
import type { LineShape } from "../encode/line-shape.ts";
import { type RowGroup, utf8 } from "../encode/row-group.ts";
import { parseTemplate } from "../template.ts";
import { KIND } from "../value-scanner.ts";
import { JsonText } from "./json-text.ts";

const MESSAGE = TEXT_MEMBERS.indexOf("message");
const FIRST_ID = TEXT_MEMBERS.indexOf("session");

/** What the values of a slot are: the message, an id, an own member, or a value in `data`. */
type Role = "message" | "id" | "own" | "data";

/** A slot of a shape with values that have tokens. */
interface TokenSlot {
  role: Role;
  slot: number;
  /** Bytes of the line between the value before and its own. */
  before: number;
  /** Tells its values from those of other slots of the row group. */
  number: number;
  /** Names from `data` inwards, and their hash. Empty for other members, and for `data` itself. */
  path: readonly string[];
  hash: TokenHash;
  /** State of the hash before a text. */
  text: TokenHash;
  isSeen: boolean;
}

const PLACES = 1024;

/** The values whose tokens were added last. Each has one place, by some of its bytes. */
class SeenValues {
  readonly #numbers = new Int32Array(PLACES).fill(-1);
  readonly #starts = new Int32Array(PLACES);
  readonly #ends = new Int32Array(PLACES);
  readonly #bodies: Uint8Array[] = new Array(PLACES);
  #place = 0;

  clear(): void {
    this.#numbers.fill(-1);
  }

  /** @param number of the slot. @returns whether an equal value is there; if not, `remember` puts this one there */
  has(number: number, body: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const some = (body[start + 1] ?? 0) | ((body[end - 2] ?? 0) << 8) | ((body[start + (length >> 1)] ?? 0) << 16);
    const place = Math.imul(some ^ (length << 24) ^ Math.imul(number, 0x9e3779b1), 0x85ebca77) >>> 22;
    this.#place = place;
    const from = this.#starts[place] ?? 0;
    if (this.#numbers[place] !== number || (this.#ends[place] ?? 0) - from !== length) return false;
    const seen = this.#bodies[place] ?? body;
    for (let at = 0; at < length; at++) if (seen[from + at] !== body[start + at]) return false;
    return true;
  }

  /** Call after `has`, with the same value. */
  remember(number: number, body: Uint8Array, start: number, end: number): void {
    const place = this.#place;
    this.#numbers[place] = number;
    this.#starts[place] = start;
    this.#ends[place] = end;
    this.#bodies[place] = body;
  }
}

/**
 * Adds the tokens of the lines that a row group has split to a collector: exactly those that the entries have. Takes a line while
 * its bytes are in the processor's cache, and hashes a value that has occurred before only if others have replaced it since.
 */
export class RowTokens {
  readonly #collector: TokenCollector;
  readonly #hasher = new TokenHasher();
  readonly #text = new JsonText();
  readonly #seen = new SeenValues();
  #group: RowGroup | null = null;
  /** By index of the shape. */
  #shapes: (readonly TokenSlot[])[] = [];
  #slots = 0;

  constructor(collector: TokenCollector) {
    this.#collector = collector;
  }

  /**
   * Adds the tokens of the last line of a row group.
   * @throws RangeError if the line is not an entry
   */
  add(group: RowGroup): void {
    if (group !== this.#group) {
      this.#group = group;
      this.#shapes = [];
      this.#seen.clear();
    }
    const row = group.rows - 1;
    const index = group.shape[row] ?? -1;
    const shape = group.splitter.shapes[index];
    if (shape !== undefined) {
      const slots = this.#shapes[index] ?? this.#slotsOf(shape);
      this.#shapes[index] = slots;
      if (this.#addSlots(group, row, slots)) return;
    }
    const entry = parseStoredLine(utf8(group.line(row)));
    if (entry === null) throw new RangeError("A line is not an entry.");
    this.#collector.add(entry);
  }

  #slotsOf({ members, data, firstData, own, pieces, template }: LineShape): TokenSlot[] {
    const slots: TokenSlot[] = [];
    const add = (role: Role, slot: number, path: readonly string[], hash: TokenHash, text: TokenHash) => {
      const before = pieces[slot]?.length ?? 0;
      slots.push({ role, slot, before, number: this.#slots++, path, hash, text, isSeen: false });
    };
    for (const [member, slot] of members.entries()) {
      if (slot < 0 || member < MESSAGE) continue;
      const state = stateOf(atId(this.#hasher, member - FIRST_ID));
      add(member === MESSAGE ? "message" : "id", slot, [], state, state);
    }
    for (const [index, { path }] of data.entries()) {
      const hash = stateOf(atPath(this.#hasher, path));
      add(index < own.length ? "own" : "data", firstData + index, path, hash, stateOf(this.#hasher.unit(MARK.value)));
    }
    // Every line of the shape has the objects.
    const objects = template === null ? [] : (parseTemplate(template)?.objects ?? []);
    for (const path of objects) this.#addPath(path, true);
    return slots;
  }

  /** Adds what every value at a path has. @param isNamed whether the runs of its name count */
  #addPath(path: readonly string[], isNamed: boolean): void {
    const name = path.at(-1);
    if (name === undefined) return;
    const { a, b } = hashValue(atPath(this.#hasher, path), undefined);
    this.#collector.texts.add(a, b);
    if (isNamed) this.#collector.grams.add(name);
  }

  /** @returns whether all values were read */
  #addSlots(group: RowGroup, row: number, slots: readonly TokenSlot[]): boolean {
    const { ends, kinds } = group;
    const body = group.bodies[row] ?? new Uint8Array();
    const first = group.first[row] ?? 0;
    const lineEnd = group.end[row] ?? 0;
    for (const slot of slots) {
      const at = first + slot.slot;
      const kind = kinds[at] ?? 0;
      if (kind === KIND.absent) continue;
      const start = (ends[at - 1] ?? 0) + slot.before;
      const end = ends[at] ?? 0;
      if (this.#seen.has(slot.number, body, start, end)) continue;
      if (!slot.isSeen) {
        slot.isSeen = true;
        if (slot.role === "data" || slot.role === "own") this.#addPath(slot.path, slot.role === "data");
      }
      if (
        kind <= KIND.escapedText
          ? !this.#addText(slot, body, start, lineEnd)
          : !this.#addOther(slot, kind, body, start, end)
      )
        return false;
      this.#seen.remember(slot.number, body, start, end);
    }
    return true;
  }

  #addText({ role, text: state }: TokenSlot, body: Uint8Array, start: number, lineEnd: number): boolean {
    const text = this.#text;
    const { grams, ids, texts } = this.#collector;
    if (role === "message") {
      if (!text.read(body, start + 1, lineEnd)) return false;
    } else {
      const hasher = this.#hasher.reset(state.a, state.b);
      if (!text.hashFolded(body, start + 1, lineEnd, hasher)) return false;
      const { a, b } = hasher.finish();
      if (role === "id") {
        ids.add(a, b);
        return true;
      }
      texts.add(a, b);
    }
    if (text.decoded === null) grams.addAscii(text.bytes, text.from, text.to);
    else grams.add(text.decoded);
    return true;
  }

  #addOther(slot: TokenSlot, kind: number, body: Uint8Array, start: number, end: number): boolean {
    const collector = this.#collector;
    const { scalars } = collector;
    const { a, b } = slot.hash;
    switch (kind) {
      case KIND.integer:
      case KIND.number: {
        // The splitter accepts only the spelling that `String` has.
        const token = this.#hasher.reset(slot.text.a, slot.text.b).ascii(body, start, end).finish();
        scalars.add(token.a, token.b);
        return true;
      }
      case KIND.true:
      case KIND.false: {
        const token = hashValue(this.#hasher.reset(a, b), kind === KIND.true ? "true" : "false");
        scalars.add(token.a, token.b);
        return true;
      }
      case KIND.null: {
        const token = hashValue(this.#hasher.reset(a, b), null);
        scalars.add(token.a, token.b);
        return true;
      }
      default: {
        const value: unknown = JSON.parse(utf8(body.subarray(start, end)));
        if (slot.path.length > 0) collector.addValue(a, b, value);
        else if (typeof value === "object" && value !== null) collector.addData(value);
        return true;
      }
    }
  }
}

function stateOf({ a, b }: TokenHash): TokenHash {
  return { a, b };
}
