import { detachBuffer } from "../../platform/isolate-memory.ts";
import { INGEST_LIMITS } from "../entry.ts";
import { isSpace, skipSpace } from "./check-json.ts";
import { markLength } from "./entry-offsets.ts";

const LINE_BREAK = 0x0a;
/** Bytes that are collected before their lines are read, unless the body ends. About 1,000 entries of 500 bytes. */
const PIECE_BYTES = 512 * 1024;
/** Longer lines hold an entry that is too large. */
const { entryBytes: MAX_ENTRY } = INGEST_LIMITS;
/** A piece with the beginning of the largest entry. */
const BUFFER_BYTES = PIECE_BYTES + MAX_ENTRY;

/**
 * What a cutter has found: the next whole lines, in a buffer that changes with the next `fill`; a line whose entry is
 * too large, of which nothing is kept; or bytes that are not UTF-8 in such a line.
 */
export type Piece = { kind: "lines"; bytes: Uint8Array } | { kind: "large" } | { kind: "not_utf8" };

/**
 * Cuts a body of lines into pieces while it arrives, so that the body need not fit into memory: it holds 768 KiB of it at
 * most. White space between entries takes no memory.
 */
export class LineCutter {
  #buffer: Uint8Array;
  /** The bytes that were not read are from `#start` to `#end`. */
  #start = 0;
  #end = 0;
  #isAtStart = true;
  #isEnded = false;
  /**
   * `gap`: the line has an entry and then more white space than is kept. `large`: the rest of the line is dropped, and
   * checked by `#checker`.
   */
  #state: "lines" | "gap" | "large" = "lines";
  #checker = newChecker();
  #found: Piece | null = null;

  /** @param length bytes of the body, if they are known */
  constructor(length = Number.POSITIVE_INFINITY) {
    this.#buffer = new Uint8Array(Math.min(length, BUFFER_BYTES));
  }

  /** Bytes that the cutter holds. */
  get held(): number {
    return this.#buffer.length;
  }

  /** Frees the buffer. Nothing may be read afterwards. */
  free(): void {
    detachBuffer(this.#buffer);
  }

  /** Copies as much as fits. Call `next` afterwards until it returns `null`. @returns index from which to go on */
  fill(chunk: Uint8Array, at: number): number {
    if (this.#state === "large") return this.#drop(chunk, at);
    if (this.#state === "gap") return this.#skipGap(chunk, at);
    if (this.#start > 0 && this.#end + chunk.length - at > this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    const taken = Math.min(chunk.length - at, this.#buffer.length - this.#end);
    this.#buffer.set(chunk.subarray(at, at + taken), this.#end);
    this.#end += taken;
    return at + taken;
  }

  /** Ends the body. Call `next` afterwards until it returns `null`. */
  end(): void {
    this.#isEnded = true;
    if (this.#state === "large") this.#check(new Uint8Array(), true);
    this.#state = "lines";
  }

  /** The next piece; `null` until one is complete. Call `advance` after lines were read. */
  next(): Piece | null {
    const found = this.#found;
    if (found !== null) {
      this.#found = null;
      return found;
    }
    if (this.#state !== "lines") return null;
    this.#skipSpace();
    const isFull = this.#end === this.#buffer.length && this.#start === 0;
    if (this.#end - this.#start < PIECE_BYTES && !isFull && !this.#isEnded) return null;
    const end = this.#isEnded ? this.#end : this.#buffer.subarray(0, this.#end).lastIndexOf(LINE_BREAK) + 1;
    if (end > this.#start) return { kind: "lines", bytes: this.#buffer.subarray(this.#start, end) };
    if (isFull) this.#shorten();
    // A long line has become a large entry.
    return this.#found === null ? null : this.next();
  }

  /** Drops the first bytes of the piece that `next` returned. */
  advance(bytes: number): void {
    this.#start += bytes;
  }

  /** White space between entries, and a byte order mark at the beginning of the body, which JSON does not allow. */
  #skipSpace(): void {
    if (this.#isAtStart) {
      if (this.#end - this.#start < 3 && !this.#isEnded) return;
      this.#start += markLength(this.#buffer.subarray(this.#start, this.#end));
      this.#isAtStart = false;
    }
    this.#start = skipSpace(this.#buffer, this.#start, this.#end);
  }

  /** Makes room in a buffer that one line fills. */
  #shorten(): void {
    let end = this.#end;
    while (end > this.#start && isSpace(this.#buffer[end - 1] ?? 0)) end--;
    if (end - this.#start <= MAX_ENTRY) {
      this.#end = end;
      this.#state = "gap";
      return;
    }
    this.#beginLarge();
  }

  /** @param chunk continues a line that has ended with much white space */
  #skipGap(chunk: Uint8Array, from: number): number {
    const lineBreak = chunk.indexOf(LINE_BREAK, from);
    const lineEnd = lineBreak < 0 ? chunk.length : lineBreak;
    const at = skipSpace(chunk, from, lineEnd);
    if (at === chunk.length) return at;
    this.#state = "lines";
    // With the white space that was dropped, the entry would be too large.
    if (at < lineEnd) this.#beginLarge();
    return at;
  }

  #beginLarge(): void {
    this.#state = "large";
    this.#found = { kind: "large" };
    this.#checker = newChecker();
    const line = this.#buffer.subarray(this.#start, this.#end);
    this.#start = this.#end;
    this.#check(line, false);
  }

  /** Drops the rest of a large line. */
  #drop(chunk: Uint8Array, at: number): number {
    const lineBreak = chunk.indexOf(LINE_BREAK, at);
    const end = lineBreak < 0 ? chunk.length : lineBreak;
    this.#check(chunk.subarray(at, end), lineBreak >= 0);
    if (lineBreak < 0) return end;
    this.#state = "lines";
    return end + 1;
  }

  #check(bytes: Uint8Array, isEnd: boolean): void {
    try {
      this.#checker.decode(bytes, { stream: !isEnd });
    } catch {
      this.#found = { kind: "not_utf8" };
    }
  }
}

function newChecker(): TextDecoder {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
}
