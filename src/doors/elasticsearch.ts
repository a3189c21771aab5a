import { INGEST_LIMITS } from "../logs/entry.ts";
import { startsWith } from "../logs/ingest/canonical-json.ts";
import type { Steps, TurnMeter } from "../platform/turns.ts";
import { DoorBodyFault, type DoorDecoder } from "./decoder.ts";
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

const ACTIONS = ["index", "create", "update", "delete"] as const;
type ActionName = (typeof ACTIONS)[number];
const INDEX_ACTION = ACTIONS.indexOf("index");
const UPDATE = ACTIONS.indexOf("update");
const DELETE = ACTIONS.indexOf("delete");

/** What became of an action. */
const STORED = 0;
const NOT_SUPPORTED = 1;
const NOT_AN_OBJECT = 2;
const INVALID_JSON = 3;
const MISSING = 4;
const ERRORS: readonly (readonly [type: string, reason: string])[] = [
  ["", ""],
  ["illegal_argument_exception", "Entries cannot be changed or deleted: use index or create."],
  ["document_parsing_exception", "The document is not a JSON object."],
  ["document_parsing_exception", "The document is not valid JSON."],
  ["illegal_argument_exception", "The action has no document."],
];
const STORED_BEFORE = "version conflict, document already exists: it is stored.";
/** Characters of an index name in the response. It is sent for every action, so that a long one would make it large. */
const INDEX_LENGTH = 64;
/** Characters of the longest id in the response, a SHA-256 in hexadecimal digits. The response is held whole. */
const ID_LENGTH = 64;
/** Memory of an item with an id, beside it. */
const ITEM_OVERHEAD = 100;
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

/** Consecutive actions of one kind with one index and one outcome. */
interface Run {
  kind: number;
  index: string;
  outcome: number;
  count: number;
  /** Of the only action. */
  id: string | null;
}

/** The actions of a request in their order, as its response lists them. */
export class BulkItems {
  readonly #runs: Run[] = [];
  #errors = 0;
  #count = 0;
  #idBytes = 0;

  /** Approximate bytes. */
  get held(): number {
    return this.#idBytes;
  }

  /** @param sentId returned unless it is long */
  add(kind: number, index: string, outcome: number, sentId?: string | undefined): void {
    // A request with more actions is refused.
    if (++this.#count > INGEST_LIMITS.linesEntries) return;
    if (outcome !== STORED) this.#errors++;
    const id = sentId === undefined || sentId.length > ID_LENGTH ? null : sentId;
    if (id !== null) this.#idBytes += 2 * id.length + ITEM_OVERHEAD;
    const last = this.#runs.at(-1);
    const isSame = last?.kind === kind && last.outcome === outcome && last.index === index;
    if (isSame && id === null && last.id === null) last.count++;
    else this.#runs.push({ kind, index, outcome, count: 1, id });
  }

  /**
   * The JSON of the response.
   * @param stored indexes of the actions whose documents were stored before, in order
   */
  toJson(stored: readonly number[]): string {
    const parts: string[] = [];
    let hasConflict = false;
    let first = 0;
    let next = 0;
    for (const run of this.#runs) {
      const item = runItem(run, itemOf(run.index, run.outcome, run.id));
      const end = first + run.count;
      for (; first < end; first++) {
        const isStored = stored[next] === first;
        if (isStored) next++;
        if (isStored && run.id !== null && run.kind !== INDEX_ACTION) hasConflict = true;
        parts.push(isStored ? runItem(run, storedItem(run)) : item);
      }
    }
    return `{"took":1,"errors":${this.#errors > 0 || hasConflict},"items":[${parts.join(",")}]}`;
  }
}

function runItem({ kind }: Run, item: Record<string, unknown>): string {
  return JSON.stringify({ [ACTIONS[kind] ?? ""]: item });
}

/** The item of a document that was stored before, as Elasticsearch answers a second `create` or `index` of an id. */
function storedItem({ kind, index, id, outcome }: Run): Record<string, unknown> {
  if (id === null) return itemOf(index, outcome, id);
  if (kind === INDEX_ACTION) return { _index: index, _id: id, status: 200, result: "updated" };
  const error = { type: "version_conflict_engine_exception", reason: STORED_BEFORE };
  return { _index: index, _id: id, status: 409, error };
}

function itemOf(index: string, outcome: number, id: string | null): Record<string, unknown> {
  const [type = "", reason = ""] = ERRORS[outcome] ?? [];
  if (outcome === STORED) return { _index: index, _id: id, status: 201, result: "created" };
  return { _index: index, _id: id, status: 400, error: { type, reason } };
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

  read(chunk: Uint8Array): Steps<void> {
    return this.#lines.read(chunk);
  }

  // biome-ignore lint/correctness/useYield: one line is left at most.
  *end(): Steps<void> {
    this.#lines.end();
    if (this.#action !== null) this.#reject(this.#action, MISSING);
    if (this.#lineNumber === 0) throw new DoorBodyFault("The bulk request has no action.");
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
