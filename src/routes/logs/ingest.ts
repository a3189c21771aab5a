import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import { type BodyResult, readBody } from "../../http/body.ts";
import { BodyStream, openBody } from "../../http/body-stream.ts";
import { type AppEnv, finishAfterDisconnect } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import {
  bodyOrRefuse,
  idempotencyKeyHash,
  idempotencyKeySchema,
  mediaType,
  type Resource,
  refuseForMemory,
} from "../../http/resource.ts";
import { acceptedKeys, type ParsedApiKey } from "../../keys/api-key.ts";
import { bytesOf } from "../../logs/batch.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { entriesSchema, receiptSchema } from "../../logs/ingest/entry-schema.ts";
import type { IngestBody } from "../../logs/ingest/ingest-body.ts";
import { readIngestBody } from "../../logs/ingest/lines-reader.ts";
import type { IngestMediaType } from "../../logs/ingest/parse-entries.ts";
import { STREAM_HEADER } from "../../logs/ingest/stream-header.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { MemoryLease } from "../../platform/memory-pool.ts";
import { inTurns, pause, TurnMeter } from "../../platform/turns.ts";
import type { Idempotency } from "../../workspace/receipts.ts";
import { EXAMPLE } from "../examples.ts";
import { countIfRefused, requireApiKey, requireLiveKey } from "../guards/workspace.ts";
import { ingestStream } from "./ingest-stream.ts";
import { answerEntries, EntrySender } from "./send-entries.ts";

const MEDIA_TYPES: ReadonlySet<string> = new Set<IngestMediaType>(["application/json", "application/x-ndjson"]);
const LINES: IngestMediaType = "application/x-ndjson";

/** Bytes up to which a body is read in less than a turn and with little additional memory. */
const PLAIN_BYTES = 256 * 1024;
/** Milliseconds for which a body waits for the memory of its batch. */
const MEMORY_WAIT_MS = 10_000;

const LINES_DESCRIPTION = `One entry per line, at most ${counted(INGEST_LIMITS.linesEntries)}.`;

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
        `Limits: ${sized(INGEST_LIMITS.bodyBytes)} a JSON body after decompression, ${counted(INGEST_LIMITS.entries)} entries;`,
        `${sized(INGEST_LIMITS.linesBodyBytes)} and ${counted(INGEST_LIMITS.linesEntries)} entries as NDJSON, which is read while it arrives;`,
        `${sized(INGEST_LIMITS.entryBytes)} and ${counted(INGEST_LIMITS.entryValues)} values (objects, arrays, scalars) an entry,`,
        `${INGEST_LIMITS.dataDepth} levels of nesting in \`data\`.`,
        "Members of an entry without a defined meaning are moved to `data`.",
      ].join("\n"),
      security: "apiKey",
      documentedBody: {
        "application/json": { schema: entriesSchema, example: EXAMPLE.entries },
        "application/x-ndjson": { schema: z.string().describe(LINES_DESCRIPTION), example: EXAMPLE.ndjson },
      },
      headers: {
        "Idempotency-Key": idempotencyKeySchema.describe("Makes a retry safe for 24 hours."),
        [STREAM_HEADER]: z
          .string()
          .optional()
          .describe(
            "The numbers of the entries in the client's stream, for the ledger: `<name>;epoch=<ms>;first=<n>;count=<n>`, then drops by reason as `queue-full=<n>`. Any other text is ignored.",
          ),
      },
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
  const type = mediaType(c.req.header("Content-Type"));
  const options = {
    encodings: ["gzip"] as const,
    // A body may cost a thousand times what it costs to send, so its key must be valid.
    beforeLarge: async () => {
      if (acceptedKeys.has(key.hash)) return;
      await requireLiveKey(c, key);
      acceptedKeys.add(key.hash);
    },
  };
  const limit = type === LINES ? INGEST_LIMITS.linesBodyBytes : INGEST_LIMITS.bodyBytes;
  const body = await (type === LINES ? openBody : readBody)(c.req.raw, limit, options);
  const sender = new EntrySender(c, key, projectId);
  if (body instanceof BodyStream) return ingestStream(c, sender, body, type);
  const received = await readRequest(c, sender, body, { type, limit });
  try {
    return await store(c, sender, received);
  } finally {
    detachBuffer(received.bytes);
    received.lease.release();
  }
}

async function store(c: Context<AppEnv>, sender: EntrySender, received: IngestRequest): Promise<Response> {
  const { idempotency } = received;
  const now = Date.now();
  let body = await readEntries(received, now, null);
  let result = await sender.send(body, idempotency, null);
  if (!result.ok && result.code === "TOO_OLD") {
    const { oldest } = result;
    body = await readEntries(received, now, oldest);
    result = await sender.send(body, idempotency, oldest);
  }
  return answerEntries(c, result, body);
}

/** Builds the batches of a body, in turns, and accounts for their memory. */
async function readEntries(
  { bytes, type, lease }: IngestRequest,
  now: number,
  oldest: number | null,
): Promise<IngestBody> {
  if (bytes.length > PLAIN_BYTES && !(await lease.grow(bytes.length + (bytes.length >> 1), MEMORY_WAIT_MS))) {
    return refuseForMemory();
  }
  const meter = new TurnMeter();
  const body = await inTurns(readIngestBody(bytes, type, { now, oldest }, meter), meter, () =>
    lease.resize(bytes.length + Math.max(meter.held, bytes.length >> 1)),
  );
  lease.resize(bytes.length + bytesOf(body.batches));
  return body;
}

interface IngestRequest {
  bytes: Uint8Array;
  /** Covers the bytes, and the batches built of them. */
  lease: MemoryLease;
  type: IngestMediaType;
  idempotency: Idempotency | null;
}

/** Reads what the request carries. A request that cannot be read is counted, after faults of its key. */
async function readRequest(
  c: Context<AppEnv>,
  sender: EntrySender,
  body: BodyResult,
  { type, limit }: { type: string; limit: number },
): Promise<IngestRequest> {
  try {
    return await countIfRefused(c, sender.caller, sender.requirement, async () => {
      if (!isIngestMediaType(type)) {
        return refuse("UNSUPPORTED_MEDIA_TYPE", "Send application/json or application/x-ndjson.");
      }
      const { bytes, lease } = bodyOrRefuse(body, limit, ["gzip"]);
      return { bytes, lease, type, idempotency: await idempotencyOf(c.req.raw.headers, type, bytes) };
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
