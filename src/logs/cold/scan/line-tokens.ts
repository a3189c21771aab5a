import { Uint32List } from "../filter/token-table.ts";
import { PATH_SEED, type TokenHash } from "../filter/tokens.ts";
import type { JsonText } from "./json-text.ts";

const COMMA = 44;
const CLOSE_ARRAY = 93;
const CLOSE_OBJECT = 125;

/**
 * Caches the value at a position of a line, so that an equal value in the next line is recognized by its bytes: its tokens
 * were added.
 */
export class LastValue {
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #to = 0;
  #round = 0;

  /** Caches the bytes from one index to another, and the round in which they were found. */
  remember(bytes: Uint8Array, from: number, to: number, round: number): void {
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
    this.#round = round;
  }

  /** @returns the index after the value if it equals the cached value of the same round, otherwise -1 */
  again(bytes: Uint8Array, at: number, round: number): number {
    if (this.#round !== round) return -1;
    const seen = this.#bytes;
    const end = this.#to;
    let next = at;
    for (let from = this.#from; from < end; from++, next++) if (seen[from] !== bytes[next]) return -1;
    // The bytes may be the beginning of a longer number.
    const byte = bytes[next];
    return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY ? next : -1;
  }
}

const FIRST_SCRATCH_BYTES = 1024;

/**
 * Collects the tokens of one line during its scan. They count only after the whole line was accepted. A hash is two
 * numbers. Texts whose grams count are ranges of bytes, or strings if they are not ASCII.
 */
export class LineTokens {
  /**
   * Number of the current round, from 1. The tokens of the lines of a round are all added, so a value that has occurred in it
   * adds nothing.
   */
  round = 1;
  readonly ids = new Uint32List();
  readonly texts = new Uint32List();
  readonly scalars = new Uint32List();
  /** Ranges of texts in the line that need no unescaping. */
  readonly plain = new Uint32List();
  /** Ranges in `scratch` of texts that had escapes, as ASCII. */
  readonly unescaped = new Uint32List();
  decoded: string[] = [];
  scratch = new Uint8Array(FIRST_SCRATCH_BYTES);
  #scratchLength = 0;

  /** Adds a text whose grams count. */
  addText(text: JsonText): void {
    if (text.decoded !== null) this.decoded.push(text.decoded);
    else if (text.isPlain) this.plain.pushPair(text.from, text.to);
    else this.#keep(text);
  }

  /** Adds a member's name, whose grams count. @param name `null`: the range of the line is the name */
  addName(name: string | null, from: number, to: number): void {
    if (name === null) this.plain.pushPair(from, to);
    else this.decoded.push(name);
  }

  /** Begins a round, because the tokens of a line will not be added. */
  forget(): void {
    this.round++;
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

  /** Copies the bytes, because the reader soon overwrites them with the next text. */
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

/**
 * Initial slots (a power of two), maximum number of cached paths, and maximum number of paths that one line may add.
 */
const FIRST_CAPACITY = 256;
const MAX_REMEMBERED = 4096;
const MAX_NEW = 2048;

/** A path of `data`, and its values in earlier lines. The same names mostly follow each other again. */
export class Path {
  /** Its hash among the paths of lines: items of arrays have their index, so that they differ from each other. */
  readonly a: number;
  readonly b: number;
  /** The hash of its tokens; see `tokens.ts`. */
  readonly token: TokenHash;
  /** `null` for `data` itself. */
  readonly parent: Path | null;
  /** Numbers of the last line and of the last round that have the path. */
  line = 0;
  round = 0;
  readonly value = new LastValue();
  /** Its name; `null` if the bytes that are written are the name. */
  name: string | null = null;
  /** The first member, and the member that followed this one. */
  firstChild: Path | null = null;
  next: Path | null = null;
  /** Its index if it was an element of an array, otherwise -1. */
  index = -1;
  #bytes: Uint8Array = new Uint8Array(0);
  #from = 0;
  #to = 0;

  constructor(a: number, b: number, parent: Path | null, token: TokenHash = { a, b }) {
    this.a = a;
    this.b = b;
    this.parent = parent;
    this.token = token;
  }

  /** Stores its name as written, with both quotes and the colon. @param name see `name` */
  named(bytes: Uint8Array, from: number, to: number, name: string | null): void {
    this.name = name;
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  /** @returns the index after the name and its colon if they begin at `at`, otherwise -1 */
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

  /**
   * @param token returns the hash of a new path's tokens
   * @returns `null` if the line has too many new paths, or if the path's hash collides with another path
   */
  find(a: number, b: number, parent: Path, token: (parent: Path) => TokenHash): Path | null {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const path = slots[slot] ?? null;
      if (path !== null) {
        if (path.a !== a || path.b !== b) continue;
        return path.parent === parent ? path : null;
      }
      if (this.#size - this.#sizeBefore >= MAX_NEW) return null;
      const added = new Path(a, b, parent, token(parent));
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
