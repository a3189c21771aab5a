import type { Context } from "hono";
import type { DoorDecoder } from "../../doors/decoder.ts";
import type { DoorEntries } from "../../doors/shared/door-entries.ts";
import type { RecordReader } from "../../doors/shared/record-reader.ts";
import { type AppEnv, finishAfterDisconnect } from "../../http/context.ts";
import { ERROR_STATUS, type ErrorCode, type Refusal } from "../../http/errors.ts";
import type { DocumentedBody, Method, Resource } from "../../http/resource.ts";
import type { KeySettings } from "../../keys/settings.ts";
import type { ClientDrops } from "../../logs/ingest/client-drops.ts";
import type { Rejection } from "../../logs/ingest/rejection.ts";
import type { KeyInBody } from "./door-key.ts";
import { serveDoor } from "./serve-door.ts";

/** What a decoder needs of a request. */
export interface DoorRequest {
  c: Context<AppEnv>;
  /** Media type in lower case without parameters; "" without one. */
  mediaType: string;
  query: URLSearchParams;
  /** Receives the records. Its `meter` counts the work of the decoder, too. */
  entries: DoorEntries;
  /** Reads records by the names of the query, of the key and by the usual ones. */
  reader: RecordReader;
  settings: KeySettings;
}

/** A request whose entries are stored. */
export interface DoorOutcome {
  /** Records in the body. */
  records: number;
  /** Records that are stored now, by this request or by an earlier one. */
  accepted: number;
  /** The first 100 rejected records, in order. */
  rejected: readonly Rejection[];
  /** Indexes of all rejected records, in order. */
  rejectedIndexes: readonly number[];
  /** Indexes of the records that were stored before, in order, if others of the request were not. */
  mergedIndexes: readonly number[];
  /** Whether earlier requests had stored the entries. */
  isDuplicate: boolean;
}

/** A request that is refused. */
export interface DoorRefusal extends Refusal {
  status: number;
}

/** A route in the protocol of another client. */
export interface Door<D extends DoorDecoder> {
  /** Dotted event name, e.g. `door.loki`. */
  operation: string;
  /** Hono patterns. A parameter `:key` is an API key; others belong to the content of the request. */
  paths: readonly string[];
  /** `POST` by default. */
  method?: Extract<Method, "POST" | "PUT">;
  summary: string;
  description: string;
  body: Readonly<Record<string, DocumentedBody>>;
  query?: Parameters<Resource["route"]>[0]["documentedQuery"];
  status: 200 | 201 | 202 | 204;
  response: Readonly<Record<string, DocumentedBody>>;
  /** A value of `Content-Encoding` that means nothing. */
  ignoredEncoding?: string;
  /** Answers a request that sends no entries, before its key is checked; `null` for every other. */
  before?(c: Context<AppEnv>): Response | null | Promise<Response | null>;
  /** @throws DoorBodyFault or ApiError for a request that is not of the protocol */
  decoder(request: DoorRequest): D;
  /** Returns the key of a request that has it in its body only, and the request with its whole body. */
  keyInBody?(request: Request): Promise<KeyInBody>;
  /** Returns an id that all attempts of a request share; `null` without one. */
  requestId?(c: Context<AppEnv>, decoder: D): string | null;
  /** Returns a hash of what all attempts of a request share; of the whole body by default. */
  contentHash?(decoder: D): Uint8Array;
  /** Returns what the client says it has dropped; `undefined` if it says nothing. */
  drops?(decoder: D): ClientDrops | undefined;
  /** Also for a request without records, and if all are rejected. */
  success(outcome: DoorOutcome, decoder: D, c: Context<AppEnv>): Response;
  /** Headers of the refusal, such as `Retry-After`, are added. */
  failure(refusal: DoorRefusal, c: Context<AppEnv>): Response;
}

/** Clients of OpenTelemetry give up at once if they are asked to wait longer. */
const MAX_RETRY_SECONDS = 5;

export const DOOR_ERRORS: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "INSUFFICIENT_SCOPE",
  "NOT_FOUND",
  "IDEMPOTENCY_CONFLICT",
  "PAYLOAD_TOO_LARGE",
  "REQUEST_TIMEOUT",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "SERVICE_UNAVAILABLE",
];

/** Adds the routes of a door, which count as `POST /logger/:projectId/log` of the key's project. */
export function addDoor<D extends DoorDecoder>(resource: Resource, door: Door<D>): void {
  for (const path of door.paths) {
    resource.route(
      {
        method: door.method ?? "POST",
        path,
        operation: door.operation,
        tag: "Doors",
        summary: door.summary,
        description: door.description,
        security: "apiKey",
        documentedBody: door.body,
        ...(door.query ? { documentedQuery: door.query } : {}),
        status: door.status,
        documentedResponse: door.response,
        errors: DOOR_ERRORS,
        isForeign: true,
        answerLike: (c) => answerLikeDoor(c, door),
      },
      [],
      (c) => {
        answerLikeDoor(c, door);
        return finishAfterDisconnect(c, serve(c, door, path));
      },
    );
  }
}

async function serve<D extends DoorDecoder>(c: Context<AppEnv>, door: Door<D>, path: string): Promise<Response> {
  return (await door.before?.(c)) ?? serveDoor(c, door, path);
}

/** Gives refusals of the request the shape of the protocol. Also for routes beside a door, such as its handshake. */
export function answerLikeDoor(c: Context<AppEnv>, door: Pick<Door<DoorDecoder>, "failure">): void {
  c.set("answerFailure", (refusal) => {
    const limit = c.get("limit");
    const maxMs = MAX_RETRY_SECONDS * 1000;
    if (limit?.admitted === false && limit.retryAfter > maxMs) c.set("limit", { ...limit, retryAfter: maxMs });
    const response = door.failure({ ...refusal, status: ERROR_STATUS[refusal.code] }, c);
    for (const [name, value] of Object.entries(refusal.headers ?? {})) response.headers.set(name, value);
    const seconds = Number(response.headers.get("Retry-After"));
    if (seconds > MAX_RETRY_SECONDS) response.headers.set("Retry-After", String(MAX_RETRY_SECONDS));
    return response;
  });
}
