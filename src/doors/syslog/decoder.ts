import { INGEST_LIMITS } from "../../logs/entry.ts";
import { textOfAny } from "../../platform/bytes.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { DoorDecoder } from "../decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../entry.ts";
import { PendingBytes } from "../pending-bytes.ts";
import { endOfMiscounted, type Frame, frameAt, frameInLine, isExact } from "./frames.ts";
import { readSyslog, type SyslogOptions } from "./message.ts";

const LINE_BREAK = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const LESS_THAN = 0x3c;
/** Nanoseconds for a byte and for a message. */
const COST_OF_BYTE = 15;
const COST_OF_MESSAGE = 4_000;
/** Bytes of a message that are read. The rest of a longer one is dropped, with a mark. */
const MAX_MESSAGE = INGEST_LIMITS.entryBytes;

/** Characters that senders append to a message. */
const END = "\r\n\0";

/**
 * Reads syslog messages, with the octet counts of RFC 6587 as Heroku sends them, or one a line. Senders tear messages: a count
 * may be wrong, a message may have line breaks, and a body may begin or end inside a message. So a count that does not end
 * where another message begins is not used, lines that begin with a space belong to the message before, and a message that
 * ends with the body before its count has a mark.
 */
export class SyslogDecoder implements DoorDecoder {
  readonly #sink: DoorEntrySink;
  readonly #meter: TurnMeter;
  readonly #options: SyslogOptions;
  readonly #pending = new PendingBytes();
  /** Whether messages have counts; `null` before the first message. */
  #isCounted: boolean | null = null;
  /** Pending bytes that need not be searched for the end of the line. */
  #searched = 0;
  /** The start of a line that is too long, until the line ends. */
  #long: { entry: DoorEntry; length: number } | null = null;
  /** Bytes of a counted message that are to be dropped. */
  #toDrop = 0;

  constructor(sink: DoorEntrySink, meter: TurnMeter, options: SyslogOptions) {
    this.#sink = sink;
    this.#meter = meter;
    this.#options = options;
  }

  get held(): number {
    return this.#pending.held + (this.#long === null ? 0 : 2 * MAX_MESSAGE);
  }

  *read(chunk: Uint8Array): Steps<void> {
    yield* this.#read(chunk, false);
  }

  *end(): Steps<void> {
    yield* this.#read(new Uint8Array(), true);
    this.#endLong();
    this.#pending.free();
  }

  *#read(chunk: Uint8Array, isEnd: boolean): Steps<void> {
    const bytes = this.#pending.join(chunk);
    let at = 0;
    while (at < bytes.length) {
      const next = this.#next(bytes, at, isEnd);
      if (next === null) break;
      at = next;
      if (this.#meter.isDue) yield;
    }
    this.#pending.keep(bytes, at);
  }

  /** Reads the next message. @returns where it ends, `null` if its end has not arrived */
  #next(bytes: Uint8Array, at: number, isEnd: boolean): number | null {
    if (this.#toDrop > 0) {
      const dropped = Math.min(this.#toDrop, bytes.length - at);
      this.#toDrop -= dropped;
      return at + dropped;
    }
    const frame = this.#long === null ? this.#frameAt(bytes, at, isEnd) : null;
    if (frame === "short") return null;
    return frame === null ? this.#nextLine(bytes, at, isEnd) : this.#nextCounted(bytes, frame, isEnd);
  }

  /** Returns the counted message at a position; `null` if a line begins there, `short` if bytes that are missing decide. */
  #frameAt(bytes: Uint8Array, at: number, isEnd: boolean): Frame | "short" | null {
    const frame = frameAt(bytes, at);
    if (frame === null || frame === "short") return isEnd ? null : frame;
    const { start, end } = frame;
    // A line may begin like a frame, so a count among lines must be right.
    const isLine = this.#isCounted === false;
    if (end - start > MAX_MESSAGE) return isLine ? null : frame;
    const found = isExact(bytes, frame, isEnd);
    if (found === "short") return found;
    if (found) return frame;
    if (isLine) return null;
    const actual = endOfMiscounted(bytes, frame);
    if (actual < bytes.length || actual - start > MAX_MESSAGE) return { start, end: actual };
    if (!isEnd) return "short";
    return end > actual ? frame : { start, end: actual };
  }

  #nextCounted(bytes: Uint8Array, { start, end }: Frame, isEnd: boolean): number | null {
    const length = end - start;
    const wanted = start + Math.min(length, MAX_MESSAGE);
    if (wanted > bytes.length && !isEnd) return null;
    const read = Math.min(wanted, bytes.length);
    this.#isCounted = true;
    this.#searched = 0;
    this.#add(bytes.subarray(start, read), length);
    this.#toDrop = Math.max(0, length - MAX_MESSAGE);
    return read;
  }

  #nextLine(bytes: Uint8Array, at: number, isEnd: boolean): number | null {
    const found = this.#lineBreak(bytes, at, isEnd);
    if (found === "short") return null;
    const end = found < 0 ? bytes.length : found;
    const length = end - at;
    if (this.#long !== null) {
      this.#long.length += length;
    } else if (length > MAX_MESSAGE) {
      const entry = this.#entryOf(bytes.subarray(at, at + MAX_MESSAGE));
      this.#long = entry && { entry, length };
      this.#isCounted ??= false;
    } else if (found < 0 && !isEnd) {
      this.#searched = length;
      return null;
    } else {
      const isFirst = this.#isCounted === null && bytes[at] !== LESS_THAN;
      const frame = isFirst ? frameInLine(bytes, at, end, isEnd) : null;
      if (frame === "short") {
        this.#searched = length;
        return null;
      }
      const isAdded = this.#add(bytes.subarray(at, frame ?? end), (frame ?? end) - at);
      if (frame === null && isAdded) this.#isCounted ??= false;
      if (frame !== null) return this.#ended(frame);
    }
    if (found >= 0) this.#endLong();
    return this.#ended(found < 0 ? end : found + 1);
  }

  #ended(at: number): number {
    this.#searched = 0;
    return at;
  }

  /**
   * Finds the line break that ends the message of a line: one before a line that begins with a space or tab is a part of
   * it.
   * @returns -1 without one, `short` if the next byte decides
   */
  #lineBreak(bytes: Uint8Array, at: number, isEnd: boolean): number | "short" {
    const mayContinue = this.#long === null && bytes[at] === LESS_THAN;
    for (let from = at + this.#searched; ; ) {
      const found = bytes.indexOf(LINE_BREAK, from);
      if (found < 0 || !mayContinue || found - at > MAX_MESSAGE) return found;
      const next = bytes[found + 1];
      if (next === undefined && !isEnd) {
        this.#searched = found - at;
        return "short";
      }
      if (next !== SPACE && next !== TAB) return found;
      from = found + 1;
    }
  }

  #endLong(): void {
    if (this.#long === null) return;
    const { entry, length } = this.#long;
    this.#long = null;
    this.#sink.add({ ...entry, marks: { cut: { message: length } } });
  }

  /** @param length bytes of the message as sent, or by its count @returns whether it was not empty */
  #add(bytes: Uint8Array, length: number): boolean {
    const entry = this.#entryOf(bytes);
    if (entry !== null)
      this.#sink.add(length > bytes.length ? { ...entry, marks: { cut: { message: length } } } : entry);
    return entry !== null;
  }

  /** Returns the record of a message, `null` if it is empty. */
  #entryOf(bytes: Uint8Array): DoorEntry | null {
    this.#meter.spend(bytes.length * COST_OF_BYTE + COST_OF_MESSAGE);
    const text = withoutEnd(textOfAny(bytes).replace(/^\ufeff/, ""));
    return text.trim() === "" ? null : readSyslog(text, this.#options);
  }
}

/** Removes line breaks and zeros from the end. (A regular expression would begin again at each one inside the text.) */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && END.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
