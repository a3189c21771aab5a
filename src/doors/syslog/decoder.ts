import { isUtf8 } from "node:buffer";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { DoorDecoder } from "../decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../entry.ts";
import { PendingBytes } from "../pending-bytes.ts";
import { readSyslog, type SyslogOptions } from "./message.ts";

const LINE_BREAK = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const LESS_THAN = 0x3c;
/** Nanoseconds for a byte and for a message. */
const COST_OF_BYTE = 15;
const COST_OF_MESSAGE = 4_000;
/** Bytes of a message that are read. The rest of a longer one is dropped, with a mark. */
const MAX_MESSAGE = INGEST_LIMITS.entryBytes;
/** Digits of an octet count. */
const MAX_COUNT_DIGITS = 8;

/** Characters that senders append to a message. */
const END = "\r\n\0";

const utf8 = new TextDecoder();

/**
 * Reads syslog messages, with the octet counts of RFC 6587 as Heroku sends them, or one a line. The first bytes of the
 * body tell which. Behind a wrong count, the rest of the body is read as lines.
 */
export class SyslogDecoder implements DoorDecoder {
  readonly #sink: DoorEntrySink;
  readonly #meter: TurnMeter;
  readonly #options: SyslogOptions;
  readonly #pending = new PendingBytes();
  #framing: "unknown" | "counted" | "lines" = "unknown";
  /** Pending bytes that have no line break. */
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
    if (this.#framing === "unknown") this.#framing = framingOf(bytes, at, isEnd);
    if (this.#framing === "unknown") return null;
    return this.#framing === "counted" ? this.#nextCounted(bytes, at, isEnd) : this.#nextLine(bytes, at, isEnd);
  }

  #nextCounted(bytes: Uint8Array, at: number, isEnd: boolean): number | null {
    const count = readCount(bytes, at);
    if (count === "short" && !isEnd) return null;
    if (count === "short" || count === "none") {
      this.#framing = "lines";
      return at;
    }
    const wanted = count.start + Math.min(count.length, MAX_MESSAGE);
    if (wanted > bytes.length && !isEnd) return null;
    const end = Math.min(wanted, bytes.length);
    this.#add(bytes.subarray(count.start, end), count.length);
    this.#toDrop = Math.max(0, count.length - MAX_MESSAGE);
    return end;
  }

  #nextLine(bytes: Uint8Array, at: number, isEnd: boolean): number | null {
    const found = bytes.indexOf(LINE_BREAK, at + this.#searched);
    const end = found < 0 ? bytes.length : found;
    const length = end - at;
    this.#searched = 0;
    if (this.#long !== null) {
      this.#long.length += length;
    } else if (length > MAX_MESSAGE) {
      const entry = this.#entryOf(bytes.subarray(at, at + MAX_MESSAGE));
      this.#long = entry && { entry, length };
    } else if (found < 0 && !isEnd) {
      this.#searched = length;
      return null;
    } else {
      this.#add(bytes.subarray(at, end), length);
    }
    if (found >= 0) this.#endLong();
    return found < 0 ? end : end + 1;
  }

  #endLong(): void {
    if (this.#long === null) return;
    const { entry, length } = this.#long;
    this.#long = null;
    this.#sink.add({ ...entry, marks: { cut: { message: length } } });
  }

  /** @param length bytes of the message as sent */
  #add(bytes: Uint8Array, length: number): void {
    const entry = this.#entryOf(bytes);
    if (entry !== null)
      this.#sink.add(length > MAX_MESSAGE ? { ...entry, marks: { cut: { message: length } } } : entry);
  }

  /** Returns the record of a message, `null` if it is empty. */
  #entryOf(bytes: Uint8Array): DoorEntry | null {
    this.#meter.spend(bytes.length * COST_OF_BYTE + COST_OF_MESSAGE);
    // Old devices send Latin-1, in which any bytes are a text. A cut may leave a part of a character.
    const isCut = bytes.length === MAX_MESSAGE;
    const decoded = isCut || isUtf8(bytes) ? utf8.decode(bytes) : Buffer.from(bytes).toString("latin1");
    const text = withoutEnd(decoded);
    return text.trim() === "" ? null : readSyslog(text, this.#options);
  }
}

/** Removes line breaks and zeros from the end. (A regular expression would begin again at each one inside the text.) */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && END.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Messages are counted if digits, a space and a priority come first. */
function framingOf(bytes: Uint8Array, at: number, isEnd: boolean): "unknown" | "counted" | "lines" {
  const count = readCount(bytes, at);
  if (count === "none") return "lines";
  if (count === "short" || count.start >= bytes.length) return isEnd ? "lines" : "unknown";
  return bytes[count.start] === LESS_THAN ? "counted" : "lines";
}

/** Reads an octet count. `short`: it may go on in bytes to come. */
function readCount(bytes: Uint8Array, at: number): { length: number; start: number } | "short" | "none" {
  let length = 0;
  for (let index = at; index <= at + MAX_COUNT_DIGITS; index++) {
    const byte = bytes[index];
    if (byte === undefined) return "short";
    if (byte === SPACE && index > at) return { length, start: index + 1 };
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9) return "none";
    length = 10 * length + digit;
  }
  return "none";
}
