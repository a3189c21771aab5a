import { textOfAny } from "../platform/bytes.ts";
import type { Steps } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
import type { DoorEntries } from "./shared/door-entries.ts";
import { cutEntry } from "./shared/enveloped.ts";
import { type JsonNode, MAX_VALUE_BYTES } from "./shared/json-cutter.ts";
import { type BodyParts, checkText, LinesOrDocuments } from "./shared/lines-or-documents.ts";
import { NOT_JSON, parseText } from "./shared/parse-text.ts";
import { type RecordReader, recordOf } from "./shared/record-reader.ts";

const RECORD = "record";
/** Documents: each is a record, or an array of records. */
const DOCUMENTS: JsonNode = { name: RECORD, items: { name: RECORD } };
/** One document with the records in its first member: `logs`, or objects in `events` or `records`. */
const LIST: JsonNode = { name: RECORD, items: { name: RECORD } };
const WITH_LOGS: JsonNode = { name: "body", members: { logs: LIST, events: LIST, records: LIST } };
const BEGINS_WITH_LOGS = /^\{\s*"(?:logs"\s*:\s*\[|(?:events|records)"\s*:\s*\[\s*\{)/;

/** Types of one document. Those of lines, such as `application/x-ndjson`, may have other lines, too. */
const JSON_TYPE = /[/+](?:x-)?json$/;
const OBJECT_LINE = /^\s*\{/;
const NO_JSON = "The body is not valid JSON.";

/**
 * Reads JSON and text of any client: objects one a line (NDJSON), one after the other, or in an array, `{"logs": [...]}`, and
 * lines of text, which are messages. The first line decides the form. The media type decides only whether text is accepted.
 */
export class PlainDecoder implements DoorDecoder {
  readonly #entries: DoorEntries;
  readonly #reader: RecordReader;
  readonly #isJson: boolean;
  readonly #body: LinesOrDocuments;
  /** Whether the first line is no JSON. */
  #isText = false;

  /** @param mediaType of the request. A document of JSON must be JSON; lines of it need not. */
  constructor(entries: DoorEntries, reader: RecordReader, mediaType: string) {
    this.#entries = entries;
    this.#reader = reader;
    this.#isJson = JSON_TYPE.test(mediaType);
    const { lines } = reader;
    const parts: BodyParts = {
      line: (line, length) => this.#addLine(line, length),
      lineBytes: (bytes, from, to) => entries.addPlain(lines, bytes, from, to),
      value: (bytes, length) => this.#add(textOfAny(bytes), length > bytes.length ? length : null),
      documents: (start) => (BEGINS_WITH_LOGS.test(start) ? WITH_LOGS : DOCUMENTS),
      checkText: (start) => {
        if (this.#isJson) throw new DoorBodyFault(NO_JSON);
        checkText(start);
        this.#isText = true;
      },
      isAnyText: !this.#isJson,
    };
    this.#body = new LinesOrDocuments(parts, entries.meter);
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

  /**
   * Adds a value of a document. If the media type is JSON it must be JSON, unless it is cut.
   * @param sentLength bytes of a value of which the text is the beginning; `null` for a whole one
   */
  #add(text: string, sentLength: number | null): void {
    const value = sentLength === null ? parseText(text) : undefined;
    if (value === NOT_JSON && this.#isJson) throw new DoorBodyFault(NO_JSON);
    if (value === undefined || value === NOT_JSON) this.#addText(text, sentLength ?? 0);
    else this.#addValue(value);
  }

  /** Adds a line of NDJSON. One that is not JSON does not affect the others: it is kept as text. */
  #addLine(line: string, length: number): void {
    // In a text, `1.50` and `null` are what they say.
    const isText = length > MAX_VALUE_BYTES || (this.#isText && !OBJECT_LINE.test(line));
    const value = isText ? undefined : parseText(line);
    if (value === undefined || value === NOT_JSON) this.#addText(line, length);
    else this.#addValue(value);
  }

  #addValue(value: unknown): void {
    const entry = this.#reader.readValue(value);
    if (entry === null) this.#entries.reject("The record is null.");
    else this.#entries.add(entry);
  }

  /** @param length bytes as sent. Of a text over 1 MiB, the beginning is kept. */
  #addText(text: string, length: number): void {
    this.#entries.add(length > MAX_VALUE_BYTES ? cutEntry(text, length) : recordOf(text));
  }
}
