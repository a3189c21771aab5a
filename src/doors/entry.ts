import type { Level } from "../logs/entry.ts";
import type { PlainEntry } from "../logs/ingest/build-batch.ts";
import type { PlainEnvelope } from "./shared/plain-envelope.ts";
import type { PlainLines } from "./shared/plain-lines.ts";

/** An id that the client gave a record, so that the same record sent twice can only be a retry. */
export interface ClientId {
  /** Other kinds of records and of ids have other texts. */
  text: string;
  /** Whether only a record with the same content is the same record. Otherwise the id alone decides. */
  hasContent: boolean;
}

/**
 * One record of a foreign client, read as far as its protocol says what its parts mean. Nothing here is checked:
 * `DoorEntries` keeps what can be kept and marks what it had to change.
 */
export interface DoorEntry {
  /** The client's time, epoch milliseconds with an optional fraction; `null` without one. May be out of any range. */
  time: number | null;
  /**
   * The client's time as it was sent, if `time` does not say all of it: nanoseconds, or a text that is no time. Kept in
   * `data` where the stored timestamp loses something.
   */
  sentTime?: string | number;
  /** `null` if the client sent none; the default is stored then. */
  level: Level | null;
  /** The client's level as it was sent, if `level` does not say all of it: `notice`, 35. Kept in `data`. */
  sentLevel?: string | number;
  /** `null` or "" if the client sent none; a text of the record is stored then. */
  message: string | null;
  category?: string;
  type?: string;
  service?: string;
  host?: string;
  session?: string;
  traceId?: string;
  spanId?: string;
  /**
   * Everything else, as the client named it. A value that JSON cannot hold exactly is a string. The object is the entry's own
   * from then on; nested ones may be shared with other records.
   */
  data: Record<string, unknown>;
  /**
   * The members of `data` as `JSON.stringify` writes them, without braces, in place of `data`: each name once, values that
   * may be stored, none of them named like a member that the service writes. `values` is their number at most.
   */
  json?: { members: string; values: number };
  /** What of the record was cut or is missing, for the mark in `data`. */
  marks?: Record<string, unknown>;
  id?: ClientId;
}

/** An entry that writes its own line. */
export interface WrittenEntry extends PlainEntry {
  /** Whether the client's time has more digits than whole seconds. */
  readonly isFine: boolean;
  /** Bytes of the line. */
  readonly size: number;
  /** Writes the line. @returns the index after it */
  readonly write: (target: Uint8Array, at: number) => number;
}

/** Receives entries as they are stored, from decoders that write them without a `DoorEntry`. */
export interface LineSink {
  /** Whether a timestamp, epoch milliseconds, may be stored as it is. */
  accepts(ms: number): boolean;
  /** Stores an entry, which may change after the call. */
  addWritten(entry: WrittenEntry): void;
}

/** Receives the records of one request in their order. */
export interface DoorEntrySink {
  /** The same sink for written lines. */
  readonly lines?: LineSink;
  /** Stores a record. Never throws and never drops: what cannot be stored as sent is stored with a mark. */
  add(entry: DoorEntry): void;
  /**
   * Stores a record as its bytes.
   * @returns `false` if it must be read and added; nothing is stored then
   */
  addPlain?(lines: PlainLines, bytes: Uint8Array, from: number, to: number, envelope?: PlainEnvelope): boolean;
  /** Counts a record that cannot be stored at all. */
  reject(reason: string): void;
}
