import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { DoorDecoder } from "../../doors/decoder.ts";
import type { AppEnv } from "../../http/context.ts";
import { idempotencyKeyHash } from "../../http/resource.ts";
import type { Idempotency } from "../../workspace/receipts.ts";
import type { Door } from "./door.ts";
import type { Reading } from "./reading.ts";

export interface DoorIdempotency {
  idempotency: Idempotency | null;
  /** Whether the key was made from the request's content. */
  isDerived: boolean;
}

/** What is sent. */
export interface SentContent {
  /** Hash of decompressed body, media type, path and query. */
  digest: Uint8Array;
  /** Whether a request with another body had the id that all attempts of a request share. */
  isIdTaken: boolean;
}

const NONE: DoorIdempotency = { idempotency: null, isDerived: false };

/**
 * Returns the idempotency key that the client sent, or else one of the request's content if a repetition must be a retry.
 * Ends the request with 400 if the client's key is invalid.
 */
export function idempotencyOf<D extends DoorDecoder>(
  c: Context<AppEnv>,
  door: Door<D>,
  { decoder, entries, terms }: Reading<D>,
  { digest, isIdTaken }: SentContent,
): DoorIdempotency {
  const sent = idempotencyKeyHash(c.req.raw.headers);
  if (sent !== null) return { idempotency: { key: sent, body: digest }, isDerived: false };
  const { dedupe } = terms.settings;
  if (dedupe === "never") return NONE;
  const id = door.requestId?.(c, decoder) ?? null;
  if (id !== null) {
    const body = door.contentHash?.(decoder) ?? digest;
    const hash = createHash("sha256").update(`door-id\n${door.operation}\n${id}`);
    // A body under an id that another body has had is stored, too: of the two keys, this one is its own.
    if (isIdTaken) hash.update("\n").update(body);
    return { idempotency: { key: Uint8Array.from(hash.digest()), body }, isDerived: true };
  }
  if (!entries.isRepeatRetry && dedupe !== "always") return NONE;
  return { idempotency: { key: digest, body: digest }, isDerived: true };
}
