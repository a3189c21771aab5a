import { Uint32List } from "../filter/token-table.ts";
import { PATH_SEED } from "../filter/tokens.ts";
import type { JsonText } from "./json-text.ts";

const COMMA = 44;
const CLOSE_ARRAY = 93;
const CLOSE_OBJECT = 125;

/**
 * A value that has been seen at some place of a line, so that the same one in the next line is known at a glance: it has
 * nothing to add to a frame that has it.
 */
export class LastValue {
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #to = 0;
  #frame = 0;

  /** The value from one place to another, and the frame it is in, from 1. */
  remember(bytes: Uint8Array, from: number, to: number, block: number): void {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
    this.#frame = block;
  }

  /** @returns the place behind the value if it is the one of before, in the same frame; else -1 */
  again(bytes: Uint8Array, at: number, block: number): number {
    if (this.#frame !== block) return -1;
    const seen = this.#bytes;
    const end = this.#to;
    let next = at;
    for (let from = this.#from; from < end; from++, next++) if (seen[from] !== bytes[next]) return -1;
    // A number may go on.
    const byte = bytes[next];
    return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY ? next : -1;
  }
}

const FIRST_SCRATCH_BYTES = 1024;

/**
 * The tokens of one line as its bytes are looked through: they count only once all of the line has been understood.
 * Hashes are two numbers each. Texts whose grams count are ranges of bytes, or strings where they are not ASCII.
 */
export class LineTokens {
  /** Number of the frame that they go into, from 1. What has been seen in a line of it adds nothing in the next one. */
  block = 1;
  readonly ids = new Uint32List();
  readonly texts = new Uint32List();
  readonly scalars = new Uint32List();
  /** Texts that stand in the line as they are. */
  readonly plain = new Uint32List();
  /** Texts that had escapes, as ASCII in `scratch`. */
  readonly unescaped = new Uint32List();
  decoded: string[] = [];
  scratch = new Uint8Array(FIRST_SCRATCH_BYTES);
  #scratchLength = 0;

  /** The grams of this text count. */
  addText(text: JsonText): void {
    if (text.decoded !== null) this.decoded.push(text.decoded);
    else if (text.isPlain) this.plain.pushPair(text.from, text.to);
    else this.#keep(text);
  }

  /** Another frame begins, or what was seen was not added: all counts as new. */
  forget(): void {
    this.block++;
  }

  clear(): void {
    this.ids.clear();
    this.texts.clear();
    this.scalars.clear();
    this.plain.clear();
    this.unescaped.clear();
    if (this.decoded.length > 0) this.decoded = [];
    this.#scratchLength = 0;
  }

  /** The reader's own bytes hold the next text with escapes soon. */
  #keep({ bytes, from, to }: JsonText): void {
    const start = this.#scratchLength;
    const end = start + to - from;
    if (end > this.scratch.length) {
      const grown = new Uint8Array(end * 2);
      grown.set(this.scratch);
      this.scratch = grown;
    }
    for (let at = from; at < to; at++) this.scratch[start + at - from] = bytes[at] ?? 0;
    this.unescaped.pushPair(start, end);
    this.#scratchLength = end;
  }
}

/** Slots at first, always a power of two; how many paths are remembered from line to line, and how many one line may add. */
const FIRST_CAPACITY = 256;
const MAX_REMEMBERED = 4096;
const MOST_NEW = 2048;

/** A path of `data`, and what stood there in the lines before: the same names mostly follow each other again. */
export class Path {
  /** The path's hash; see `tokens.ts`. */
  readonly a: number;
  readonly b: number;
  /** Null for `data` itself. */
  readonly parent: Path | null;
  /** Numbers of the last line and of the last frame that have it. */
  line = 0;
  block = 0;
  readonly value = new LastValue();
  /** The first member, and the member that came behind this one. */
  firstChild: Path | null = null;
  next: Path | null = null;
  /** Its place where it was one of an array, else -1. */
  index = -1;
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #to = 0;

  constructor(a: number, b: number, parent: Path | null) {
    this.a = a;
    this.b = b;
    this.parent = parent;
  }

  /** Its name stands there, with both quotes and the colon. */
  named(bytes: Uint8Array, from: number, to: number): void {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  /** @returns the place behind the name and its colon if it stands there, else -1 */
  behindName(bytes: Uint8Array, at: number): number {
    const own = this.#bytes;
    const end = this.#to;
    let next = at;
    for (let from = this.#from; from < end; from++, next++) if (own[from] !== bytes[next]) return -1;
    return next > at ? next : -1;
  }
}

/** The paths of a segment's lines by their hashes. */
export class PathTable {
  root = new Path(PATH_SEED, ~PATH_SEED, null);
  #slots: (Path | null)[] = emptySlots(FIRST_CAPACITY);
  #size = 0;
  #sizeBefore = 0;

  beginLine(): void {
    if (this.#size > MAX_REMEMBERED) {
      this.root = new Path(PATH_SEED, ~PATH_SEED, null);
      this.#slots = emptySlots(FIRST_CAPACITY);
      this.#size = 0;
    }
    this.#sizeBefore = this.#size;
  }

  /** @returns null where the line has too many paths that are new, or this one cannot be told from another */
  find(a: number, b: number, parent: Path): Path | null {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const path = slots[slot] ?? null;
      if (path !== null) {
        if (path.a !== a || path.b !== b) continue;
        return path.parent === parent ? path : null;
      }
      if (this.#size - this.#sizeBefore >= MOST_NEW) return null;
      const added = new Path(a, b, parent);
      slots[slot] = added;
      if (++this.#size * 2 > slots.length) this.#grow();
      return added;
    }
  }

  #grow(): void {
    const slots = emptySlots(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (const path of this.#slots) {
      if (path === null) continue;
      let slot = path.a & mask;
      while (slots[slot] !== null) slot = (slot + 1) & mask;
      slots[slot] = path;
    }
    this.#slots = slots;
  }
}

function emptySlots(count: number): (Path | null)[] {
  return new Array<Path | null>(count).fill(null);
}
