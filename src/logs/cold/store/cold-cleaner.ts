import { type Bucket, bucketOf } from "../../../platform/bucket.ts";
import { filePrefix } from "../format/file-key.ts";
import { SegmentRemover } from "./remover.ts";
import { type ColdDatabases, coldDatabasesOf, LegacySegments } from "./sources.ts";

/** Bytes of a D1 database: https://developers.cloudflare.com/d1/platform/limits/ */
const DATABASE_BYTES = 10_000_000_000;
/** Share of them from which on the operator is told. */
const WARNING_SHARE = 0.7;

/** A bounded step of a deletion. */
export interface Deletion {
  /** Whether nothing was left to delete. If not, the caller repeats the step. */
  isDone: boolean;
}

/** Milliseconds after a compaction for which readers may still read the rows that it replaced. */
export const REPLACED_MS = 15 * 60 * 1000;
/**
 * Milliseconds for which an orphan stays in the bucket, so that a catalog that was restored to an earlier time finds its
 * files. Files of expired entries, and of deleted projects and workspaces, do not wait, and those of replaced segments wait until
 * their entries expire at most.
 */
export const ORPHAN_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Deletes what is left of the cold tier, in bounded steps: rows of the catalog, then their files. A file is deleted only while
 * no row names it. The workspace object runs no flush at the same time; the files of a compaction in progress are no due
 * orphans, because it has noted them just before.
 */
export class ColdCleaner {
  readonly #removers: SegmentRemover[];
  readonly #legacy: LegacySegments;
  readonly #bucket: Bucket | null;

  constructor(databases: ColdDatabases) {
    this.#removers = coldDatabasesOf(databases).map(({ db }) => new SegmentRemover(db, true));
    this.#legacy = new LegacySegments(databases.DB);
    this.#bucket = bucketOf(databases);
  }

  /**
   * Bytes of the last database of segments as of the last deletion, and their share of its limit. Earlier ones are full on
   * purpose.
   * @returns `null` below 70 %
   */
  get warning(): { databaseBytes: number; percent: number } | null {
    const databaseBytes = this.#removers.at(-1)?.databaseBytes ?? 0;
    const share = databaseBytes / DATABASE_BYTES;
    return share < WARNING_SHARE ? null : { databaseBytes, percent: Math.floor(share * 100) };
  }

  /** Deletes some of a project's segments, then its files, those that no row has ever named included. */
  async deleteOfProject(workspaceId: string, projectId: string): Promise<Deletion> {
    const { isDone } = await this.#delete(workspaceId, (remover) => remover.deleteOfProject(workspaceId, projectId));
    return isDone ? this.#deleteFiles(filePrefix(workspaceId, projectId)) : { isDone };
  }

  async deleteOfWorkspace(workspaceId: string): Promise<Deletion> {
    const { isDone } = await this.#delete(workspaceId, (remover) => remover.deleteOfWorkspace(workspaceId));
    return isDone ? this.#deleteFiles(filePrefix(workspaceId)) : { isDone };
  }

  /** Deletes some of a workspace's segments whose newest entry is older than `cutoff`, epoch milliseconds. */
  deleteOlder(workspaceId: string, cutoff: number): Promise<Deletion> {
    return this.#delete(workspaceId, (remover) => remover.deleteOlder(workspaceId, cutoff));
  }

  /**
   * Deletes some of a workspace's replaced segments and due orphans.
   * @param now epoch milliseconds
   * @param cutoff older entries have expired
   */
  async sweep(workspaceId: string, now: number, cutoff: number): Promise<Deletion> {
    const replacedBefore = now - REPLACED_MS;
    const expiryShift = now - cutoff - ORPHAN_MS;
    for (const remover of this.#removers) {
      if ((await remover.deleteReplaced(workspaceId, replacedBefore, now, expiryShift)) > 0) return { isDone: false };
      if (await this.#deleteOrphans(remover, workspaceId, now - ORPHAN_MS)) return { isDone: false };
    }
    return { isDone: true };
  }

  /** @returns whether it has found some */
  async #deleteOrphans(remover: SegmentRemover, workspaceId: string, before: number): Promise<boolean> {
    if (this.#bucket === null) return false;
    const due = await remover.dueOrphans(workspaceId, before);
    if (due.length === 0) return false;
    await this.#bucket.delete(due);
    await remover.forgetOrphans(due);
    return true;
  }

  /** Deletes some of the files below a prefix. */
  async #deleteFiles(prefix: string): Promise<Deletion> {
    if (this.#bucket === null) return { isDone: true };
    const { files, cursor } = await this.#bucket.list(prefix, null);
    const keys = files.map(({ key }) => key);
    if (keys.length > 0) {
      await this.#bucket.delete(keys);
      for (const remover of this.#removers) await remover.forgetOrphans(keys);
    }
    return { isDone: cursor === null };
  }

  async #delete(workspaceId: string, deleteSome: (remover: SegmentRemover) => Promise<number>): Promise<Deletion> {
    const legacy = await this.#legacy.of(workspaceId);
    const removers = legacy ? [new SegmentRemover(legacy.db, false), ...this.#removers] : this.#removers;
    for (const remover of removers) if ((await deleteSome(remover)) > 0) return { isDone: false };
    return { isDone: true };
  }
}
