import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import { readBody } from "../http/body.ts";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { ApiError, refuse } from "../http/errors.ts";
import { hasGoodIdempotencyKey, idempotencyKeyHash, idempotencyKeySchema } from "../http/idempotency-key.ts";
import { bodyOrRefuse, mediaType } from "../http/json.ts";
import type { Resource } from "../http/resource.ts";
import { DISK_NEARLY_FULL } from "../http/storage-refusal.ts";
import { isId } from "../ids.ts";
import type { ParsedApiKey } from "../keys/api-key.ts";
import { INGEST_LIMITS } from "../logs/entry.ts";
import type { BuiltBatch } from "../logs/ingest/build-batch.ts";
import { entriesSchema, receiptSchema } from "../logs/ingest/entry-schema.ts";
import { type IngestBody, readIngestBody } from "../logs/ingest/ingest-body.ts";
import type { BodyFailure, IngestMediaType } from "../logs/ingest/parse-entries.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { inTurns, WorkMeter } from "../platform/turns.ts";
import type { IngestResult } from "../workspace/ingest.ts";
import type { Idempotency } from "../workspace/receipts.ts";
import { countedRoute } from "./sandbox-budget.ts";
import { countRefusedKey, refuseDenied, requireApiKey } from "./workspace-guard.ts";

const MEDIA_TYPES: ReadonlySet<string> = new Set<IngestMediaType>(["application/json", "application/x-ndjson"]);

/** Seconds after which a client may try again where a workspace's storage is full: as soon as D1 takes entries again. */
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
        "201 means durable and found by every query that starts after the answer. A bad entry never costs a good one:",
        "it is named in `rejected` by its index. With an `Idempotency-Key` a request may be repeated for 24 hours and is",
        "stored once.",
        `Limits: ${INGEST_LIMITS.bodyBytes} bytes a body after decompression, ${INGEST_LIMITS.entries} entries,`,
        `${INGEST_LIMITS.entryBytes} bytes and ${INGEST_LIMITS.entryValues} values (objects, arrays, scalars) an entry,`,
        `${INGEST_LIMITS.dataDepth} levels of nesting in \`data\`.`,
        "Members of an entry that have no meaning of their own are kept in `data`.",
      ].join("\n"),
      security: "apiKey",
      documentedBody: {
        "application/json": entriesSchema,
        "application/x-ndjson": z.string().describe("One entry a line."),
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
  const projectId = c.req.param("projectId") ?? "";
  c.get("log").workspaceId = key.workspaceId;
  // Only what is an id: a key that was put there by mistake must not get into the lines.
  if (isId("proj", projectId)) c.get("log").projectId = projectId;
  const { bytes, type, idempotency } = await readRequest(c, key, projectId);
  const now = Date.now();
  const read = (oldest: number | null): Promise<IngestBody> => {
    const meter = new WorkMeter();
    return inTurns(readIngestBody(bytes, type, { now, oldest }, meter), meter);
  };
  const { units, failure, ...body } = await read(null);
  const route = await countedRoute(c, key, "entries", units);
  let { built } = body;
  let oldest: number | null = null;
  const send = (): Promise<IngestResult> =>
    callWorkspace(c.env, key.workspaceId, idempotency ? "replay-safe" : "once", (stub) =>
      stub.ingest({ keyHash: key.hash, projectId, route, idempotency, ...built, oldest }),
    );
  let result = await send();
  if (!result.ok && result.code === "TOO_OLD") {
    oldest = result.oldest;
    ({ built } = await read(oldest));
    result = await send();
  }
  return answer(c, result, failure, built);
}

interface IngestRequest {
  bytes: Uint8Array;
  type: IngestMediaType;
  idempotency: Idempotency | null;
}

/** What the request carries. One that cannot be read still counts, and the key's own faults are told first. */
async function readRequest(c: Context<AppEnv>, key: ParsedApiKey, projectId: string): Promise<IngestRequest> {
  const request = c.req.raw;
  const type = mediaType(request.headers.get("Content-Type"));
  const goodType = isIngestMediaType(type);
  const body = await readBody(request, INGEST_LIMITS.bodyBytes, true);
  if (body.ok && goodType && hasGoodIdempotencyKey(request.headers)) {
    return { bytes: body.bytes, type, idempotency: idempotencyOf(request.headers, type, body.bytes) };
  }
  const route = await countedRoute(c, key, "entries", 1);
  await countRefusedKey(c, key, { scope: "logs:write", role: "owner", projectId }, route);
  if (!goodType) refuse("UNSUPPORTED_MEDIA_TYPE", "Send application/json or application/x-ndjson.");
  const bytes = bodyOrRefuse(body, INGEST_LIMITS.bodyBytes);
  return { bytes, type, idempotency: idempotencyOf(request.headers, type, bytes) };
}

function isIngestMediaType(type: string): type is IngestMediaType {
  return MEDIA_TYPES.has(type);
}

/** Ends the request with 400 for an `Idempotency-Key` that is none. */
function idempotencyOf(headers: Headers, type: IngestMediaType, bytes: Uint8Array): Idempotency | null {
  const key = idempotencyKeyHash(headers);
  return key && { key, body: createHash("sha256").update(`${type}\n`).update(bytes).digest() };
}

async function answer(
  c: Context<AppEnv>,
  result: IngestResult,
  failure: BodyFailure | null,
  built: BuiltBatch,
): Promise<Response> {
  const fields = c.get("log");
  if (result.ok) {
    if (result.limit) c.set("limit", result.limit);
    const { accepted, rejectedCount, duplicate } = result.receipt;
    Object.assign(fields, { accepted, rejected: rejectedCount, duplicate });
    return success(result.receipt, c.get("requestId"), 201);
  }
  if (result.code === "TOO_OLD") throw new Error("A batch without its old entries was too old.");
  if (result.code === "SANDBOX_FULL") {
    const headers = { "Retry-After": String(Math.ceil(result.retryAfter / 1000)) };
    return refuse("SERVICE_UNAVAILABLE", "The sandbox has taken in all it can for now.", { headers });
  }
  if (result.code === "STORAGE_FULL") {
    if (result.limit) c.set("limit", result.limit);
    const headers = { "Retry-After": String(STORAGE_RETRY_SECONDS) };
    return refuse("SERVICE_UNAVAILABLE", "The workspace has taken in all it can for now.", { headers });
  }
  if (result.code === "DISK_FULL") {
    if (result.limit) c.set("limit", result.limit);
    throw new ApiError(DISK_NEARLY_FULL);
  }
  if (result.code !== "VALIDATION_ERROR") return refuseDenied(c, result);
  if (result.limit) c.set("limit", result.limit);
  fields.rejected = built.rejectedCount;
  if (failure === null) {
    return refuse("VALIDATION_ERROR", "The request holds no valid entry.", { details: built.rejected });
  }
  const code = failure.reason === "too_many" ? "PAYLOAD_TOO_LARGE" : "VALIDATION_ERROR";
  return refuse(code, failure.message);
}
