import { copyBytes, latin1Text } from "../../platform/bytes.ts";
import {
  BUILT_IN_CATEGORIES,
  CATEGORY_TYPES,
  DEFAULT_CATEGORY,
  DEFAULT_TYPE,
  INGEST_LIMITS,
  LEVELS,
} from "../entry.ts";
import type { IdCollector } from "../id-filter.ts";
import type { PlainEntry } from "./build-batch.ts";
import { PART, type PartNames, type PartReader, PlainRecord } from "./plain-record.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const CLOSE_BRACE = 0x7d;

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
const TIMESTAMP = '{"timestamp":"';
const DATA = encode(',"data":{');
/** The parts that follow the message, in the order of `ENTRY_MEMBERS`. */
const TEXTS = (["session", "traceId", "spanId", "service", "host"] as const).map((name) => ({
  part: PART[name],
  head: encode(`,"${name}":"`),
}));
/** Bytes of a line beside the texts of its record. */
const LINE_BYTES = 512;
const MAX_HEADS = 64;

/** Length of `2026-11-20T14:04:05.` */
const SECOND_LENGTH = 20;
const NO_BYTES = new Uint8Array();

/**
 * An entry whose line is written from the bytes of a record, without parsing them. What its parts mean is decided by the class
 * that extends this one.
 */
export abstract class PlainLine implements PartReader, PlainEntry {
  ms = 0;
  severity = 0;
  category: string = DEFAULT_CATEGORY;
  type: string = DEFAULT_TYPE;
  protected readonly record: PlainRecord;
  /** The bytes in which the record is. */
  protected bytes: Uint8Array = NO_BYTES;
  /** Members of `data` as JSON, after those of the record; empty without any. */
  protected added: Uint8Array = NO_BYTES;
  /** The member of `data` that says what was changed, after all others: the first `marksLength` bytes. */
  protected marks: Uint8Array = NO_BYTES;
  protected marksLength = 0;
  /** Service and host of a record without its own, as JSON without quotes. */
  protected service: Uint8Array = NO_BYTES;
  protected host: Uint8Array = NO_BYTES;
  readonly #heads = new Map<string, Uint8Array>();
  #size = 0;
  #second: Uint8Array = NO_BYTES;
  #secondMs = Number.NaN;

  /** @param isStrict as for a `PlainRecord` */
  constructor(names: PartNames, isStrict: boolean) {
    this.record = new PlainRecord(names, this, isStrict);
  }

  abstract readTime: PartReader["readTime"];
  abstract readLevel: PartReader["readLevel"];

  /** Maximum bytes of the line. */
  get size(): number {
    return this.#size + this.added.length + this.marksLength + this.service.length + this.host.length;
  }

  /** Finds the parts of a record with a message. @returns `false` if it must be parsed */
  protected find(bytes: Uint8Array, from: number, to: number): boolean {
    this.bytes = bytes;
    const { record } = this;
    if (!record.read(bytes, from, to) || (record.from[PART.message] ?? -1) < 0) return false;
    if ((record.from[PART.data] ?? -1) >= 0 && record.rangesLength > 0) return false;
    this.#size = to - from + LINE_BYTES;
    return this.#readNames();
  }

  /** @returns `false` if category and type are not valid names without escapes */
  #readNames(): boolean {
    const { from } = this.record;
    this.category = DEFAULT_CATEGORY;
    this.type = DEFAULT_TYPE;
    const hasCategory = (from[PART.category] ?? -1) >= 0;
    const hasType = (from[PART.type] ?? -1) >= 0;
    if (!hasCategory && !hasType) return true;
    const category = hasCategory ? this.#nameOf(PART.category) : DEFAULT_CATEGORY;
    if (category === null) return false;
    this.category = category;
    const known = BUILT_IN_CATEGORIES.find((name) => name === category);
    const types: readonly string[] | undefined = known && CATEGORY_TYPES[known];
    const type = hasType ? this.#nameOf(PART.type) : (types?.[0] ?? DEFAULT_TYPE);
    if (type === null || (types !== undefined && !types.includes(type))) return false;
    this.type = type;
    return true;
  }

  #nameOf(part: number): string | null {
    const { from, to } = this.record;
    const text = this.text(from[part] ?? 0, to[part] ?? 0);
    return text.length <= INGEST_LIMITS.nameLength && PLAIN_NAME.test(text) ? text : null;
  }

  addIds(ids: IdCollector): void {
    const { from, to } = this.record;
    const session = from[PART.session] ?? -1;
    const trace = from[PART.traceId] ?? -1;
    if (session >= 0) ids.addBytes(0, this.bytes, session, to[PART.session] ?? 0);
    if (trace >= 0) ids.addBytes(1, this.bytes, trace, to[PART.traceId] ?? 0);
  }

  /** Writes the line of the record that was read. @returns index after the line */
  write(target: Uint8Array, start: number): number {
    const { from, to, ranges, rangesLength } = this.record;
    const { bytes, added, marksLength } = this;
    let at = copyBytes(target, start, this.#secondOf(this.ms));
    const rest = this.ms % 1000;
    target[at++] = ZERO + Math.floor(rest / 100);
    target[at++] = ZERO + (Math.floor(rest / 10) % 10);
    target[at++] = ZERO + (rest % 10);
    at = copyBytes(target, at, this.#head());
    at = copyBytes(target, at, bytes, from[PART.message], to[PART.message]);
    target[at++] = QUOTE;
    for (const { part, head } of TEXTS) {
      const first = from[part] ?? -1;
      const other = part === PART.service ? this.service : part === PART.host ? this.host : NO_BYTES;
      if (first < 0 && other.length === 0) continue;
      at = copyBytes(target, at, head);
      at = first < 0 ? copyBytes(target, at, other) : copyBytes(target, at, bytes, first, to[part]);
      target[at++] = QUOTE;
    }
    const data = from[PART.data] ?? -1;
    const dataEnd = (to[PART.data] ?? 0) - 1;
    if (rangesLength > 0 || added.length > 0 || marksLength > 0 || (data >= 0 && dataEnd > data + 1)) {
      at = copyBytes(target, at, DATA);
      const first = at;
      if (data >= 0) at = copyBytes(target, at, bytes, data + 1, dataEnd);
      for (let i = 0; i < rangesLength; i += 2) {
        if (at > first) target[at++] = COMMA;
        at = copyBytes(target, at, bytes, ranges[i], ranges[i + 1]);
      }
      if (added.length > 0) {
        if (at > first) target[at++] = COMMA;
        at = copyBytes(target, at, added);
      }
      if (marksLength > 0) {
        if (at > first) target[at++] = COMMA;
        at = copyBytes(target, at, this.marks, 0, marksLength);
      }
      target[at++] = CLOSE_BRACE;
    }
    target[at++] = CLOSE_BRACE;
    return at;
  }

  /** The beginning of a line, up to the milliseconds of its timestamp. */
  #secondOf(ms: number): Uint8Array {
    const second = ms - (ms % 1000);
    if (second !== this.#secondMs) {
      this.#secondMs = second;
      this.#second = encode(TIMESTAMP + new Date(second).toISOString().slice(0, SECOND_LENGTH));
    }
    return this.#second;
  }

  /** The bytes between the milliseconds of the timestamp and the message. */
  #head(): Uint8Array {
    const { severity, category, type } = this;
    if (category === DEFAULT_CATEGORY && type === DEFAULT_TYPE) return HEADS[severity] ?? NO_BYTES;
    const key = `${severity} ${category} ${type}`;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const head = headOf(severity, category, type);
    if (this.#heads.size >= MAX_HEADS) this.#heads.clear();
    this.#heads.set(key, head);
    return head;
  }

  protected text(from: number, to: number): string {
    return latin1Text(this.bytes, from, to);
  }
}

function headOf(severity: number, category: string, type: string): Uint8Array {
  const names = `"category":${JSON.stringify(category)},"type":${JSON.stringify(type)}`;
  return encode(`Z","level":"${LEVELS[severity]}",${names},"message":"`);
}

const HEADS = LEVELS.map((_, severity) => headOf(severity, DEFAULT_CATEGORY, DEFAULT_TYPE));

/** A name in ASCII without what JSON escapes. */
const PLAIN_NAME = /^[ !#-[\]-~]+$/;
