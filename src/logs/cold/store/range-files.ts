import type { Bucket, NewFile } from "../../../platform/bucket.ts";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import {
  type CatalogFile,
  isForBucket,
  placeInBucket,
  placeInRow,
  releaseParts,
  releaseRow,
} from "../../segments/encode/encode-rows.ts";
import type { EncodedSegment } from "../format/segment.ts";
import type { ColdTier } from "./cold-tier.ts";

/** The files of a range on their way into the bucket. Every step may be repeated, by any number of writers. */
export class RangeFiles {
  /** The rows of the range, whose files are in the bucket or in their body. */
  readonly rows: readonly EncodedSegment[];
  readonly #bucket: Bucket | null;
  readonly #files: readonly NewFile[];

  /**
   * Frees the parts of the files.
   * @param bucket `null`: all files are in the rows
   */
  constructor(bucket: Bucket | null, workspaceId: string, files: readonly CatalogFile[]) {
    this.#bucket = bucket;
    const put: NewFile[] = [];
    this.rows = files.map((file) => {
      const { parts, sha256 } = file;
      const isPut = isForBucket(file, bucket !== null);
      const row = isPut ? placeInBucket(file, workspaceId) : placeInRow(file);
      if (isPut && row.file !== null) put.push({ key: row.file, bytes: Buffer.concat(parts), sha256 });
      releaseParts(file);
      return row;
    });
    this.#files = put;
  }

  /**
   * Puts the files in the bucket. Until a row names them, they are orphans.
   * @param now,deadline epoch milliseconds; no file is put after the deadline
   */
  async put(store: Pick<ColdTier, "noteFiles">, workspaceId: string, now: number, deadline: number): Promise<void> {
    const bucket = this.#bucket;
    if (bucket === null || this.#files.length === 0) return;
    await store.noteFiles(
      workspaceId,
      this.#files.map(({ key }) => key),
      now,
    );
    // One after the other: a range rarely has a second file, and other requests need connections, too.
    for (const file of this.#files) await bucket.putNew(file, deadline);
  }

  /** Bytes of the files and of their rows. */
  get bytes(): number {
    return this.rows.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  }

  /** Frees the bytes of the files and of their rows. */
  release(): void {
    for (const { bytes } of this.#files) detachBuffer(bytes);
    for (const row of this.rows) releaseRow(row);
  }

  /**
   * Puts those files again that rows name and the bucket does not have: an orphan may have been deleted between `put` and
   * its row.
   * @param keys of the files that the range's rows name, by this writer or another one
   * @param deadline epoch milliseconds after which no file is put
   * @returns whether the bucket has all of them
   */
  async confirm(keys: readonly string[], deadline: number): Promise<boolean> {
    const bucket = this.#bucket;
    for (const key of keys) {
      if (bucket === null) return false;
      if ((await bucket.head(key)) !== null) continue;
      const own = this.#files.find((file) => file.key === key);
      if (own === undefined) return false;
      await bucket.putNew(own, deadline);
    }
    return true;
  }
}
