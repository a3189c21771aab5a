import { gunzipSync } from "node:zlib";

/** A body over its limit is read and thrown away up to this many bytes, so that the client gets to read the answer. */
const DRAIN_BYTES = 16 * 1024 * 1024;

export type BodyResult =
  | { ok: true; bytes: Uint8Array }
  | { ok: false; reason: "too_large" | "incomplete" | "bad_encoding" | "unknown_encoding" };

/** Reads a body of at most `limit` bytes; with `Content-Encoding: gzip` the limit is that of the inflated body. */
export async function readBody(request: Request, limit: number, gzip = false): Promise<BodyResult> {
  const encoding = request.headers.get("Content-Encoding")?.trim().toLowerCase() ?? "identity";
  let raw: Uint8Array | null;
  try {
    raw = await readRaw(request, limit);
  } catch {
    // A connection that ended early, or chunks that are none: the sender's doing, and no fault of ours.
    return { ok: false, reason: "incomplete" };
  }
  if (raw === null) return { ok: false, reason: "too_large" };
  if (encoding === "identity" || encoding === "") return { ok: true, bytes: raw };
  if (encoding !== "gzip" || !gzip) return { ok: false, reason: "unknown_encoding" };
  return inflate(raw, limit);
}

/**
 * Reads to the end, or to the drain limit, what no handler has read: an answer that comes before its request has been
 * read makes the server close the connection, and a client that is still sending sees a reset instead of the answer.
 */
export async function drainUnread(request: Request): Promise<void> {
  if (request.body === null || request.bodyUsed) return;
  try {
    await collect(request.body.getReader(), 0, DRAIN_BYTES);
  } catch {
    // The connection ended early: there is nobody to answer.
  }
}

/** What workerd's zlib says when the output would pass `maxOutputLength`; it sets no code. A test pins it. */
const OUTPUT_LIMIT_MESSAGE = "Memory limit exceeded";

/**
 * Inflates at one go, and stops at the limit: a small body that unpacks to gigabytes never does so here. (A
 * `DecompressionStream` inflates all it is handed before its reader sees a byte.)
 */
function inflate(raw: Uint8Array, limit: number): BodyResult {
  try {
    return { ok: true, bytes: new Uint8Array(gunzipSync(raw, { maxOutputLength: limit })) };
  } catch (error) {
    const tooLarge = error instanceof Error && error.message === OUTPUT_LIMIT_MESSAGE;
    return { ok: false, reason: tooLarge ? "too_large" : "bad_encoding" };
  }
}

/** The bytes as sent, or null when they are more than `limit`. */
async function readRaw(request: Request, limit: number): Promise<Uint8Array | null> {
  const length = Number(request.headers.get("Content-Length") ?? Number.NaN);
  if (length <= limit) return new Uint8Array(await request.arrayBuffer());
  return request.body ? collect(request.body.getReader(), limit, DRAIN_BYTES) : new Uint8Array(0);
}

/** Reads at most `limit` bytes; past them it reads on, keeping nothing, up to `drain`, and answers null. */
async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  drain: number,
): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return size > limit ? null : concat(chunks, size);
    size += value.byteLength;
    if (size <= limit) chunks.push(value);
    else chunks.length = 0;
    if (size > limit && size >= drain) {
      await reader.cancel();
      return null;
    }
  }
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const out = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.byteLength;
  }
  return out;
}
