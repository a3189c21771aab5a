import { createHash } from "node:crypto";
import type { R2Bucket } from "@cloudflare/workers-types";
import type { BucketBinding } from "../../../src/platform/bucket.ts";

/** A file as R2 returns it. */
function objectOf(key: string, bytes: Uint8Array, at: number) {
  const etag = createHash("md5").update(bytes).digest("hex");
  return { key, size: bytes.byteLength, uploaded: new Date(at), etag, httpEtag: `"${etag}"`, version: etag };
}

interface Range {
  offset?: number;
  length?: number;
  suffix?: number;
}

/** R2 in memory, for tests outside of workerd: conditional writes, digests, ranges, pages. Errors end with R2's codes. */
export class MemoryBucket {
  readonly files = new Map<string, { bytes: Uint8Array; at: number }>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** This bucket with the type of the binding. */
  get binding(): BucketBinding {
    // SAFETY: the methods have the parameters and results that `BucketBinding` is called with.
    return this as unknown as BucketBinding;
  }

  async head(key: string) {
    const file = this.files.get(key);
    return file ? objectOf(key, file.bytes, file.at) : null;
  }

  async get(key: string, { range }: { range?: Range } = {}) {
    const file = this.files.get(key);
    if (file === undefined) return null;
    const { size } = objectOf(key, file.bytes, file.at);
    const start = range?.suffix === undefined ? (range?.offset ?? 0) : Math.max(0, size - range.suffix);
    if (start >= size && size > 0) throw new Error("get: The requested range is not satisfiable (10039)");
    const bytes = file.bytes.slice(start, Math.min(size, start + (range?.length ?? size)));
    const body = new Blob([bytes]).stream();
    return { ...objectOf(key, file.bytes, file.at), body, arrayBuffer: async () => bytes.buffer };
  }

  async put(key: string, value: Uint8Array, options: Parameters<R2Bucket["put"]>[2] = {}) {
    const { sha256, onlyIf } = options;
    const bytes = new Uint8Array(value);
    const actual = createHash("sha256").update(bytes).digest("hex");
    // SAFETY: the port passes bytes or text.
    const wanted = typeof sha256 === "string" ? sha256 : sha256 && Buffer.from(sha256 as Uint8Array).toString("hex");
    if (wanted !== undefined && wanted !== actual) {
      throw new Error("put: The SHA-256 checksum you specified did not match what we received. (10037)");
    }
    const isNewOnly = onlyIf !== undefined && "etagDoesNotMatch" in onlyIf && onlyIf.etagDoesNotMatch === "*";
    if (isNewOnly && this.files.has(key)) return null;
    const at = this.#now();
    this.files.set(key, { bytes, at });
    return objectOf(key, bytes, at);
  }

  async delete(keys: string | string[]) {
    for (const key of [keys].flat()) this.files.delete(key);
  }

  async list(options: { prefix?: string; limit?: number; cursor?: string; startAfter?: string } = {}) {
    const { prefix = "", limit = 1000, cursor, startAfter = "" } = options;
    const keys = [...this.files.keys()].filter((key) => key.startsWith(prefix) && key > (cursor ?? startAfter)).sort();
    const page = keys.slice(0, limit);
    const objects = page.flatMap((key) => {
      const file = this.files.get(key);
      return file ? [objectOf(key, file.bytes, file.at)] : [];
    });
    const last = page.at(-1);
    return page.length < keys.length && last !== undefined
      ? { objects, truncated: true, cursor: last, delimitedPrefixes: [] }
      : { objects, truncated: false, delimitedPrefixes: [] };
  }
}
