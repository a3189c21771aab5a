import type { R2Bucket, R2Object } from "@cloudflare/workers-types";
import { settingsOf } from "../settings.ts";
import { type Backoff, delayOf, jittered } from "./backoff.ts";
import { BucketFailure, type BucketOperation } from "./bucket-failure.ts";
import { MemoryPool } from "./memory-pool.ts";
import { TimeLimit } from "./time-limit.ts";

/** Files in a bucket of R2, with its limits kept: connections, keys of a deletion, retries. */

/** The functions of the R2 binding that `BucketPort` calls. */
export type BucketBinding = Pick<R2Bucket, "head" | "get" | "put" | "delete" | "list">;

/** A file to store. */
export interface NewFile {
  key: string;
  bytes: Uint8Array;
  /** SHA-256 of `bytes`: 32 bytes, or 64 hexadecimal digits. R2 refuses other bytes. */
  sha256: Uint8Array<ArrayBuffer> | string;
  /** Media type. */
  type?: string;
}

export interface StoredFile {
  key: string;
  /** Bytes. */
  size: number;
  /** Epoch milliseconds. */
  storedAt: number;
}

/** Bytes of a file. */
export interface FileRange {
  key: string;
  /** First byte. */
  start: number;
  /** The byte after the last one; greater than `start`. */
  end: number;
}

export interface FileList {
  /** By key, as UTF-8. A page may be empty although more follow. */
  files: StoredFile[];
  /** Continues the list; `null` at its end. */
  cursor: string | null;
}

/**
 * A bucket. Every method throws `BucketFailure` after its last attempt. All may be repeated: a file never changes, because
 * its key contains the hash of its bytes.
 */
export interface Bucket {
  /**
   * Stores a file.
   * @param deadline epoch milliseconds after which no attempt begins. A cleanup must know when no file can arrive any longer
   * @returns `false` if the key is there already; its bytes stay
   */
  putNew(file: NewFile, deadline?: number): Promise<boolean>;
  /** @returns `null` if the file does not exist */
  head(key: string): Promise<StoredFile | null>;
  /**
   * Reads ranges of files. The caller reserves their memory, and merges neighbors: each range is one request to R2.
   * @returns the bytes of each range, in order; `null` if its file does not exist or ends before the range does
   */
  readRanges(ranges: readonly FileRange[]): Promise<(Uint8Array | null)[]>;
  /** Reads the last bytes of a file, or all of a shorter one. @returns `null` if the file does not exist or is empty */
  readTail(key: string, bytes: number): Promise<{ bytes: Uint8Array; size: number } | null>;
  /** Deletes files. Keys that do not exist are ignored. */
  delete(keys: readonly string[]): Promise<void>;
  /**
   * Lists up to 1,000 files whose keys begin with `prefix`.
   * @param after begins after this key, if `cursor` is `null`
   */
  list(prefix: string, cursor: string | null, after?: string): Promise<FileList>;
}

/** Simultaneous connections of an invocation: https://developers.cloudflare.com/workers/platform/limits/ */
export const MAX_CONNECTIONS = 6;
/** Keys of a call of `delete`: https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ */
const MAX_DELETED = 1000;
const LIST_PAGE = 1000;

/**
 * Delays between attempts. Their sum, at least 2.2 s, exceeds the second in which R2 accepts one write of a key: an attempt
 * whose response was lost makes the next ones fail with 429.
 */
const RETRY: Backoff = { firstMs: 400, maxMs: 1600 };
const ATTEMPTS = 5;
/** Milliseconds after which an attempt counts as failed. R2 takes 50 ms for a read and 100 ms for a write of a file. */
const ATTEMPT_MS = { head: 10_000, get: 10_000, list: 10_000, delete: 10_000, put: 30_000 };
/** Milliseconds that a request waits for a free connection. */
const CONNECTION_MS = 30_000;

// Module state: one instance per isolate, shared by all its requests and objects.
/** The connections of this isolate, one byte each. */
export const bucketConnections = new MemoryPool({ capacity: MAX_CONNECTIONS, maxWaiting: 1024 });

/** Code of R2 for a range that begins behind the end of the file: https://developers.cloudflare.com/r2/api/error-codes/ */
const INVALID_RANGE = 10039;

/** Time and randomness, for tests. */
export interface BucketTimer {
  wait(milliseconds: number): Promise<void>;
  random(): number;
  attemptMs: Readonly<Record<BucketOperation, number>>;
  /** `Date.now` unless given. */
  now?: () => number;
}

export const BUCKET_TIMER: BucketTimer = {
  wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: Math.random,
  attemptMs: ATTEMPT_MS,
};

/** A bucket of R2. */
export class R2Files implements Bucket {
  readonly #binding: BucketBinding;
  readonly #connections: MemoryPool;
  readonly #timer: BucketTimer;

  constructor(binding: BucketBinding, connections = bucketConnections, timer = BUCKET_TIMER) {
    this.#binding = binding;
    this.#connections = connections;
    this.#timer = timer;
  }

  async putNew(
    { key, bytes, sha256, type = "application/octet-stream" }: NewFile,
    deadline = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    const put = () =>
      this.#binding.put(key, bytes, {
        onlyIf: { etagDoesNotMatch: "*" },
        sha256,
        httpMetadata: { contentType: type },
      });
    return (await this.#attempt("put", put, deadline)) !== null;
  }

  async head(key: string): Promise<StoredFile | null> {
    const found = await this.#attempt("head", () => this.#binding.head(key));
    return found && storedFileOf(found);
  }

  async readRanges(ranges: readonly FileRange[]): Promise<(Uint8Array | null)[]> {
    const results: (Uint8Array | null)[] = ranges.map(() => null);
    const limit = this.#limitOf("get");
    let next = 0;
    let hasFailed = false;
    // Each lane reads one range after the other, so that a failure starts no further reads.
    const lane = async (): Promise<void> => {
      for (let at = next++; at < ranges.length && !hasFailed; at = next++) {
        const range = ranges[at];
        if (range === undefined) return;
        try {
          results[at] = await this.#readRange(range, limit);
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      }
    };
    const lanes = Array.from({ length: Math.min(MAX_CONNECTIONS, ranges.length) }, lane);
    // Waits for all lanes, so that no body of this call is open after it.
    const ends = await Promise.allSettled(lanes);
    limit.end();
    for (const ended of ends) if (ended.status === "rejected") throw ended.reason;
    return results;
  }

  async #readRange({ key, start, end }: FileRange, limit: TimeLimit): Promise<Uint8Array | null> {
    const length = end - start;
    const found = await this.#read(key, { offset: start, length }, limit);
    if (found === null || found.size < end) return null;
    if (found.bytes.byteLength !== length) throw new BucketFailure("get", "the body is too short", false);
    return found.bytes;
  }

  async readTail(key: string, bytes: number): Promise<{ bytes: Uint8Array; size: number } | null> {
    const limit = this.#limitOf("get");
    try {
      return await this.#read(key, { suffix: bytes }, limit);
    } finally {
      limit.end();
    }
  }

  /** Reads the body within the attempt, so that every opened body is read to its end. */
  async #read(key: string, range: { offset: number; length: number } | { suffix: number }, limit: TimeLimit) {
    const get = async () => {
      const found = await this.#binding.get(key, { range });
      return found && { bytes: new Uint8Array(await found.arrayBuffer()), size: found.size };
    };
    try {
      return await this.#attempts("get", get, limit);
    } catch (error) {
      if (error instanceof BucketFailure && error.code === INVALID_RANGE) return null;
      throw error;
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += MAX_DELETED) {
      await this.#attempt("delete", () => this.#binding.delete(keys.slice(at, at + MAX_DELETED)));
    }
  }

  async list(prefix: string, cursor: string | null, after = prefix): Promise<FileList> {
    const options = { prefix, limit: LIST_PAGE, ...(cursor === null ? { startAfter: after } : { cursor }) };
    const page = await this.#attempt("list", () => this.#binding.list(options));
    return { files: page.objects.map(storedFileOf), cursor: page.truncated ? page.cursor : null };
  }

  #limitOf(operation: BucketOperation): TimeLimit {
    const late = () => new BucketFailure(operation, "R2 did not respond in time", true);
    return new TimeLimit(this.#timer.attemptMs[operation], late);
  }

  async #attempt<T>(operation: BucketOperation, call: () => Promise<T>, deadline?: number): Promise<T> {
    const limit = this.#limitOf(operation);
    try {
      return await this.#attempts(operation, call, limit, deadline);
    } finally {
      limit.end();
    }
  }

  /** Calls R2 until it responds, and holds a connection during each attempt. */
  async #attempts<T>(
    operation: BucketOperation,
    call: () => Promise<T>,
    limit: TimeLimit,
    deadline = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const { now = Date.now } = this.#timer;
    for (let retries = 0; ; retries++) {
      const connection = await this.#connections.take(1, CONNECTION_MS);
      if (connection === null) throw new BucketFailure(operation, "all connections are in use", true);
      try {
        if (now() > deadline) {
          connection.release();
          throw new BucketFailure(operation, "the call is too late", false);
        }
        // The connection stays in use until the call ends.
        return await limit.run(call().finally(() => connection.release()));
      } catch (error) {
        const failure = BucketFailure.of(operation, error);
        if (!failure.isTransient || retries + 1 >= ATTEMPTS) throw failure;
      }
      await this.#timer.wait(jittered(delayOf(RETRY, retries), this.#timer.random));
    }
  }
}

function storedFileOf({ key, size, uploaded }: R2Object): StoredFile {
  return { key, size, storedAt: uploaded.getTime() };
}

/** The bindings of a worker with or without a bucket. */
export interface BucketBindings {
  BUCKET?: R2Bucket;
}

/** @returns the bucket of the deployment, to read and delete files; `null` if it has none */
export function bucketOf({ BUCKET }: BucketBindings): Bucket | null {
  return BUCKET === undefined ? null : new R2Files(BUCKET);
}

/** @returns the bucket for new files; `null` without one, and if `COLD_BUCKET` is off */
export function bucketForWrites(env: BucketBindings): Bucket | null {
  return settingsOf(env).COLD_BUCKET === "off" ? null : bucketOf(env);
}
