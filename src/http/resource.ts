import { createHash } from "node:crypto";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { z } from "zod";
import { isId } from "../ids.ts";
import { type BodyResult, readBody } from "./body.ts";
import { type AppEnv, finishAfterDisconnect, readInSession } from "./context.ts";
import type { Encoding } from "./encodings.ts";
import { ApiError, type ErrorCode, type ErrorDetail, type ErrorPlace, refuse, refuseFields } from "./errors.ts";

/** Maximum number of fields in one error, so that an invalid body does not cause a response many times its size. */
const DETAILS_MAX = 100;

/** Maximum bytes of a JSON body on every route but ingest. */
export const JSON_BODY_MAX_BYTES = 256 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Returns `application/json` from `application/json; charset=utf-8`; empty without a header. */
export function mediaType(header: string | null | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

const IDEMPOTENCY_KEY_MAX = 128;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,128}$/;

/** The header in the document of the API: 1 to 128 printable ASCII characters. */
export const idempotencyKeySchema = z.string().regex(IDEMPOTENCY_KEY);

/**
 * Returns the SHA-256 of a request's `Idempotency-Key`; `null` without one. Ends the request with 400 if it is invalid.
 */
export function idempotencyKeyHash(headers: Headers): Uint8Array | null {
  const key = headers.get("Idempotency-Key");
  if (key === null) return null;
  if (IDEMPOTENCY_KEY.test(key)) return Uint8Array.from(createHash("sha256").update(key).digest());
  const message = `must be 1 to ${IDEMPOTENCY_KEY_MAX} printable ASCII characters.`;
  const details = [{ path: "Idempotency-Key", code: "invalid_format", message }];
  return refuse("VALIDATION_ERROR", `Idempotency-Key ${message}`, { details });
}

/**
 * Reads and validates a JSON body; ends the request with 400, 408, 413, 415 or 503 if that fails.
 * @param parse throws a SyntaxError for invalid JSON
 */
export async function jsonBody<S extends z.ZodType>(
  request: Request,
  schema: S,
  parse: (text: string) => unknown = JSON.parse,
): Promise<z.output<S>> {
  return readJson(request, await readBody(request, JSON_BODY_MAX_BYTES), schema, parse);
}

/** Like `jsonBody`, for a body that may be absent or empty, which means an empty object. */
export async function optionalJsonBody<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> {
  if (request.body === null) return validated(schema, {});
  const body = await readBody(request, JSON_BODY_MAX_BYTES);
  if (!body.ok || body.bytes.byteLength > 0) return readJson(request, body, schema);
  body.lease.release();
  return validated(schema, {});
}

function readJson<S extends z.ZodType>(
  request: Request,
  body: BodyResult,
  schema: S,
  parse?: (text: string) => unknown,
): z.output<S> {
  try {
    if (mediaType(request.headers.get("Content-Type")) !== "application/json") {
      refuse("UNSUPPORTED_MEDIA_TYPE", "Send the body as Content-Type: application/json.");
    }
    return validated(schema, parseJson(decodeUtf8(bodyOrRefuse(body, JSON_BODY_MAX_BYTES).bytes), parse));
  } finally {
    if (body.ok) body.lease.release();
  }
}

/** `Retry-After` in seconds if no memory was free. */
export const MEMORY_RETRY_SECONDS = "5";

/** Ends the request with 503 after it has waited for memory that other requests hold. */
export function refuseForMemory(): never {
  const headers = { "Retry-After": MEMORY_RETRY_SECONDS };
  return refuse("SERVICE_UNAVAILABLE", "Too many large requests at once. Try again.", { headers });
}

/** @param encodings that are accepted, for the message */
export function bodyOrRefuse(
  body: BodyResult,
  limit: number,
  encodings: readonly Encoding[] = [],
): Extract<BodyResult, { ok: true }> {
  if (body.ok) return body;
  switch (body.reason) {
    case "too_large":
      return refuse("PAYLOAD_TOO_LARGE", `The body is larger than ${limit} bytes, as sent or after decompression.`);
    case "incomplete":
      return refuse("VALIDATION_ERROR", "The body ended early or is badly chunked.");
    case "bad_encoding":
      return refuse("VALIDATION_ERROR", "The body is not valid gzip. Compress it, or remove Content-Encoding.");
    case "unknown_encoding":
      return refuse("UNSUPPORTED_MEDIA_TYPE", unsupportedEncoding(encodings));
    case "idle":
      return refuse("REQUEST_TIMEOUT", "No byte of the body arrived for 30 seconds.");
    case "slow":
      return refuse("REQUEST_TIMEOUT", "The body arrives too slowly while other requests wait. Try again.");
    case "no_memory":
      return refuseForMemory();
  }
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuse("VALIDATION_ERROR", "The body is not valid UTF-8.");
  }
}

export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return refuse("VALIDATION_ERROR", text.trim() === "" ? "The body is empty." : "The body is not valid JSON.");
  }
}

export function validated<S extends z.ZodType>(schema: S, value: unknown, prefix = ""): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Only the first problem of a field is reported: later ones may follow from it.
  const byPath = new Map<string, ErrorDetail>();
  for (const detail of result.error.issues.flatMap((issue) => toDetails(issue, prefix))) {
    if (!byPath.has(detail.path)) byPath.set(detail.path, detail);
  }
  return refuseFields([...byPath.values()].slice(0, DETAILS_MAX));
}

/** Returns an issue as a detail. One in a part of a text has the place as its parameters. */
export function detailOf(issue: z.core.$ZodIssue, path: string): ErrorDetail {
  const place: ErrorPlace = issue.code === "custom" ? (issue.params ?? {}) : {};
  return { path, code: issue.code, message: issue.message, ...place };
}

/** Names an unknown member by its path; every other problem keeps the path of zod. */
function toDetails(issue: z.core.$ZodIssue, prefix: string): ErrorDetail[] {
  const path = [...(prefix ? [prefix] : []), ...issue.path.map(String)].join(".");
  if (issue.code !== "unrecognized_keys") return [detailOf(issue, path)];
  return issue.keys.map((key) => ({
    path: path ? `${path}.${key}` : key,
    code: "unrecognized_key",
    // A schema's own message names the members that it has.
    message: issue.message.startsWith("Unrecognized key") ? "Unknown member." : issue.message,
  }));
}

function unsupportedEncoding(accepted: readonly Encoding[]): string {
  const hint = accepted.length === 0 ? "Send the body without it." : `Send ${accepted.join(", ")}, or none.`;
  return `This Content-Encoding is not supported here. ${hint}`;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One route: its handling and its documentation in one place. */
export type RouteSpec = RouteFacts & RouteBody & RouteResponse;

/** A body as the OpenAPI document shows it. The example of a request is valid by the schema at any time, so it has no time. */
export interface DocumentedBody {
  schema: z.ZodType;
  example: unknown;
}

type RouteBody =
  | { body?: undefined; documentedBody?: undefined }
  /** `body` validates the body. */
  | { body: z.ZodType; example: unknown; documentedBody?: undefined }
  /** By media type, of a route that reads its body itself. */
  | { body?: undefined; documentedBody: Readonly<Record<string, DocumentedBody>> };

interface RouteFacts {
  method: Method;
  /** Hono pattern; parameters as `:projectId`. */
  path: string;
  /** Dotted event name of the route, e.g. `project.create`. */
  operation: string;
  tag: string;
  summary: string;
  description?: string;
  security: "none" | "accessToken" | "apiKey" | "either" | "agent" | "operatorToken";
  query?: z.ZodType;
  /** Parameters of a route that reads its query itself, for the OpenAPI document only. */
  documentedQuery?: z.ZodType;
  /** Request headers beyond the common ones, for the OpenAPI document: a description or a schema of each. */
  headers?: Readonly<Record<string, string | z.ZodType>>;
  /** 101: the response is a WebSocket. 302: it is a redirect. Neither has an envelope. */
  status: 101 | 200 | 201 | 202 | 204 | 302;
  /** Whether the route speaks the protocol of other clients: its errors have their shape, and pages of any origin may call it. */
  isForeign?: boolean;
  /** Gives refusals that shape. Called for a request of another method on the path. */
  answerLike?: (c: Context<AppEnv>) => void;
  errors: readonly ErrorCode[];
}

type RouteResponse =
  /** Schema of `data` in the envelope. */
  | { response: z.ZodType; documentedResponse?: undefined }
  /** By media type, of a route whose response has no envelope. */
  | { response?: undefined; documentedResponse: Readonly<Record<string, DocumentedBody>> };

type BodyOf<S extends RouteSpec> = S["body"] extends z.ZodType ? z.output<S["body"]> : undefined;
type QueryOf<S extends RouteSpec> = S["query"] extends z.ZodType ? z.output<S["query"]> : undefined;

export interface RouteInput<S extends RouteSpec> {
  body: BodyOf<S>;
  query: QueryOf<S>;
}

export type RouteHandler<S extends RouteSpec> = (
  c: Context<AppEnv>,
  input: RouteInput<S>,
) => Response | Promise<Response>;

/** The routes of one resource: a Hono app and the list that documents it. */
export interface Resource {
  readonly app: Hono<AppEnv>;
  readonly specs: readonly RouteSpec[];
  /** Registers a route. Guards run before the body is read, so their refusals never depend on the body. */
  route<const S extends RouteSpec>(
    spec: S,
    guards: readonly MiddlewareHandler<AppEnv>[],
    handler: RouteHandler<S>,
  ): void;
}

export function resource(): Resource {
  const app = new Hono<AppEnv>();
  const specs: RouteSpec[] = [];
  return {
    app,
    specs,
    route(spec, guards, handler) {
      specs.push(spec);
      const entry: MiddlewareHandler<AppEnv> = async (c, next) => {
        const requestId = c.get("requestId");
        c.set("route", { method: spec.method, pattern: spec.path, path: c.req.path, requestId });
        c.get("log").event = spec.operation;
        const projectId = c.req.param("projectId");
        // Logs only valid ids: a path may contain a secret by mistake.
        if (projectId !== undefined && isId("proj", projectId)) c.get("log").projectId = projectId;
        await next();
      };
      const readBody = isOptional(spec) ? optionalJsonBody : jsonBody;
      const handle = async (c: Context<AppEnv>): Promise<Response> => {
        const query = spec.query ? validated(spec.query, c.req.query(), "query") : undefined;
        const { body: schema } = spec;
        const read = () => (schema ? finishAfterDisconnect(c, readBody(c.req.raw, schema)) : undefined);
        const body = await readInSession(c, read);
        // SAFETY: `body` and `query` are the outputs of the schemas that `RouteInput` is inferred from.
        return handler(c, { body, query } as RouteInput<typeof spec>);
      };
      app.on(spec.method, spec.path, entry, ...guards, (c) =>
        c.get("admit") ? finishAfterDisconnect(c, admitIfRefused(c, handle)) : handle(c),
      );
    },
  };
}

/**
 * Runs a handler whose call to the workspace admits the request. If the request is refused before that call, it is
 * admitted and counted first: a fault of the caller (no membership, a missing role) is reported instead of the refusal.
 */
async function admitIfRefused(
  c: Context<AppEnv>,
  handle: (c: Context<AppEnv>) => Promise<Response>,
): Promise<Response> {
  let response: Response;
  try {
    response = await handle(c);
  } catch (error) {
    if (error instanceof ApiError) await c.get("admit")?.();
    throw error;
  }
  if (c.get("admit")) throw new Error(`${c.get("log").event} answers without having been admitted.`);
  return response;
}

/**
 * Whether the body may be absent, because all its members have a default or are optional. Never for PUT, which replaces
 * a value: a client that loses its body on the way must not replace the value by an empty one.
 */
export function isOptional({ method, body }: Pick<RouteSpec, "method" | "body">): boolean {
  return method !== "PUT" && body?.safeParse({}).success === true;
}
