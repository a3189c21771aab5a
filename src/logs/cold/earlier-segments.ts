// Named here, so that pure modules tested on Node may name it.
import type { D1Database } from "@cloudflare/workers-types";
import { SegmentStore } from "./store.ts";

/** What this isolate has found out about a directory: facts that no later write changes. */
interface Facts {
  /** No workspace has a segment there. */
  isEmpty: boolean;
  /** Workspaces without a segment there. */
  without: Set<string>;
}

/** Workspaces remembered at most: 60 bytes each. Beyond it all of them are asked for again. */
const MAX_REMEMBERED = 4096;

let facts = new WeakMap<D1Database, Facts>();

/**
 * The segments that earlier versions stored in the directory's database. Once the trigger `segments_closed` is there, none
 * is added, so "this workspace has none" stays true and is remembered; without the trigger nothing is.
 */
export class LegacySegments {
  readonly #db: D1Database;
  readonly #store: SegmentStore;
  readonly #facts: Facts;

  constructor(db: D1Database) {
    this.#db = db;
    this.#store = new SegmentStore(db);
    const known = facts.get(db) ?? { isEmpty: false, without: new Set() };
    facts.set(db, known);
    this.#facts = known;
  }

  /** The store to ask for a workspace's earlier segments; null where it has none. */
  async of(workspaceId: string): Promise<SegmentStore | null> {
    const { isEmpty, without } = this.#facts;
    if (isEmpty || without.has(workspaceId)) return null;
    const found = await this.#db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM segments WHERE workspace_id = ?) AS hasOwn, EXISTS (SELECT 1 FROM segments) AS hasAny,
           EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'segments_closed') AS isClosed`,
      )
      .bind(workspaceId)
      .first<{ hasOwn: number; hasAny: number; isClosed: number }>();
    if (found === null || found.hasOwn === 1) return this.#store;
    if (found.isClosed === 1) this.#remember(workspaceId, found.hasAny === 0);
    return null;
  }

  #remember(workspaceId: string, isEmpty: boolean): void {
    const known = this.#facts;
    known.isEmpty ||= isEmpty;
    if (known.without.size >= MAX_REMEMBERED) known.without.clear();
    known.without.add(workspaceId);
  }
}

/** For tests, which put segments where no version puts them any more. */
export function resetLegacySegmentCache(): void {
  facts = new WeakMap();
}
