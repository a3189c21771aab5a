import type { D1Database } from "@cloudflare/workers-types";
import type { BucketBindings } from "../../../platform/bucket.ts";
import { SegmentStore } from "./store.ts";
import { SegmentWriter } from "./writer.ts";

/** The segments of one database. */
export interface Segments {
  db: D1Database;
  store: SegmentStore;
  writer: SegmentWriter;
}

export function segmentsIn(db: D1Database): Segments {
  return { db, store: new SegmentStore(db), writer: new SegmentWriter(db) };
}

/** Facts about legacy segments that this isolate has read and that no later write changes. */
interface LegacyFacts {
  /** Whether no workspace has a legacy segment. */
  isEmpty: boolean;
  /** Workspaces without a legacy segment. */
  without: Set<string>;
}

/** Maximum number of cached workspaces, 60 bytes each. A full cache is cleared. */
const MAX_CACHED = 4096;

let legacyFacts = new WeakMap<D1Database, LegacyFacts>();

/**
 * The segments that versions before `COLD_DB` wrote to `DB`. The trigger `segments_closed` forbids inserts, so a workspace
 * without legacy segments stays without them and is cached. Without the trigger nothing is cached.
 */
export class LegacySegments {
  readonly #db: D1Database;
  readonly #segments: Segments;
  readonly #facts: LegacyFacts;

  constructor(db: D1Database) {
    this.#db = db;
    this.#segments = segmentsIn(db);
    const cached = legacyFacts.get(db) ?? { isEmpty: false, without: new Set() };
    legacyFacts.set(db, cached);
    this.#facts = cached;
  }

  /** @returns `null` if the workspace has no legacy segments */
  async of(workspaceId: string): Promise<Segments | null> {
    const { isEmpty, without } = this.#facts;
    if (isEmpty || without.has(workspaceId)) return null;
    const found = await this.#db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM segments WHERE workspace_id = ?) AS hasOwn, EXISTS (SELECT 1 FROM segments) AS hasAny,
           EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'segments_closed') AS isClosed`,
      )
      .bind(workspaceId)
      .first<{ hasOwn: number; hasAny: number; isClosed: number }>();
    if (found === null || found.hasOwn === 1) return this.#segments;
    if (found.isClosed === 1) this.#cache(workspaceId, found.hasAny === 0);
    return null;
  }

  #cache(workspaceId: string, isEmpty: boolean): void {
    const facts = this.#facts;
    facts.isEmpty ||= isEmpty;
    if (facts.without.size >= MAX_CACHED) facts.without.clear();
    facts.without.add(workspaceId);
  }
}

/** Clears the cache for tests, which insert legacy segments. */
export function resetLegacySegmentCache(): void {
  legacyFacts = new WeakMap();
  absences = new WeakMap();
}

/** Milliseconds for which a database without segments of a workspace is not asked again. */
const ABSENT_MS = 60_000;
/** When databases had no segments of workspaces. */
let absences = new WeakMap<D1Database, Map<string, number>>();

/**
 * Whether a database may have segments of a workspace whose object does not write to it: since a recovery. An absence is cached for a
 * minute.
 */
export async function hasSegments(db: D1Database, workspaceId: string): Promise<boolean> {
  const absent = absences.get(db) ?? new Map<string, number>();
  absences.set(db, absent);
  const now = Date.now();
  const since = absent.get(workspaceId);
  if (since !== undefined && now - since < ABSENT_MS) return false;
  const found = await db.prepare("SELECT 1 FROM segments WHERE workspace_id = ? LIMIT 1").bind(workspaceId).first();
  if (found !== null) {
    absent.delete(workspaceId);
    return true;
  }
  if (absent.size >= MAX_CACHED) absent.clear();
  absent.set(workspaceId, now);
  return false;
}

/** Databases of segments that a deployment may have: `COLD_DB`, `COLD_DB_2` ... `COLD_DB_9`. */
const MAX_DATABASES = 9;
export const FIRST_DATABASE = "COLD_DB";

export interface ColdDatabase {
  /** Of its binding. */
  name: string;
  db: D1Database;
}

/** Returns the bound databases of segments, in the order in which they are filled. */
export function coldDatabasesOf(databases: ColdDatabases): ColdDatabase[] {
  const found: ColdDatabase[] = [{ name: FIRST_DATABASE, db: databases.COLD_DB }];
  for (let number = 2; number <= MAX_DATABASES; number++) {
    const name = `${FIRST_DATABASE}_${number}`;
    const db: unknown = Reflect.get(databases, name);
    // SAFETY: bindings of these names are D1 databases.
    if (db !== undefined) found.push({ name, db: db as D1Database });
  }
  return found;
}

/** The bindings of the databases that hold segments, and of the bucket with their files. */
export interface ColdDatabases extends BucketBindings {
  /** The directory. It holds legacy segments; none are added. */
  DB: D1Database;
  COLD_DB: D1Database;
  // Further ones: `coldDatabasesOf`.
}
