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

const [QUOTE, COMMA, OPEN_BRACKET, OPEN_BRACE] = [0x22, 0x2c, 0x5b, 0x7b];
/** Kinds of `true`, `false` and `null` by their first byte. */
const KIND_BY_INITIAL = new Map<number, number>([
  [0x74, KIND.true],
  [0x66, KIND.false],
  [0x6e, KIND.null],
]);

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
  /** Whether it has values of `data` or of an own member. */
  isValue: boolean;
  isSeen: boolean;
}

/** Bits of the number of places, and maximum bytes of a value that gets one. All places fit into the processor's first cache. */
const PLACE_BITS = 9;
const PLACE_BYTES = 32;

/**
 * The values of `data` whose tokens were added last. Each has one place, by some of its bytes. Keeps copies: the lines of others are
 * no longer in the processor's cache.
 */
class SeenValues {
  /** Of the slots; -1 for a free place. */
  readonly #numbers = new Int32Array(1 << PLACE_BITS).fill(-1);
  readonly #lengths = new Uint8Array(1 << PLACE_BITS);
  readonly #bytes = new Uint8Array(PLACE_BYTES << PLACE_BITS);

  /** Adds a value in the place of another one. @returns whether it was there */
  add(number: number, body: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (length > PLACE_BYTES) return false;
    const some = (body[start + 1] ?? 0) | ((body[end - 2] ?? 0) << 8) | ((body[start + (length >> 1)] ?? 0) << 16);
    const hash = Math.imul(some ^ (length << 24) ^ Math.imul(number, 0x9e3779b1), 0x85ebca77);
    const place = hash >>> (32 - PLACE_BITS);
    const bytes = this.#bytes;
    const from = place * PLACE_BYTES;
    if (this.#numbers[place] === number && this.#lengths[place] === length) {
      let at = 0;
      while (at < length && bytes[from + at] === body[start + at]) at++;
      if (at === length) return true;
    }
    this.#numbers[place] = number;
    this.#lengths[place] = length;
    for (let at = 0; at < length; at++) bytes[from + at] = body[start + at] ?? 0;
    return false;
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
      const isValue = role === "own" || role === "data";
      slots.push({ role, slot, before, number: this.#slots++, path, hash, text, isValue, isSeen: false });
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
      if (slot.isValue && this.#seen.add(slot.number, body, start, end)) continue;
      if (!slot.isSeen) {
        slot.isSeen = true;
        if (slot.isValue) this.#addPath(slot.path, slot.role === "data");
      }
      if (
        kind <= KIND.escapedText
          ? !this.#addText(slot, body, start, lineEnd)
          : !this.#addOther(slot, kind, body, start, end)
      )
        return false;
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

  /** Adds the items of a list, which have its path. @returns whether none of them is a list or an object */
  #addList(slot: TokenSlot, body: Uint8Array, start: number, end: number): boolean {
    if (slot.path.length === 0) return false;
    for (let at = start + 1; at < end - 1; at++) {
      const byte = body[at] ?? 0;
      if (byte === OPEN_BRACKET || byte === OPEN_BRACE) return false;
      if (byte === QUOTE) {
        if (!this.#addText(slot, body, at, end)) return false;
        at = this.#text.next;
        continue;
      }
      let next = at;
      while (next < end - 1 && body[next] !== COMMA) next++;
      this.#addOther(slot, KIND_BY_INITIAL.get(byte) ?? KIND.number, body, at, next);
      at = next;
    }
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
        if (body[start] === OPEN_BRACKET && this.#addList(slot, body, start, end)) return true;
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
