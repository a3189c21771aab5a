import { startsWith } from "../logs/ingest/canonical-json.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
import {
  ACTIONS,
  type ActionName,
  BulkItems,
  ERRORS,
  INDEX_ACTION,
  INDEX_LENGTH,
  INVALID_JSON,
  MISSING,
  NOT_AN_OBJECT,
  NOT_SUPPORTED,
  STORED,
} from "./elasticsearch-items.ts";
import type { ClientId, DoorEntry, DoorEntrySink } from "./entry.ts";
import { cutEntry } from "./shared/enveloped.ts";
import { MAX_VALUE_BYTES } from "./shared/json-cutter.ts";
import { LineReader } from "./shared/line-reader.ts";
import { NOT_JSON, parseText } from "./shared/parse-text.ts";
import { EMPTY_ENVELOPE, type PlainEnvelope } from "./shared/plain-envelope.ts";
import type { PlainLines } from "./shared/plain-lines.ts";
import { clientId } from "./shared/record-ids.ts";
import { type RecordReader, recordOf } from "./shared/record-reader.ts";

/** Reads bodies of Elasticsearch's `_bulk`: https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-bulk */

const UPDATE = ACTIONS.indexOf("update");
const DELETE = ACTIONS.indexOf("delete");

/** Nanoseconds for a line, and for a byte of one: it is parsed. */
const COST_OF_LINE = 2_000;
const COST_OF_BYTE = 15;

/** Names of members of `data` that come from the action. */
const INDEX = "_index";
const ID = "_id";
/** Characters of the longest action that is written beside documents that are not parsed. */
const ENVELOPE_LENGTH = 4_096;
/** Nanoseconds for an action that is the same as the last one. */
const COST_OF_SAME_ACTION = 200;
const NO_BYTES = new Uint8Array();

const encoder = new TextEncoder();

interface Action {
  /** Index in `ACTIONS`. */
  kind: number;
  index: string | undefined;
  id: string | undefined;
  /** What it says about a document that is not parsed; `null` if documents must be. */
  envelope: PlainEnvelope | null;
}

export class BulkDecoder implements DoorDecoder {
  readonly items = new BulkItems();
  readonly #sink: DoorEntrySink;
  readonly #reader: RecordReader;
  readonly #meter: TurnMeter;
  readonly #index: string | undefined;
  readonly #lines: LineReader;
  #action: Action | null = null;
  /** The action of the last line of an action, which clients repeat for every document. */
  #lastLine: Uint8Array = NO_BYTES;
  #lastAction: Action | null = null;
  #lineNumber = 0;
  #isWhole = false;

  /** @param index the index of the path; `undefined` without */
  constructor(sink: DoorEntrySink, reader: RecordReader, meter: TurnMeter, index: string | undefined) {
    this.#sink = sink;
    this.#reader = reader;
    this.#meter = meter;
    this.#index = index;
    const plain = reader.linesBeside(INDEX, ID);
    this.#lines = new LineReader(
      (line, length) => this.#line(line, length),
      meter,
      (bytes, from, to) => this.#addPlain(plain, bytes, from, to),
    );
  }

  get held(): number {
    return this.#lines.held + this.items.held;
  }

  /** Whether `items` has all actions of the request. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  read(chunk: Uint8Array): Steps<void> {
    return this.#lines.read(chunk);
  }

  // biome-ignore lint/correctness/useYield: one line is left at most.
  *end(): Steps<void> {
    this.#lines.end();
    if (this.#action !== null) this.#reject(this.#action, MISSING);
    if (this.#lineNumber === 0) throw new DoorBodyFault("The bulk request has no action.");
    this.#isWhole = true;
  }

  /**
   * Reads the last action again, or stores a document without parsing it.
   * @returns `false` for any other line, and a document that must be parsed
   */
  #addPlain(lines: PlainLines, bytes: Uint8Array, from: number, to: number): boolean {
    const action = this.#action;
    if (action === null) return this.#repeatAction(bytes, from, to);
    if (action.envelope === null || action.kind === UPDATE) return false;
    if (!this.#sink.addPlain?.(lines, bytes, from, to, action.envelope)) return false;
    this.#action = null;
    this.#lineNumber++;
    this.#note(action, STORED);
    return true;
  }

  /** @returns `false` if the line is not the one of the last action */
  #repeatAction(bytes: Uint8Array, from: number, to: number): boolean {
    const last = this.#lastLine;
    if (this.#lastAction === null || to - from !== last.length || !startsWith(bytes, from, last)) return false;
    this.#meter.spend(COST_OF_SAME_ACTION + last.length);
    this.#begin(this.#lastAction);
    return true;
  }

  #line(line: string, length: number): void {
    this.#meter.spend(COST_OF_LINE + line.length * COST_OF_BYTE);
    const action = this.#action;
    if (action !== null) {
      this.#lineNumber++;
      this.#action = null;
      this.#document(action, line, length);
    } else this.#begin(this.#readAction(line, length));
  }

  #begin(action: Action): void {
    this.#lineNumber++;
    if (action.kind === DELETE) this.#reject(action, NOT_SUPPORTED);
    else this.#action = action;
  }

  #document(action: Action, line: string, length: number): void {
    if (action.kind === UPDATE) {
      this.#reject(action, NOT_SUPPORTED);
      return;
    }
    const entry = length > MAX_VALUE_BYTES ? cutEntry(line, length) : this.#read(action, line);
    if (entry === null) return;
    const { data } = entry;
    if (action.index !== undefined) data[INDEX] ??= action.index;
    if (action.id !== undefined) {
      data[ID] ??= action.id;
      entry.id = idOf(action, action.id);
    }
    this.#sink.add(entry);
    this.#note(action, STORED);
  }

  /** @returns `null` for a document that was rejected */
  #read(action: Action, line: string): DoorEntry | null {
    const document = parseText(line);
    // More values than an entry may have.
    if (document === undefined) return recordOf(line);
    if (document === NOT_JSON) {
      this.#reject(action, INVALID_JSON);
      return null;
    }
    if (typeof document !== "object" || document === null || Array.isArray(document)) {
      this.#reject(action, NOT_AN_OBJECT);
      return null;
    }
    // SAFETY: an object of JSON that is not an array.
    return this.#reader.read(document as Record<string, unknown>);
  }

  #reject(action: Action, outcome: number): void {
    this.#note(action, outcome);
    this.#sink.reject(ERRORS[outcome]?.[1] ?? "");
  }

  #note({ kind, index = "", id }: Action, outcome: number): void {
    const shown = index.length > INDEX_LENGTH ? index.slice(0, INDEX_LENGTH).toWellFormed() : index;
    this.items.add(kind, shown, outcome, id);
  }

  /** @throws DoorBodyFault */
  #readAction(line: string, length: number): Action {
    const sent = length > MAX_VALUE_BYTES ? undefined : parseText(line);
    const members = typeof sent === "object" && sent !== null ? Object.entries(sent) : [];
    // Clients write members of their own beside the action: winston-elasticsearch the number of its attempts.
    const member = members.find(([name]) => ACTIONS.indexOf(nameOf(name)) >= 0);
    const kind = ACTIONS.indexOf(nameOf(member?.[0]));
    const value: unknown = member?.[1];
    if (typeof value !== "object" || value === null) {
      const accepted = '{"index": {}} or {"create": {}}';
      throw new DoorBodyFault(`Malformed action/metadata line [${this.#lineNumber + 1}]: expected ${accepted}.`);
    }
    const { _index: index, _id: id } = value as { _index?: unknown; _id?: unknown };
    const action = actionOf(kind, textOf(index) ?? this.#index, textOf(id));
    const isRepeated = action.id === undefined && line.length <= ENVELOPE_LENGTH;
    if (isRepeated) {
      this.#lastLine = encoder.encode(line);
      this.#lastAction = action;
    }
    return action;
  }
}

function actionOf(kind: number, index: string | undefined, id: string | undefined): Action {
  const members = encoder.encode(JSON.stringify({ [INDEX]: index, [ID]: id }).slice(1, -1));
  const envelope = { ...EMPTY_ENVELOPE, members, ...(id !== undefined && { id: idOf({ kind, index }, id) }) };
  return { kind, index, id, envelope: members.length > ENVELOPE_LENGTH ? null : envelope };
}

/** An id is created once. `index` replaces a document, so that another document of that id is another record. */
function idOf({ kind, index = "" }: Pick<Action, "kind" | "index">, id: string): ClientId {
  return clientId("elasticsearch", `${ACTIONS[kind]}\n${index}\n${id}`, kind === INDEX_ACTION);
}

function nameOf(name: string | undefined): ActionName {
  // SAFETY: `indexOf` only compares; a name that is no action returns -1.
  return name as ActionName;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
