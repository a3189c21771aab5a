import { HEAD_BYTES } from "../../cold/format/lines.ts";
import { LEVELS } from "../../entry.ts";
import { TEXT_MEMBERS } from "../members.ts";
import { parseTemplate, type Slot } from "../template.ts";
import { isAt, KIND, ValueScanner } from "../value-scanner.ts";

const REQUIRED_MEMBERS = 4;

const encoder = new TextEncoder();
const HEADS = TEXT_MEMBERS.map((name) => encoder.encode(`,"${name}":`));
const DATA_HEAD = encoder.encode(',"data":');
const MARK = Uint8Array.of(0x23);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** A level's bytes with quotes, by its first letter. No two levels begin with the same letter. */
const LEVEL_TEXTS = new Map(LEVELS.map((level) => [level.charCodeAt(0), encoder.encode(`"${level}"`)]));

/** Maximum number of values that a line is split into. A line with more is stored whole. */
const MAX_SLOTS = 1024;
/**
 * Shapes of one row group, by how deep they describe `data`: all of it, its own members only, not at all. If a row group
 * has more shapes of a kind, as with members named by ids, further lines get the next kind.
 */
const MAX_SHAPES = [1024, 512, 64];
const DEPTHS = [32, 1, 0];
/** Bytes of all shapes of a kind. */
const MAX_SHAPE_BYTES = 128 * 1024;

/** @returns index after the closing quote; -1 if the text has an escape or does not end */
function endOfPlainText(bytes: Uint8Array, at: number): number {
  let i = at;
  let byte = bytes[i] ?? 0;
  while (byte >= SPACE && byte !== QUOTE && byte !== BACKSLASH) byte = bytes[++i] ?? 0;
  return byte === QUOTE ? i + 1 : -1;
}

/** Classes of value that a column can hold, as counted by a shape. */
export const VALUE_CLASSES = 4;
/** Class of each kind: 0 text, 1 integer, 2 other number, 3 boolean; -1 if no column holds it. */
const CLASS_OF_KIND = [0, 0, 1, 2, 3, 3, -1, -1];

export function classOf(kind: number): number {
  return CLASS_OF_KIND[kind] ?? -1;
}

/** The shape of lines with the same members: all bytes but their values. */
export class LineShape {
  /** Bytes before, between and after the values, from the end of the timestamp on. */
  readonly pieces: readonly Uint8Array[];
  /** Slot of each of `TEXT_MEMBERS`; -1 if the lines do not have it. */
  readonly members: readonly number[];
  /** Slots of values in `data`; they follow those of the members. */
  readonly data: readonly Slot[];
  readonly firstData: number;
  /** The template with a `#` for every value; `null` if the lines have no `data`. */
  readonly template: Uint8Array | null;
  /** Number of values by slot in `data` and class. */
  readonly counts: Int32Array;
  /** Whether it describes the members of nested objects. Any value may be in place of those that it does not describe. */
  readonly isDeep: boolean;
  lines = 0;

  constructor(
    pieces: readonly Uint8Array[],
    members: readonly number[],
    data: readonly Slot[],
    template: Uint8Array | null,
    isDeep: boolean,
  ) {
    this.isDeep = isDeep;
    this.pieces = pieces;
    this.members = members;
    this.data = data;
    this.firstData = pieces.length - 1 - data.length;
    this.template = template;
    this.counts = new Int32Array(data.length * VALUE_CLASSES);
  }

  get slots(): number {
    return this.pieces.length - 1;
  }
}

/** Splits lines into their shape and their values. */
export class LineSplitter {
  /** The last line's values: index after each in the bytes, and kind. */
  readonly ends = new Int32Array(MAX_SLOTS);
  readonly kinds = new Uint8Array(MAX_SLOTS);
  readonly #starts = new Int32Array(MAX_SLOTS);
  readonly shapes: LineShape[] = [];
  readonly #byHash = new Map<number, number[]>();
  readonly #rejected = new Set<number>();
  readonly #counts = DEPTHS.map(() => ({ shapes: 0, bytes: 0 }));
  readonly #scanner = new ValueScanner();
  #last = -1;
  #slots = 0;
  #hash = 0;

  /**
   * @param start of a line that begins with a valid timestamp
   * @param end index after the line
   * @returns index of its shape; -1 if the line must be stored whole
   */
  split(bytes: Uint8Array, start: number, end: number): number {
    const at = start + HEAD_BYTES;
    const last = this.shapes[this.#last];
    if (last?.isDeep && this.#matches(last, bytes, at, end)) return this.#last;
    for (let kind = 0; kind < DEPTHS.length; kind++) {
      if (!this.#scan(bytes, at, end, DEPTHS[kind] ?? 0)) continue;
      const found = this.#find(bytes, at, end) ?? this.#add(bytes, at, end, kind);
      if (found === null) continue;
      this.#last = found;
      return found;
    }
    return -1;
  }

  /** Reads a line as one of a shape. */
  #matches(shape: LineShape, bytes: Uint8Array, from: number, to: number): boolean {
    const { pieces } = shape;
    const slots = pieces.length - 1;
    let at = from;
    for (let slot = 0; slot < slots; slot++) {
      const piece = pieces[slot] ?? MARK;
      for (let i = 0; i < piece.length; i++) if (bytes[at + i] !== piece[i]) return false;
      at += piece.length;
      // The members of a nested object belong to the shape.
      if (bytes[at] === OPEN_BRACE) return false;
      let kind: number = KIND.text;
      let end = bytes[at] === QUOTE ? endOfPlainText(bytes, at + 1) : -1;
      if (end < 0) {
        end = this.#scanner.end(bytes, at);
        kind = this.#scanner.kind;
        if (end < 0) return false;
      }
      at = end;
      this.ends[slot] = at;
      this.kinds[slot] = kind;
      if (slot < shape.firstData && kind > KIND.escapedText) return false;
    }
    const last = pieces[slots] ?? MARK;
    return at + last.length === to && isAt(bytes, at, last) && this.#hasLevel(bytes, from);
  }

  #hasLevel(bytes: Uint8Array, from: number): boolean {
    const start = from + (HEADS[0]?.length ?? 0);
    const level = LEVEL_TEXTS.get(bytes[start + 1] ?? 0);
    return level !== undefined && this.ends[0] === start + level.length && isAt(bytes, start, level);
  }

  /** Reads any line: finds its values and a hash of all other bytes. */
  #scan(bytes: Uint8Array, from: number, to: number, depth: number): boolean {
    this.#slots = 0;
    this.#hash = depth;
    let at = from;
    for (let member = 0; member < HEADS.length; member++) {
      const head = HEADS[member] ?? MARK;
      if (!isAt(bytes, at, head)) {
        if (member < REQUIRED_MEMBERS) return false;
        continue;
      }
      this.#mix(member);
      at += head.length;
      const start = at;
      at = bytes[at] === QUOTE ? this.#scanner.text(bytes, at + 1) : -1;
      if (at < 0) return false;
      this.#record(start, at);
    }
    if (!this.#hasLevel(bytes, from)) return false;
    if (isAt(bytes, at, DATA_HEAD)) {
      this.#mix(HEADS.length);
      at += DATA_HEAD.length;
      if (bytes[at] !== OPEN_BRACE) return false;
      at = this.#object(bytes, at, depth);
    }
    return at >= 0 && bytes[at] === CLOSE_BRACE && at + 1 === to;
  }

  #object(bytes: Uint8Array, at: number, depth: number): number {
    if (bytes[at + 1] === CLOSE_BRACE) {
      this.#mix(CLOSE_BRACE);
      return at + 2;
    }
    if (depth === 0) return this.#leaf(bytes, at);
    this.#mix(OPEN_BRACE);
    for (let i = at; ; ) {
      if (bytes[i + 1] !== QUOTE) return -1;
      const start = i + 1;
      i = this.#scanner.text(bytes, start + 1);
      if (i < 0 || bytes[i] !== COLON) return -1;
      for (let name = start; name < i; name++) this.#mix(bytes[name] ?? 0);
      i++;
      i = bytes[i] === OPEN_BRACE ? this.#object(bytes, i, depth - 1) : this.#leaf(bytes, i);
      if (i < 0) return -1;
      if (bytes[i] === CLOSE_BRACE) {
        this.#mix(CLOSE_BRACE);
        return i + 1;
      }
      if (bytes[i] !== COMMA) return -1;
    }
  }

  #leaf(bytes: Uint8Array, at: number): number {
    const end = this.#scanner.end(bytes, at);
    this.#mix(MARK[0] ?? 0);
    return end < 0 || this.#slots === MAX_SLOTS ? -1 : this.#record(at, end);
  }

  #record(start: number, end: number): number {
    this.#starts[this.#slots] = start;
    this.ends[this.#slots] = end;
    this.kinds[this.#slots++] = this.#scanner.kind;
    return end;
  }

  #mix(unit: number): void {
    const product = Math.imul(this.#hash ^ unit, 0x9e3779b1);
    this.#hash = product ^ (product >>> 15);
  }

  /** Returns the shape of the line that was scanned, or `null` if it is new. */
  #find(bytes: Uint8Array, from: number, to: number): number | null {
    for (const index of this.#byHash.get(this.#hash) ?? []) {
      const shape = this.shapes[index];
      if (shape !== undefined && this.#isOf(shape, bytes, from, to)) return index;
    }
    return null;
  }

  #isOf({ pieces }: LineShape, bytes: Uint8Array, from: number, to: number): boolean {
    if (pieces.length - 1 !== this.#slots) return false;
    let at = from;
    for (let slot = 0; slot < pieces.length; slot++) {
      const piece = pieces[slot] ?? MARK;
      // The end of the value differs with the bytes before it.
      if (at + piece.length > to || !isAt(bytes, at, piece)) return false;
      at = this.ends[slot] ?? to;
    }
    return true;
  }

  #add(bytes: Uint8Array, from: number, to: number, kind: number): number | null {
    const count = this.#counts[kind] ?? { shapes: 0, bytes: 0 };
    if (count.shapes >= (MAX_SHAPES[kind] ?? 0) || count.bytes > MAX_SHAPE_BYTES) return null;
    if (this.#rejected.has(this.#hash)) return null;
    const shape = this.#shapeOf(bytes, from, to, kind === 0);
    if (shape === null) {
      if (this.#rejected.size < MAX_SLOTS) this.#rejected.add(this.#hash);
      return null;
    }
    count.shapes++;
    count.bytes += shape.template?.length ?? 0;
    const index = this.shapes.push(shape) - 1;
    const others = this.#byHash.get(this.#hash);
    if (others === undefined) this.#byHash.set(this.#hash, [index]);
    else others.push(index);
    return index;
  }

  #shapeOf(bytes: Uint8Array, from: number, to: number, isDeep: boolean): LineShape | null {
    const pieces: Uint8Array[] = [];
    const members: number[] = TEXT_MEMBERS.map(() => -1);
    let at = from;
    let slot = 0;
    for (const [member, head] of HEADS.entries()) {
      if (!isAt(bytes, at, head)) continue;
      members[member] = slot;
      pieces.push(head);
      at = this.ends[slot++] ?? to;
    }
    const firstData = slot;
    const texts: Uint8Array[] = [];
    for (; slot <= this.#slots; slot++) {
      // A copy, for the body may be reused; `slice` of a Buffer is a view.
      const piece = new Uint8Array(bytes.subarray(at, slot < this.#slots ? this.#starts[slot] : to));
      pieces.push(piece);
      texts.push(piece);
      if (slot < this.#slots) texts.push(MARK);
      at = this.ends[slot] ?? to;
    }
    const text = Buffer.concat(texts);
    // The last byte closes the line.
    const hasData = text.length > 1;
    const template = hasData ? new Uint8Array(text.subarray(DATA_HEAD.length, text.length - 1)) : null;
    const parsed = template === null ? { slots: [] } : parseTemplate(template);
    if (parsed === null || parsed.slots.length !== this.#slots - firstData) return null;
    return new LineShape(pieces, members, parsed.slots, template, isDeep);
  }
}
