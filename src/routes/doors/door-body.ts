import type { Encoding } from "../../http/encodings.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";

export const ENCODINGS: readonly Encoding[] = ["gzip", "deflate", "zstd"];
/** The route whose limits hold for doors. The empty path is the one of the key's project. */
export const COUNTED_AS = { method: "POST", pattern: "/logger/:projectId/log", path: "" } as const;

/** Returns the request, without an encoding that means nothing in the protocol, or that an empty body has. */
export function withoutEncoding(raw: Request, ignoredEncoding: string | undefined): Request {
  const encoding = raw.headers.get("Content-Encoding")?.trim().toLowerCase();
  if (encoding === undefined) return raw;
  // A client that only checks the route may name an encoding and send nothing.
  const isEmpty = raw.headers.get("Content-Length") === "0";
  if (encoding !== ignoredEncoding && !isEmpty) return raw;
  const headers = new Headers(raw.headers);
  headers.delete("Content-Encoding");
  return new Request(raw, { headers });
}

/** Bytes that a decoder, and the entries that are not a batch yet, take at first. */
export const DECODING_BYTES = 512 * 1024;
/** Bytes of a body that is read while it arrives that are kept, so that it can be read again with other settings. */
const KEPT_BYTES = 512 * 1024;
/** The beginning of a body, until it is too large to be kept. */
export class KeptChunks {
  #chunks: Uint8Array[] = [];
  #held = 0;
  #isDropped = false;

  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  get held(): number {
    return this.#held;
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** Copies a chunk. @returns `false` if there is no room for it; `true` after `drop`, when nothing is kept */
  add(chunk: Uint8Array): boolean {
    if (this.#isDropped) return true;
    if (this.#held + chunk.length > KEPT_BYTES) return false;
    this.#chunks.push(new Uint8Array(chunk));
    this.#held += chunk.length;
    return true;
  }

  drop(): void {
    for (const chunk of this.#chunks) detachBuffer(chunk);
    this.#chunks = [];
    this.#held = 0;
    this.#isDropped = true;
  }
}
