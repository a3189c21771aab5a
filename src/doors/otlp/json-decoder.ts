import { isSpace } from "../../logs/ingest/check-json.ts";
import { markLength } from "../../logs/ingest/entry-offsets.ts";
import { textOfRange } from "../../platform/bytes.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "../decoder.ts";
import type { DoorEntrySink } from "../entry.ts";
import { ByteTexts } from "./byte-texts.ts";
import { jsonFields } from "./direct-json.ts";
import { DirectLines } from "./direct-lines.ts";
import { PlainJsonReader } from "./fast-json.ts";
import { HeldBytes } from "./held-bytes.ts";
import { JsonRecords } from "./json-records.ts";
import { ValueScan } from "./json-scan.ts";
import { ITEMS, type Kind, LISTS, nameOf, notJson, USES, type Use } from "./json-shape.ts";
import { LogRecord } from "./mapping.ts";
import { RecordQueue } from "./record-queue.ts";
import type { Resource, Scope } from "./shared-parts.ts";

/** Bytes of a record that is read. Of a longer one the first bytes are kept as text. */
const RECORD_BYTES = 1024 * 1024;
const TEXT_BYTES = 128 * 1024;
/** Nesting of a record that is read. A deeper one is kept as text. */
const RECORD_DEPTH = 200;
/** Bytes of a resource, a scope or a schema URL. */
const SHARED_BYTES = 512 * 1024;
const NAME_BYTES = 4096;
/** Nanoseconds for a byte that is scanned. */
const COST_OF_BYTE = 3;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const FIRST_OF_NULL = 0x6e;

/** An object or array that is open. */
interface Frame {
  kind: Kind;
  /** What may come next: the first item or the end, a comma or the end, an item. */
  next: "first" | "comma" | "item";
}

/** Reads an `ExportLogsServiceRequest` in JSON. */
export class JsonLogsDecoder implements DoorDecoder {
  readonly #meter: TurnMeter;
  readonly #input = new HeldBytes();
  readonly #queue: RecordQueue;
  readonly #records = new JsonRecords();
  readonly #scan = new ValueScan();
  /** Outermost first; empty before and after the document. */
  readonly #frames: Frame[] = [];
  #at = 0;
  #state: "start" | "between" | "value" | "ended" = "start";
  #use: Use = "nothing";
  /** Whether the request has members, and whether one of them may have records. */
  #hasMembers = false;
  #hasLogs = false;
  /** Position of the value that is being scanned. */
  #valueAt = 0;
  /** What gets the length of a value that is cut. */
  #cut: LogRecord | Resource | Scope | null = null;
  readonly #texts = new ByteTexts();
  readonly #plain = new PlainJsonReader(this.#texts);

  constructor(sink: DoorEntrySink, meter: TurnMeter) {
    this.#meter = meter;
    const direct = sink.lines === undefined ? null : new DirectLines(this.#texts, jsonFields, sink.lines);
    const read = (record: LogRecord, from: number, to: number) => {
      if (this.#plain.read(from, to, record)) return true;
      record.clear();
      const text = textOfRange(this.#texts.bytes, from, to);
      if (!this.#records.readRecord(text, record)) throw notJson();
      return text !== "null";
    };
    this.#queue = new RecordQueue(this.#input, sink, meter, read, direct?.store.bind(direct) ?? null);
  }

  get held(): number {
    return this.#input.held + this.#queue.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    this.#input.add(chunk, this.#keep);
    this.#texts.use(this.#input.bytes);
    this.#meter.spend(chunk.length * COST_OF_BYTE);
    while (yield* this.#step()) if (this.#meter.isDue) yield;
    this.#input.settle(this.#keep);
  }

  *end(): Steps<void> {
    while (yield* this.#step()) if (this.#meter.isDue) yield;
    if (this.#state !== "ended" && !(this.#state === "start" && this.#at === this.#input.end)) throw notJson();
    if (this.#hasMembers && !this.#hasLogs) throw new DoorBodyFault("The body has no `resourceLogs`.");
    this.#input.free();
  }

  /** Position of the first byte that is still needed. */
  get #keep(): number {
    const isNeeded = this.#state === "value" && this.#use !== "nothing" && this.#use !== "cut";
    return this.#queue.keep(isNeeded ? this.#valueAt : this.#at);
  }

  /** Reads one token outside of records, or one value. @returns `false` if its bytes have not arrived */
  *#step(): Steps<boolean> {
    if (this.#state === "value") return yield* this.#continueValue();
    const { bytes, base, end } = this.#input;
    if (this.#state === "start" && this.#at === base) {
      if (end - this.#at < MARK_BYTES && bytes[0] === FIRST_OF_MARK) return false;
      this.#at += markLength(bytes);
    }
    let at = this.#at - base;
    while (at + base < end && isSpace(bytes[at] ?? 0)) at++;
    this.#at = at + base;
    if (this.#at >= end) return false;
    const byte = bytes[at] ?? 0;
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      if (this.#state === "ended" || byte !== OPEN_BRACE) throw notJson();
      this.#open("request");
      return true;
    }
    const isList = ITEMS[frame.kind] !== undefined || frame.kind === "records";
    if (frame.next !== "item" && byte === (isList ? CLOSE_BRACKET : CLOSE_BRACE)) {
      yield* this.#close(frame.kind);
      return true;
    }
    if (frame.next === "comma") {
      if (byte !== COMMA) throw notJson();
      this.#at++;
      frame.next = "item";
      return true;
    }
    return isList ? this.#item(frame.kind, byte) : this.#member(frame.kind, byte);
  }

  #item(kind: Kind, byte: number): boolean {
    const item = ITEMS[kind];
    if (item === undefined) this.#beginValue("record");
    else if (byte !== OPEN_BRACE)
      throw new DoorBodyFault(`${kind === "scopes" ? "scopeLogs" : "resourceLogs"} must be an array of objects.`);
    else {
      if (item === "scope logs") this.#queue.beginScope();
      else this.#queue.beginResource();
      this.#open(item);
    }
    return true;
  }

  /** Reads a member's name and the first byte of its value. */
  #member(kind: Kind, byte: number): boolean {
    if (byte !== QUOTE) throw notJson();
    const { bytes, base } = this.#input;
    const to = this.#input.end - base;
    const from = this.#at - base;
    let at = from + 1;
    while (at < to && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at - from > NAME_BYTES) throw new DoorBodyFault(`A name is longer than ${NAME_BYTES} bytes.`);
    const nameEnd = at + 1;
    at = nameEnd;
    while (at < to && isSpace(bytes[at] ?? 0)) at++;
    if (at < to && bytes[at] !== COLON) throw notJson();
    at++;
    while (at < to && isSpace(bytes[at] ?? 0)) at++;
    if (at >= to) {
      if (at - from > 2 * NAME_BYTES) throw notJson();
      return false;
    }
    const name = nameOf(this.#texts.bytes.toString("utf8", from, nameEnd));
    this.#at = at + base;
    const list = LISTS[kind];
    const isList = list?.names.has(name) === true;
    if (kind === "request") {
      this.#hasMembers = true;
      this.#hasLogs ||= isList;
    }
    if (isList && bytes[at] === OPEN_BRACKET) this.#open(list.list);
    else if (isList && bytes[at] !== FIRST_OF_NULL) throw new DoorBodyFault(`${name} must be an array.`);
    else {
      const uses = USES[kind];
      this.#beginValue(uses !== undefined && Object.hasOwn(uses, name) ? (uses[name] ?? "nothing") : "nothing");
    }
    return true;
  }

  #open(kind: Kind): void {
    this.#at++;
    this.#state = "between";
    this.#frames.push({ kind, next: "first" });
  }

  *#close(kind: Kind): Steps<void> {
    this.#at++;
    this.#frames.pop();
    if (kind === "resource logs") yield* this.#queue.endResource();
    const outer = this.#frames.at(-1);
    if (outer === undefined) this.#state = "ended";
    else outer.next = "comma";
  }

  #beginValue(use: Use): void {
    this.#valueAt = this.#at;
    this.#use = use;
    this.#state = "value";
    this.#scan.begin();
  }

  *#continueValue(): Steps<boolean> {
    const { bytes, base, end } = this.#input;
    const ended = this.#scan.scan(bytes, this.#at - base, end - base);
    this.#at = ended < 0 ? end : ended + base;
    const isLong = this.#at - this.#valueAt > (this.#use === "record" ? RECORD_BYTES : SHARED_BYTES);
    if (isLong || this.#scan.depth > RECORD_DEPTH) yield* this.#beginCut();
    if (ended < 0) {
      if (this.#queue.isFull(this.#at)) yield* this.#queue.split();
      return false;
    }
    this.#state = "between";
    const frame = this.#frames.at(-1);
    if (frame !== undefined) frame.next = "comma";
    yield* this.#useValue();
    return true;
  }

  *#useValue(): Steps<void> {
    const { base } = this.#input;
    const queue = this.#queue;
    switch (this.#use) {
      case "record":
        queue.add(this.#valueAt, this.#at);
        if (queue.isFull(this.#at)) yield* queue.split();
        return;
      case "cut": {
        const target = this.#cut;
        this.#cut = null;
        const length = this.#at - this.#valueAt;
        if (target instanceof LogRecord) {
          target.cut = { message: length };
          yield* queue.addRead(target);
        } else if (target !== null) target.cut = length;
        return;
      }
      case "nothing":
        return;
      default: {
        const text = textOfRange(this.#texts.bytes, this.#valueAt - base, this.#at - base);
        const isOfResource = this.#use === "resource" || this.#use === "resource schema";
        const size = this.#at - this.#valueAt;
        if (!(isOfResource ? queue.noteResource(size) : queue.noteScope(size))) {
          (isOfResource ? queue.resource : queue.scope).cut = size;
        } else if (!this.#readShared(text)) throw notJson();
      }
    }
  }

  #readShared(text: string): boolean {
    const { resource, scope } = this.#queue;
    switch (this.#use) {
      case "resource":
        return this.#records.readResource(text, resource);
      case "scope":
        return this.#records.readScope(text, scope);
      default: {
        const url = nameOf(text);
        if (this.#use === "resource schema") resource.schemaUrl = url;
        else scope.schemaUrl = url;
        return true;
      }
    }
  }

  /** Keeps the first bytes of a record that is too long or too deep, and nothing of another value. */
  *#beginCut(): Steps<void> {
    const use = this.#use;
    if (use === "cut" || use === "nothing") return;
    if (use === "record") {
      yield* this.#queue.split();
      const record = new LogRecord();
      const from = this.#valueAt - this.#input.base;
      record.body = textOfRange(this.#texts.bytes, from, Math.min(from + TEXT_BYTES, this.#at - this.#input.base));
      this.#cut = record;
    } else this.#cut = use.startsWith("resource") ? this.#queue.resource : this.#queue.scope;
    this.#use = "cut";
  }
}

const MARK_BYTES = 3;
const FIRST_OF_MARK = 0xef;
