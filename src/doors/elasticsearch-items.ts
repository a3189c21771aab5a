import { INGEST_LIMITS } from "../logs/entry.ts";

/** The response to a request of `_bulk`. */

export const ACTIONS = ["index", "create", "update", "delete"] as const;
export type ActionName = (typeof ACTIONS)[number];
export const INDEX_ACTION = ACTIONS.indexOf("index");

/** What became of an action. */
export const STORED = 0;
export const NOT_SUPPORTED = 1;
export const NOT_AN_OBJECT = 2;
export const INVALID_JSON = 3;
export const MISSING = 4;
export const ERRORS: readonly (readonly [type: string, reason: string])[] = [
  ["", ""],
  ["illegal_argument_exception", "Entries cannot be changed or deleted: use index or create."],
  ["document_parsing_exception", "The document is not a JSON object."],
  ["document_parsing_exception", "The document is not valid JSON."],
  ["illegal_argument_exception", "The action has no document."],
];
/** Type of the errors with status 429. */
export const REFUSED = "es_rejected_execution_exception";
const STORED_BEFORE = "version conflict, document already exists: it is stored.";
/** Characters of an index name in the response. It is sent for every action, so that a long one would make it large. */
export const INDEX_LENGTH = 64;
/** Characters of the longest id in the response, a SHA-256 in hexadecimal digits. The response is held whole. */
const ID_LENGTH = 64;
/** Memory of an item with an id, beside it. */
const ITEM_OVERHEAD = 100;

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

  /** The JSON of a response of which every item is to be sent again. @param reason why nothing was stored */
  toRefusal(reason: string): string {
    const error = { type: REFUSED, reason };
    const parts = this.#runs.flatMap((run) => {
      const item = runItem(run, { _index: run.index, _id: run.id, status: 429, error });
      return new Array<string>(run.count).fill(item);
    });
    return `{"took":1,"errors":true,"items":[${parts.join(",")}]}`;
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
