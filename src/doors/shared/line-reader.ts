import { isUtf8 } from "node:buffer";
import { textOfAny } from "../../platform/bytes.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { MAX_VALUE_BYTES } from "./json-cutter.ts";
import { KeptBytes } from "./kept-bytes.ts";

const TAB = 0x09;
const LINE_BREAK = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
/** Bytes that are decoded at once, and the longest line that is decoded with others. */
const BLOCK_BYTES = 32 * 1024;
/** Nanoseconds for a byte that is decoded, on a fast machine. */
const COST_OF_BYTE = 3;
/** Nanoseconds for one of a line that is not UTF-8. */
const COST_OF_OTHER_BYTE = 20;
/** Nanoseconds for a line, and for one that is decoded alone. */
const COST_OF_LINE = 100;
const COST_OF_DECODED_LINE = 500;

/** A byte order mark inside the body stays. */
const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const BYTE_ORDER_MARK = "\ufeff";

/** Cuts a body of text into its lines while it arrives. Lines of white space are left out. */
export class LineReader {
  readonly #meter: TurnMeter;
  readonly #onLine: (line: string, length: number) => void;
  readonly #onBytes: ((bytes: Uint8Array, from: number, to: number) => boolean) | null;
  readonly #kept = new KeptBytes(MAX_VALUE_BYTES);
  #isFirst = true;

  /**
   * @param onLine gets a line without its line break, and its length in bytes. Of a line over 1 MiB it gets the beginning.
   * @param onBytes gets a line of valid UTF-8 first, as its bytes. If it returns `false`, `onLine` gets the line, too.
   */
  constructor(
    onLine: (line: string, length: number) => void,
    meter: TurnMeter,
    onBytes: ((bytes: Uint8Array, from: number, to: number) => boolean) | null = null,
  ) {
    this.#onLine = onLine;
    this.#onBytes = onBytes;
    this.#meter = meter;
  }

  get held(): number {
    return this.#kept.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    let at = 0;
    if (this.#kept.length > 0) {
      const lineBreak = chunk.indexOf(LINE_BREAK);
      const end = lineBreak < 0 ? chunk.length : lineBreak;
      this.#kept.add(chunk, 0, end);
      if (lineBreak < 0) return;
      this.#passKept();
      at = end + 1;
    }
    while (at < chunk.length) {
      const end = endOfBlock(chunk, at);
      if (end < 0) break;
      this.#meter.spend((end - at) * COST_OF_BYTE);
      const block = chunk.subarray(at, end);
      at = end + 1;
      const isText = isUtf8(block);
      if (isText && this.#onBytes === null) yield* this.#readText(utf8.decode(block));
      else yield* this.#readBytes(block, isText);
      this.#isFirst = false;
    }
    if (at < chunk.length) this.#kept.add(chunk, at, chunk.length);
  }

  /** @param isText whether all of the block is UTF-8 */
  *#readBytes(block: Uint8Array, isText: boolean): Steps<void> {
    for (let at = this.#skipBlank(block, 0, byteAt); at < block.length; at = this.#skipBlank(block, at, byteAt)) {
      const lineBreak = block.indexOf(LINE_BREAK, at);
      const end = lineBreak < 0 ? block.length : lineBreak;
      this.#meter.spend(COST_OF_LINE);
      const line = block.subarray(at, end);
      const isValid = isText || isUtf8(line);
      if (!isValid) this.#meter.spend((end - at) * COST_OF_OTHER_BYTE);
      if (!isValid || !this.#onBytes?.(block, at, trimmedEnd(block, at, end))) {
        this.#meter.spend(COST_OF_DECODED_LINE);
        this.#pass(textOfAny(line), end - at);
      } else this.#isFirst = false;
      at = end + 1;
      if (this.#meter.isDue) yield;
    }
  }

  *#readText(text: string): Steps<void> {
    for (let at = this.#skipBlank(text, 0, unitAt); at < text.length; at = this.#skipBlank(text, at, unitAt)) {
      const lineBreak = text.indexOf("\n", at);
      const end = lineBreak < 0 ? text.length : lineBreak;
      this.#meter.spend(COST_OF_LINE);
      this.#pass(text.slice(at, end), end - at);
      at = end + 1;
      if (this.#meter.isDue) yield;
    }
  }

  /** Returns the start of the next line that is not white space. A body may consist of millions of empty lines. */
  #skipBlank<T extends { length: number }>(
    lines: T,
    from: number,
    codeAt: (lines: T, index: number) => number,
  ): number {
    let start = from;
    for (let at = from; at < lines.length; at++) {
      const code = codeAt(lines, at);
      if (code === LINE_BREAK) start = at + 1;
      else if (code !== SPACE && (code < TAB || code > CARRIAGE_RETURN)) break;
      else if (at + 1 === lines.length) start = lines.length;
    }
    if (start > from) this.#isFirst = false;
    return start;
  }

  end(): void {
    if (this.#kept.length > 0) this.#passKept();
    this.#kept.free();
  }

  #passKept(): void {
    this.#meter.spend(this.#kept.length * COST_OF_BYTE);
    const { bytes } = this.#kept;
    if (bytes.length === this.#kept.length && this.#onBytes !== null && isUtf8(bytes)) {
      if (this.#onBytes(bytes, 0, trimmedEnd(bytes, 0, bytes.length))) {
        this.#kept.clear();
        this.#isFirst = false;
        return;
      }
    }
    const line = textOfAny(bytes);
    const { length } = this.#kept;
    this.#kept.clear();
    this.#pass(line, length);
  }

  #pass(line: string, length: number): void {
    let text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
    }
    if (text.trim() !== "") this.#onLine(text, length);
  }
}

/** Returns the index of the line break that ends a block of whole lines; -1 if there is no whole line. */
function endOfBlock(bytes: Uint8Array, from: number): number {
  const inBlock = bytes.length - from <= BLOCK_BYTES ? bytes.length : from + BLOCK_BYTES;
  const last = bytes.lastIndexOf(LINE_BREAK, inBlock - 1);
  return last >= from ? last : bytes.indexOf(LINE_BREAK, inBlock);
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

function unitAt(text: string, index: number): number {
  return text.charCodeAt(index);
}

function trimmedEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > from && (bytes[end - 1] ?? 0) <= 0x20) end--;
  return end;
}
