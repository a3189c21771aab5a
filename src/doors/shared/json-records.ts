import { textOfAny } from "../../platform/bytes.ts";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import type { DoorDecoder } from "../decoder.ts";
import type { DoorEntry, DoorEntrySink } from "../entry.ts";
import { type JsonNode, MAX_VALUE_BYTES } from "./json-cutter.ts";
import { checkText, LinesOrDocuments } from "./lines-or-documents.ts";
import { parseText } from "./parse-text.ts";
import { MAPPED, type Mapping, RecordReader } from "./record-reader.ts";

/** One object, several of them behind each other or in lines, or arrays of them. */
export const RECORDS: JsonNode = { name: "records", items: { name: "record" } };
/** Nanoseconds for a byte of JSON that is decoded, parsed and taken apart. */
export const COST_OF_JSON_BYTE = 15;

/** Reads a body in which each of several JSON objects is a record. Lines of text among them are messages. */
export class JsonRecords implements DoorDecoder {
  readonly #body: LinesOrDocuments;

  /** @param read reads a record; `null` from it for a text that is not a JSON object rejects the record */
  constructor(sink: DoorEntrySink, meter: TurnMeter, read: (record: Record<string, unknown>) => DoorEntry) {
    const value = (bytes: Uint8Array, length: number) => {
      meter.spend(bytes.length * COST_OF_JSON_BYTE);
      addRecord(sink, textOfAny(bytes), length > bytes.length ? length : null, read);
    };
    const line = (text: string, length: number) => {
      meter.spend(text.length * COST_OF_JSON_BYTE);
      addRecord(sink, text, length > MAX_VALUE_BYTES ? length : null, read);
    };
    this.#body = new LinesOrDocuments({ line, value, documents: () => RECORDS, checkText }, meter);
  }

  get held(): number {
    return this.#body.held;
  }

  *read(chunk: Uint8Array): Steps<void> {
    yield* this.#body.read(chunk);
  }

  *end(): Steps<void> {
    yield* this.#body.end();
  }
}

/**
 * Adds the record of a JSON text. Another text, and a part of a JSON text, become a message.
 * @param sentBytes of the text if it was cut, else `null`
 */
export function addRecord(
  sink: DoorEntrySink,
  text: string,
  sentBytes: number | null,
  read: (record: Record<string, unknown>) => DoorEntry,
): void {
  const record = sentBytes === null ? objectOf(text) : null;
  if (record !== null) sink.add(read(record));
  else
    sink.add({
      time: null,
      level: null,
      message: text,
      data: {},
      ...(sentBytes !== null && { marks: { cut: { message: sentBytes } } }),
    });
}

/** Returns a reader that looks for the names of a key's mapping first, then for those of a protocol, then for the usual ones. */
export function readerFor(protocol: Mapping, mapping: Mapping = {}): RecordReader {
  const names = MAPPED.map((part) => [part, [...(mapping[part] ?? []), ...(protocol[part] ?? [])]]);
  return new RecordReader(Object.fromEntries(names));
}

/**
 * Parses a JSON object, with strings in place of integers that a number cannot hold; `null` for any other text, and for one with
 * more values than an entry may have.
 */
export function objectOf(text: string): Record<string, unknown> | null {
  const value = parseText(text);
  // SAFETY: an object of JSON that is not an array; `NOT_JSON` is a symbol.
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
