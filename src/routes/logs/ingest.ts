import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import { readBody } from "../../http/body.ts";
import { type AppEnv, finishAfterDisconnect, noteLimit } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { ApiError, DISK_NEARLY_FULL, type ErrorCode, refuse } from "../../http/errors.ts";
import {
  bodyOrRefuse,
  idempotencyKeyHash,
  idempotencyKeySchema,
  MEMORY_RETRY_SECONDS,
  mediaType,
  type Resource,
  refuseForMemory,
} from "../../http/resource.ts";
import { acceptedKeys, type ParsedApiKey } from "../../keys/api-key.ts";
import { chargeMembers } from "../../limits/state.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import type { BuildResult } from "../../logs/ingest/build-batch.ts";
import { entriesSchema, receiptSchema } from "../../logs/ingest/entry-schema.ts";
import { readIngestBody } from "../../logs/ingest/ingest-body.ts";
import type { BodyFailure, IngestMediaType } from "../../logs/ingest/parse-entries.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import { inTurns, pause, TurnMeter } from "../../platform/turns.ts";
import { callWorkspace } from "../../rpc/call.ts";
import type { Idempotency, IngestResult } from "../../workspace/ingest.ts";
import { EXAMPLE } from "../examples.ts";
import { chargeOfKey, countIfRefused, refuseFailure, requireApiKey, requireLiveKey } from "../guards/workspace.ts";

const MEDIA_TYPES: ReadonlySet<string> = new Set<IngestMediaType>(["application/json", "application/x-ndjson"]);

/** Bytes up to which a body is read in less than a turn and with little additional memory. */
const PLAIN_BYTES = 256 * 1024;
/** Milliseconds for which a body waits for the memory of its batch. */
const MEMORY_WAIT_MS = 10_000;
/** Milliseconds between two calls of an object without room: doubled each time, 6 s in total. */
const ROOM_WAIT_MS = { first: 50, last: 3_200 } as const;

/**
 * Seconds after which a client may retry if a workspace's storage is full, which lasts until D1 accepts segments again.
 */
const STORAGE_RETRY_SECONDS = 60;

export function addIngest(logger: Resource): void {
  logger.route(
    {
      method: "POST",
      path: "/logger/:projectId/log",
      operation: "workspace.ingest",
      tag: "Logs",
      summary: "Send log entries",
      description: [
        "One entry, an array of entries, `{logs: [...]}`, or NDJSON; `Content-Encoding: gzip` is accepted.",
        "201 means that the entries are durable, and that every query that starts after the response returns them.",
        "Invalid entries are listed in `rejected` by index and do not affect the others. With an `Idempotency-Key`, a request may be repeated for 24 hours and is",
        "stored once.",
        `Limits: ${INGEST_LIMITS.bodyBytes} bytes a body after decompression, ${INGEST_LIMITS.entries} entries,`,
        `${INGEST_LIMITS.entryBytes} bytes and ${INGEST_LIMITS.entryValues} values (objects, arrays, scalars) an entry,`,
        `${INGEST_LIMITS.dataDepth} levels of nesting in \`data\`.`,
        "Members of an entry without a defined meaning are moved to `data`.",
      ].join("\n"),
      security: "apiKey",
      documentedBody: {
        "application/json": { schema: entriesSchema, example: EXAMPLE.entries },
        "application/x-ndjson": { schema: z.string().describe("One entry per line."), example: EXAMPLE.ndjson },
      },
      headers: { "Idempotency-Key": idempotencyKeySchema.describe("Makes a retry safe for 24 hours.") },
      status: 201,
      response: receiptSchema,
      errors: [
        "VALIDATION_ERROR",
        "UNAUTHORIZED",
        "INVALID_API_KEY",
        "API_KEY_EXPIRED",
        "API_KEY_REVOKED",
        "INSUFFICIENT_SCOPE",
        "NOT_FOUND",
        "IDEMPOTENCY_CONFLICT",
        "PAYLOAD_TOO_LARGE",
        "REQUEST_TIMEOUT",
        "UNSUPPORTED_MEDIA_TYPE",
        "RATE_LIMITED",
        "SERVICE_UNAVAILABLE",
      ],
    },
    [],
    ingest,
  );
}

async function ingest(c: Context<AppEnv>): Promise<Response> {
  const key = await requireApiKey(c);
  return finishAfterDisconnect(c, ingestAs(c, key));
}

async function ingestAs(c: Context<AppEnv>, key: ParsedApiKey): Promise<Response> {
  const projectId = c.req.param("projectId") ?? "";
  c.get("log").workspaceId = key.workspaceId;
  const received = await readRequest(c, key, projectId);
  try {
    return await store(c, key, projectId, received);
  } finally {
    detachBuffer(received.bytes);
    received.lease.release();
  }
}

async function store(
  c: Context<AppEnv>,
  key: ParsedApiKey,
  projectId: string,
  received: IngestRequest,
): Promise<Response> {
  const { idempotency } = received;
  const now = Date.now();
  const { units, failure, ...body } = await readEntries(received, now, null);
  const charge = chargeMembers(await chargeOfKey(c, key, "entries", units));
  let { built } = body;
  let oldest: number | null = null;
  const send = (): Promise<IngestResult> =>
    callWorkspace(c.env, key.workspaceId, idempotency ? "replay-safe" : "once", (stub) =>
      stub.ingest({ keyHash: key.hash, projectId, ...charge, idempotency, ...built, oldest }),
    );
  let result = await retryWhileFull(send);
  if (!result.ok && result.code === "TOO_OLD") {
    oldest = result.oldest;
    ({ built } = await readEntries(received, now, oldest));
    result = await retryWhileFull(send);
  }
  updateAcceptedKeys(key, result);
  return answer(c, result, failure, built);
}

/** Builds a batch of a body, in turns, and accounts for its memory. */
async function readEntries({ bytes, type, lease }: IngestRequest, now: number, oldest: number | null) {
  if (bytes.length > PLAIN_BYTES && !(await lease.grow(bytes.length + (bytes.length >> 1), MEMORY_WAIT_MS))) {
    return refuseForMemory();
  }
  const meter = new TurnMeter();
  const body = await inTurns(readIngestBody(bytes, type, { now, oldest }, meter), meter, () =>
    lease.resize(bytes.length + Math.max(meter.held, bytes.length >> 1)),
  );
  const { batch } = body.built;
  lease.resize(bytes.length + (batch === null ? 0 : batch.body.length + batch.summary.length));
  return body;
}

/** Repeats a call for which the commit queue had no room: nothing was stored then. */
async function retryWhileFull(send: () => Promise<IngestResult>): Promise<IngestResult> {
  for (let waitMs = ROOM_WAIT_MS.first; ; waitMs *= 2) {
    const result = await send();
    if (result.ok || result.code !== "SERVICE_UNAVAILABLE" || waitMs > ROOM_WAIT_MS.last) return result;
    await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())));
  }
}

/** Caches valid keys, so that the key of a large body need not be checked before the body is read. */
function updateAcceptedKeys({ hash }: ParsedApiKey, result: IngestResult): void {
  if (result.ok || ("limit" in result && result.limit !== null)) acceptedKeys.add(hash);
  else if (KEY_FAULTS.has(result.code)) acceptedKeys.delete(hash);
}

const KEY_FAULTS: ReadonlySet<string> = new Set<ErrorCode>(["INVALID_API_KEY", "API_KEY_EXPIRED", "API_KEY_REVOKED"]);

interface IngestRequest {
  bytes: Uint8Array;
  /** Covers the bytes, and the batch built of them. */
  lease: MemoryLease;
  type: IngestMediaType;
  idempotency: Idempotency | null;
}

/** Reads what the request carries. A request that cannot be read is counted, after faults of its key. */
async function readRequest(c: Context<AppEnv>, key: ParsedApiKey, projectId: string): Promise<IngestRequest> {
  const request = c.req.raw;
  const type = mediaType(request.headers.get("Content-Type"));
  const body = await readBody(request, INGEST_LIMITS.bodyBytes, {
    gzip: true,
    // A body may cost a thousand times what it costs to send, so its key must be valid.
    beforeLarge: async () => {
      if (acceptedKeys.has(key.hash)) return;
      await requireLiveKey(c, key);
      acceptedKeys.add(key.hash);
    },
  });
  const sender = {
    caller: { kind: "key", hash: key.hash },
    workspaceId: key.workspaceId,
    charge: () => chargeOfKey(c, key, "entries", 1),
  } as const;
  try {
    return await countIfRefused(c, sender, { scope: "logs:write", role: "owner", projectId }, async () => {
      if (!isIngestMediaType(type)) {
        return refuse("UNSUPPORTED_MEDIA_TYPE", "Send application/json or application/x-ndjson.");
      }
      const { bytes, lease } = bodyOrRefuse(body, INGEST_LIMITS.bodyBytes);
      return { bytes, lease, type, idempotency: await idempotencyOf(request.headers, type, bytes) };
    });
  } catch (error) {
    if (body.ok) body.lease.release();
    throw error;
  }
}

function isIngestMediaType(type: string): type is IngestMediaType {
  return MEDIA_TYPES.has(type);
}

/** Returns the hash of key and body; ends the request with 400 for an invalid `Idempotency-Key`. */
async function idempotencyOf(headers: Headers, type: IngestMediaType, bytes: Uint8Array): Promise<Idempotency | null> {
  const key = idempotencyKeyHash(headers);
  if (key === null) return null;
  const hash = createHash("sha256").update(`${type}\n`).update(bytes).digest();
  // Inflating and hashing a large body takes a turn.
  if (bytes.length > PLAIN_BYTES) await pause();
  return { key, body: hash };
}

async function answer(
  c: Context<AppEnv>,
  result: IngestResult,
  failure: BodyFailure | null,
  built: BuildResult,
): Promise<Response> {
  const fields = c.get("log");
  if (result.ok) {
    noteLimit(c, result.limit);
    const { accepted, rejectedCount, duplicate } = result.receipt;
    Object.assign(fields, { accepted, rejected: rejectedCount, duplicate });
    return success(result.receipt, c.get("requestId"), 201);
  }
  if (result.code === "TOO_OLD") throw new Error("A batch without its old entries was too old.");
  if (result.code === "SANDBOX_FULL") {
    const headers = { "Retry-After": String(Math.ceil(result.retryAfter / 1000)) };
    return refuse("SERVICE_UNAVAILABLE", "The sandbox cannot store more entries for now.", { headers });
  }
  if (result.code === "STORAGE_FULL") {
    noteLimit(c, result.limit);
    const headers = { "Retry-After": String(STORAGE_RETRY_SECONDS) };
    return refuse("SERVICE_UNAVAILABLE", "The workspace cannot store more entries for now.", { headers });
  }
  if (result.code === "DISK_FULL") {
    noteLimit(c, result.limit);
    throw new ApiError(DISK_NEARLY_FULL);
  }
  if (result.code === "SERVICE_UNAVAILABLE") {
    return refuse("SERVICE_UNAVAILABLE", result.message, { headers: { "Retry-After": MEMORY_RETRY_SECONDS } });
  }
  if (result.code !== "VALIDATION_ERROR") return refuseFailure(c, result);
  noteLimit(c, result.limit);
  fields.rejected = built.rejectedCount;
  if (failure === null) {
    return refuse("VALIDATION_ERROR", "The request has no valid entry.", { details: built.rejected });
  }
  const code = failure.reason === "too_many" ? "PAYLOAD_TOO_LARGE" : "VALIDATION_ERROR";
  return refuse(code, failure.message);
}
