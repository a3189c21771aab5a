import { HEAD_BYTES } from "../../cold/format/lines.ts";
import { endOfPlainText, isAt, KIND, ValueScanner } from "../value-scanner.ts";
import {
  ALL_HEADS,
  DATA_HEAD,
  exactShape,
  HEADS,
  LEVEL_TEXTS,
  type LineShape,
  MARK,
  REQUIRED_MEMBERS,
} from "./line-shape.ts";
import { UnionShapes } from "./union-shapes.ts";

const [QUOTE, COMMA, COLON, OPEN_BRACE, CLOSE_BRACE] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d];

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

/** Splits lines into their shape and their values. */
export class LineSplitter {
  /** The last line's values: index after each in the bytes, and kind. */
  readonly ends = new Int32Array(MAX_SLOTS);
  readonly kinds = new Uint8Array(MAX_SLOTS);
  readonly #starts = new Int32Array(MAX_SLOTS);
  readonly shapes: LineShape[] = [];
  /** How often a line was read without a known shape, which takes longer. */
  scans = 0;
  readonly #byHash = new Map<number, number[]>();
  readonly #rejected = new Set<number>();
  readonly #counts = DEPTHS.map(() => ({ shapes: 0, bytes: 0 }));
  readonly #scanner = new ValueScanner();
  readonly #unions = new UnionShapes();
  readonly #exactShapes: number;
  #last = -1;
  #slots = 0;
  #hash = 0;

  /** @param exactShapes see `EncodeOptions` */
  constructor(exactShapes: number) {
    this.#exactShapes = exactShapes;
  }

  /**
   * @param start of a line that begins with a valid timestamp
   * @param end index after the line
   * @returns index of its shape; -1 if the line must be stored whole
   */
  split(bytes: Uint8Array, start: number, end: number): number {
    const at = start + HEAD_BYTES;
    const last = this.shapes[this.#last];
    if (last?.isDeep && this.#reads(last, bytes, at, end)) return this.#last;
    for (const index of this.#unions.indices) {
      const shape = this.shapes[index];
      if (index === this.#last || shape === undefined || !this.#reads(shape, bytes, at, end)) continue;
      this.#last = index;
      return index;
    }
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
  #reads(shape: LineShape, bytes: Uint8Array, from: number, to: number): boolean {
    if (shape.union !== null) return this.#readsUnion(shape, bytes, from, to);
    const { pieces } = shape;
    const slots = pieces.length - 1;
    let at = from;
    for (let slot = 0; slot < slots; slot++) {
      const piece = pieces[slot] ?? MARK;
      for (let i = 0; i < piece.length; i++) if (bytes[at + i] !== piece[i]) return false;
      at += piece.length;
      // The members of a nested object belong to the shape.
      if (bytes[at] === OPEN_BRACE) return false;
      at = this.#value(bytes, at, slot);
      if (at < 0 || (slot < shape.texts && (this.kinds[slot] ?? 0) > KIND.escapedText)) return false;
    }
    const last = pieces[slots] ?? MARK;
    return at + last.length === to && isAt(bytes, at, last) && this.#hasLevel(bytes, from);
  }

  /** Records a value. @returns index after it, or -1 */
  #value(bytes: Uint8Array, at: number, slot: number): number {
    let kind: number = KIND.text;
    let end = bytes[at] === QUOTE ? endOfPlainText(bytes, at + 1) : -1;
    if (end < 0) {
      end = this.#scanner.end(bytes, at);
      kind = this.#scanner.kind;
    }
    this.ends[slot] = end;
    this.kinds[slot] = kind;
    return end;
  }

  /** Reads a line as one of a shape that has any of its members. */
  #readsUnion({ pieces, union, own }: LineShape, bytes: Uint8Array, from: number, to: number): boolean {
    const { kinds, ends } = this;
    let at = from;
    let slot = 0;
    const read = (start: number): boolean => {
      // The end of a value that is absent makes the piece before this one have its length.
      if (slot > 0 && kinds[slot - 1] === KIND.absent) ends[slot - 1] = start - (pieces[slot]?.length ?? 0);
      at = this.#value(bytes, start, slot);
      return at >= 0;
    };
    for (; slot < HEADS.length; slot++) {
      const head = HEADS[slot] ?? MARK;
      if (isAt(bytes, at, head)) {
        if (!read(at + head.length) || (kinds[slot] ?? 0) > KIND.escapedText) return false;
      } else if (slot < REQUIRED_MEMBERS) return false;
      else kinds[slot] = KIND.absent;
    }
    for (const member of own) {
      const head = ALL_HEADS[HEADS.length + member] ?? MARK;
      if (!isAt(bytes, at, head) || !read(at + head.length) || (kinds[slot++] ?? 0) > KIND.escapedText) return false;
    }
    if (union === null || !this.#hasLevel(bytes, from) || !isAt(bytes, at, DATA_HEAD)) return false;
    at += DATA_HEAD.length;
    if (bytes[at++] !== OPEN_BRACE) return false;
    /** Whether a name may follow, and whether one must. */
    let [may, must] = [true, false];
    for (const token of union) {
      if (token.kind === "close") {
        if (must || bytes[at++] !== CLOSE_BRACE) return false;
      } else if (!may || !isAt(bytes, at, token.name)) {
        if (token.kind === "open") return false;
        kinds[slot++] = KIND.absent;
        continue;
      } else {
        const start = at + token.name.length;
        const isObject = bytes[start] === OPEN_BRACE;
        // The members of a nested object belong to the shape.
        if (isObject !== (token.kind === "open")) return false;
        if (isObject) {
          at = start + 1;
          [may, must] = [true, false];
          continue;
        }
        if (!read(start)) return false;
        slot++;
      }
      must = bytes[at] === COMMA;
      may = must;
      if (must) at++;
    }
    return !must && bytes[at] === CLOSE_BRACE && bytes[at + 1] === CLOSE_BRACE && at + 2 === to;
  }

  #hasLevel(bytes: Uint8Array, from: number): boolean {
    const start = from + (HEADS[0]?.length ?? 0);
    const level = LEVEL_TEXTS.get(bytes[start + 1] ?? 0);
    return level !== undefined && this.ends[0] === start + level.length && isAt(bytes, start, level);
  }

  /** Reads any line: finds its values and a hash of all other bytes. */
  #scan(bytes: Uint8Array, from: number, to: number, depth: number): boolean {
    this.scans++;
    this.#slots = 0;
    this.#hash = depth;
    let at = from;
    for (let member = 0; member < ALL_HEADS.length; member++) {
      const head = ALL_HEADS[member] ?? MARK;
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
      this.#mix(ALL_HEADS.length);
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
    if (kind === 0 && count.shapes >= this.#exactShapes) {
      const united = this.#unite(bytes, from, to);
      if (united !== null) return united;
    }
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

  /** Adds the line that was scanned to a union. @returns index of its shape; `null` if there is no union for it */
  #unite(bytes: Uint8Array, from: number, to: number): number | null {
    if (!this.#unions.mayUnite) return null;
    const exact = this.#shapeOf(bytes, from, to, true);
    const united = exact === null ? null : this.#unions.unite(exact, this.shapes);
    if (united === null) return null;
    // Reading the line as one of the united shape records its values under the slots of that shape.
    const { shape, add } = united;
    if (this.#reads(shape, bytes, from, to)) return add();
    this.#scan(bytes, from, to, DEPTHS[0] ?? 0);
    return null;
  }

  #shapeOf(bytes: Uint8Array, from: number, to: number, isDeep: boolean): LineShape | null {
    return exactShape(bytes, from, to, { starts: this.#starts, ends: this.ends, count: this.#slots }, isDeep);
  }
}
