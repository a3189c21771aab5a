import type { Context } from "hono";
import { z } from "zod";
import { readBody } from "../../http/body.ts";
import { type AppEnv, finishAfterDisconnect, readInSession } from "../../http/context.ts";
import { streamedJson } from "../../http/envelope.ts";
import { ERROR_STATUS, refuse } from "../../http/errors.ts";
import { bodyOrRefuse, decodeUtf8, JSON_BODY_MAX_BYTES, mediaType, type Resource } from "../../http/resource.ts";
import { LogqlError } from "../../logql/error.ts";
import { LokiLimit, type LokiReading } from "../../logs/loki/reading.ts";
import { ScanPacer, SEARCH_BUDGET } from "../../logs/query/budget.ts";
import { toByteString } from "../../logs/query/case-folding.ts";
import { keyOfAuthorization } from "../doors/door-key.ts";
import {
  agentReader,
  countIfReadRefused,
  type Reader,
  readerOf,
  searchSource,
  withReadMemory,
} from "../logs/reader.ts";
import { InvalidParameter } from "./parameters.ts";

/** A route of Loki's read API. */
export interface LokiRoute {
  /** Below `/loki/api/v1`. */
  path: string;
  /** Dotted event name. */
  operation: string;
  summary: string;
  description?: string;
  parameters: z.ZodType;
  example: unknown;
  /** Parameters of a request, for the document. */
  request: Readonly<Record<string, string>>;
  /** Bytes of memory that a read begins with, as rows. */
  rows?: number;
  /** Validates a request before anything is read. @returns what reads, and makes the parts of the JSON answer */
  prepare(params: URLSearchParams, now: bigint, c: Context<AppEnv>): LokiRead;
}

export type LokiRead = (reading: LokiReading) => Promise<Iterable<string>>;

/** The route whose limits hold for reads. */
const COUNTED_AS = { method: "POST", pattern: "/logger/query", path: "/logger/query" } as const;
const ROWS = 2048;
const FORM = "application/x-www-form-urlencoded";
const TAG = "Loki";

/** Adds a route for GET, and for POST with a form. */
export function addLokiRoute(resource: Resource, route: LokiRoute): void {
  const { path, operation, summary, description, parameters, example, request } = route;
  const common = {
    path: `/loki/api/v1${path}`,
    operation,
    tag: TAG,
    ...(description === undefined ? {} : { description }),
    security: "either",
    status: 200,
    documentedResponse: { "application/json": { schema: z.looseObject({}), example } },
    errors: ["VALIDATION_ERROR", "FORBIDDEN", "INSUFFICIENT_SCOPE", "NOT_FOUND"],
    isForeign: true,
    answerLike: answerLikeLoki,
  } as const;
  resource.route({ ...common, method: "GET", summary, documentedQuery: parameters }, [], (c) => serve(c, route));
  resource.route(
    {
      ...common,
      method: "POST",
      summary: `${summary}, with a form`,
      documentedBody: { [FORM]: { schema: parameters, example: request } },
    },
    [],
    (c) => finishAfterDisconnect(c, serve(c, route)),
  );
}

/** Gives refusals the shape of Loki's: a text. */
export function answerLikeLoki(c: Context<AppEnv>): void {
  c.set("answerFailure", ({ code, message, headers = {} }) => {
    const status = ERROR_STATUS[code];
    const challenge = status === 401 ? { "WWW-Authenticate": 'Basic realm="taffrail", Bearer realm="taffrail"' } : {};
    const type = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
    return new Response(`${message}\n`, { status, headers: { ...type, ...challenge, ...headers } });
  });
}

/** Returns the reader by Bearer, or by the password of Basic. The request counts as `POST /logger/query`. */
export async function lokiReader(c: Context<AppEnv>): Promise<Reader> {
  answerLikeLoki(c);
  c.set("route", { ...COUNTED_AS, requestId: c.get("requestId") });
  const header = c.req.header("Authorization");
  const token = header === undefined ? null : (keyOfAuthorization(header) ?? null);
  return (token === null ? null : await agentReader(c, token)) ?? readerOf(c, token);
}

/** Runs a part of a request that reads its parameters. An invalid request is counted. */
export function checkedRead<T>(c: Context<AppEnv>, reader: Reader, read: () => T | Promise<T>): Promise<T> {
  const checked = () => countIfReadRefused(c, reader, null, () => refusing(read));
  return readInSession(c, checked);
}

async function serve(c: Context<AppEnv>, route: LokiRoute): Promise<Response> {
  const reader = await lokiReader(c);
  const now = BigInt(Date.now()) * 1_000_000n;
  const read = await checkedRead(c, reader, async () => route.prepare(await parametersOf(c), now, c));
  const source = searchSource(c, reader, null);
  return withReadMemory(
    c,
    route.rows ?? ROWS,
    async (memory) => {
      const pacer = new ScanPacer();
      const parts = await refusing(() => read({ source, budget: SEARCH_BUDGET, memory, pacer }));
      c.get("log").work = Math.round(pacer.meter.done);
      const texts = Array.from(parts, toByteString);
      return { data: texts.values(), bytes: texts.reduce((sum, { length }) => sum + length, 0) };
    },
    { send: streamedJson },
  );
}

/** Returns the parameters of the URL and of a form. */
export async function parametersOf(c: Context<AppEnv>): Promise<URLSearchParams> {
  const params = new URLSearchParams(new URL(c.req.url).search);
  if (c.req.method !== "POST") return params;
  const type = mediaType(c.req.header("Content-Type"));
  if (type !== FORM && type !== "") refuse("UNSUPPORTED_MEDIA_TYPE", `Send the parameters as Content-Type: ${FORM}.`);
  const body = await readBody(c.req.raw, JSON_BODY_MAX_BYTES);
  try {
    const form = decodeUtf8(bodyOrRefuse(body, JSON_BODY_MAX_BYTES).bytes);
    for (const [name, value] of new URLSearchParams(form)) params.append(name, value);
  } finally {
    if (body.ok) body.lease.release();
  }
  return params;
}

/** Runs a part of a request, and refuses it for an error of its query. */
export async function refusing<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof LogqlError || error instanceof LokiLimit || error instanceof InvalidParameter)
      return refuse("VALIDATION_ERROR", error.message);
    throw error;
  }
}
