import type { Context } from "hono";
import { z } from "zod";
import { JSON_TYPE, PROTOBUF_TYPE, partialSuccess, statusMessage } from "../../doors/otlp/answers.ts";
import { LogsDecoder } from "../../doors/otlp/logs-decoder.ts";
import type { AppEnv } from "../../http/context.ts";
import { type ErrorCode, refuse } from "../../http/errors.ts";
import { mediaType, type Resource } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { countUnrouted } from "../guards/address.ts";
import { addDoor, answerLikeDoor, type Door, type DoorRefusal } from "./door.ts";

const PREFIXES = ["", "/otlp"];
/** Media types that clients use for protobuf. */
const PROTOBUF_TYPES: ReadonlySet<string> = new Set([
  PROTOBUF_TYPE,
  "application/protobuf",
  "application/octet-stream",
]);
/** Rejected records whose reasons a partial success names. */
const NAMED_REASONS = 3;

/** Codes of gRPC for those of the service: https://grpc.io/docs/guides/status-codes/ */
const INVALID_ARGUMENT = 3;
const GRPC_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  UNAUTHORIZED: 16,
  INVALID_API_KEY: 16,
  API_KEY_EXPIRED: 16,
  API_KEY_REVOKED: 16,
  INSUFFICIENT_SCOPE: 7,
  FORBIDDEN: 7,
  NOT_FOUND: 12,
  IDEMPOTENCY_CONFLICT: 6,
  RATE_LIMITED: 8,
  REQUEST_TIMEOUT: 14,
  SERVICE_UNAVAILABLE: 14,
  INTERNAL_ERROR: 14,
};

const DESCRIPTION = [
  "`ExportLogsServiceRequest` of OTLP/HTTP, as protobuf or JSON, with `Content-Encoding: gzip`, `deflate` or `zstd`.",
  "Set the endpoint of an OpenTelemetry SDK or Collector to the service's address, or to `/otlp` of it, and the header",
  "`Authorization: Bearer <key>`. The project is the key's.",
  "A body is read while it arrives; its records are visible together. Attributes are members of `data`, beside `resource`, `scope`",
  "and `otel`, which has what else a record says. A request without an `Idempotency-Key` that is repeated, as retries are, is",
  "stored once, if its records have times that are not all whole seconds.",
  `Limits: ${counted(INGEST_LIMITS.linesEntries)} records, ${sized(INGEST_LIMITS.linesBodyBytes)} after decompression.`,
].join("\n");

const EXAMPLE_REQUEST = {
  resourceLogs: [
    {
      resource: { attributes: [{ key: "service.name", value: { stringValue: "checkout" } }] },
      scopeLogs: [
        {
          scope: { name: "app" },
          logRecords: [
            {
              timeUnixNano: "1795183200123456789",
              severityNumber: 9,
              body: { stringValue: "order placed" },
              attributes: [{ key: "order.id", value: { stringValue: "o-7" } }],
            },
          ],
        },
      ],
    },
  ],
};

/** One record with the text "order placed". None of its bytes is above 127, so it is the same in UTF-8. */
const EXAMPLE_MESSAGE = "\n\u0014\u0012\u0012\u0012\u0010*\u000e\n\u000corder placed";

const requestSchema = z.object({ resourceLogs: z.array(z.looseObject({})).optional() });
const responseSchema = z.object({
  partialSuccess: z
    .object({
      rejectedLogRecords: z.string().describe("Number of records that are not stored."),
      errorMessage: z.string().describe("The first reasons."),
    })
    .optional(),
});
const bytesSchema = z.string().meta({ format: "binary" });

const failure = (refusal: DoorRefusal, c: Context<AppEnv>): Response => {
  const type = typeOf(mediaType(c.req.header("Content-Type"))) ?? JSON_TYPE;
  const { code, message } = refusal;
  const isPassing = code === "REQUEST_TIMEOUT" || refusal.status >= 500;
  // Exporters repeat 429, 502, 503 and 504 only.
  const status = isPassing ? 503 : refusal.status;
  return answer(type, statusMessage(type, GRPC_CODES[code] ?? INVALID_ARGUMENT, message), status);
};

const LOGS: Door<LogsDecoder> = {
  operation: "door.otlp",
  paths: PREFIXES.map((prefix) => `${prefix}/v1/logs`),
  summary: "Send logs by OTLP/HTTP",
  description: DESCRIPTION,
  body: {
    [JSON_TYPE]: { schema: requestSchema, example: EXAMPLE_REQUEST },
    [PROTOBUF_TYPE]: { schema: bytesSchema, example: EXAMPLE_MESSAGE },
  },
  status: 200,
  response: {
    [JSON_TYPE]: { schema: responseSchema, example: {} },
    [PROTOBUF_TYPE]: { schema: bytesSchema, example: "" },
  },
  decoder({ mediaType: sent, entries }) {
    const type = sent === "" ? null : typeOf(sent);
    if (type === undefined) return refuse("UNSUPPORTED_MEDIA_TYPE", `Send ${PROTOBUF_TYPE} or ${JSON_TYPE}.`);
    return new LogsDecoder(type, entries, entries.meter);
  },
  success({ rejected, rejectedIndexes }, { type }) {
    const reasons = rejected.slice(0, NAMED_REASONS).map(({ index, message }) => `record ${index}: ${message}`);
    return answer(type, partialSuccess(type, rejectedIndexes.length, reasons.join(" ")), 200);
  },
  failure,
};

/** Adds OTLP/HTTP for logs. Traces and metrics are refused for good, so that exporters do not repeat them. */
export function addOtlpDoor(resource: Resource): void {
  addDoor(resource, LOGS);
  for (const prefix of PREFIXES) {
    for (const signal of ["traces", "metrics"]) {
      resource.app.post(`${prefix}/v1/${signal}`, async (c) => {
        answerLikeDoor(c, LOGS);
        await countUnrouted(c);
        return refuse("NOT_FOUND", `This service stores logs only. Do not export ${signal} to it.`);
      });
    }
  }
}

/** The media type of an encoding; `undefined` if it is neither. */
function typeOf(sent: string): string | undefined {
  if (sent === JSON_TYPE) return JSON_TYPE;
  return PROTOBUF_TYPES.has(sent) ? PROTOBUF_TYPE : undefined;
}

function answer(type: string, body: Uint8Array<ArrayBuffer>, status: number): Response {
  // An empty body costs the runtime 30 us, none costs nothing. Both are sent as `Content-Length: 0`.
  return new Response(body.length === 0 ? null : body, { status, headers: { "Content-Type": type } });
}
