import type { Context } from "hono";
import { z } from "zod";
import { HecEventDecoder, HecRawDecoder } from "../../doors/splunk.ts";
import type { AppEnv } from "../../http/context.ts";
import type { ErrorCode } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { publicLimit } from "../guards/address.ts";
import { addDoor, type DoorRefusal, type DoorRequest } from "./door.ts";
import { readerFor } from "./key-terms.ts";

const LIMITS = `Limits: ${counted(INGEST_LIMITS.linesEntries)} events, ${sized(INGEST_LIMITS.linesBodyBytes)} after decompression.`;
const EVENTS = [
  "Splunk's HTTP event collector: JSON objects one after the other. `event` is a text or an object, which is read as a record;",
  "`fields` are members of `data`, as are `source`, `sourcetype` and `index`. An object without `event` is the event.",
  "As in Splunk, an event that is not JSON is answered with 400 and its number, after the events before it were stored.",
  "Success means that the events are durable and that every query returns them, so there are no acknowledgements to ask for.",
  LIMITS,
].join("\n");
const RAW = ["Every line is an event. `host`, `source`, `sourcetype` and `index` may be in the query.", LIMITS].join(
  "\n",
);

const responseOf = (text: string, code: number) => ({
  "application/json": { schema: z.object({ text: z.string(), code: z.int() }), example: { text, code } },
});

const QUERY = ["host", "source", "sourcetype", "index"] as const;
const queryText = z.string().optional().describe("Of all events that do not have their own.");

/** Adds the door of Splunk's HTTP event collector. */
export function addSplunk(resource: Resource): void {
  const both = {
    query: z.object({ host: queryText, source: queryText, sourcetype: queryText, index: queryText }),
    status: 200,
    response: responseOf("Success", 0),
    failure,
  } as const;
  addDoor(resource, {
    ...both,
    operation: "door.splunk",
    paths: ["/services/collector", "/services/collector/event", "/services/collector/event/1.0"],
    summary: "Send events like Splunk HEC",
    description: EVENTS,
    body: {
      "application/json": {
        schema: z.looseObject({ event: z.unknown() }),
        example: { time: 1795435200.123, host: "web-1", event: { message: "payment was slow", severity: "WARN" } },
      },
    },
    decoder: (request) => new HecEventDecoder(...partsOf(request)),
    success: (_, { invalidEvent }) => {
      if (invalidEvent === null) return answer(200, "Success", 0);
      return answer(400, "Invalid data format", 6, { "invalid-event-number": invalidEvent });
    },
  });
  addDoor(resource, {
    ...both,
    operation: "door.splunk.raw",
    paths: ["/services/collector/raw", "/services/collector/raw/1.0"],
    summary: "Send lines like Splunk HEC",
    description: RAW,
    body: { "text/plain": { schema: z.string(), example: "payment was slow\n" } },
    decoder: (request) => new HecRawDecoder(...partsOf(request)),
    success: () => answer(200, "Success", 0),
  });
  for (const path of ["/services/collector/health", "/services/collector/health/1.0"]) {
    addFixed(resource, { method: "GET", path, summary: "Answer Splunk's health check", status: 200 }, () =>
      answer(200, "HEC is healthy", 17),
    );
  }
  const ack = "Refuse to list acknowledgements: a success says that events are stored";
  addFixed(
    resource,
    { method: "POST", path: "/services/collector/ack", summary: ack, status: 200, errors: ["VALIDATION_ERROR"] },
    () => answer(400, "ACK is disabled", 14),
  );
}

interface FixedRoute {
  method: "GET" | "POST";
  path: string;
  summary: string;
  status: 200;
  errors?: readonly ErrorCode[];
}

function addFixed(resource: Resource, route: FixedRoute, handler: (c: Context<AppEnv>) => Response): void {
  resource.route(
    {
      ...route,
      operation: "door.splunk.status",
      tag: "Doors",
      security: "none",
      documentedResponse: responseOf("HEC is healthy", 17),
      errors: route.errors ?? [],
      isForeign: true,
    },
    [publicLimit],
    handler,
  );
}

/** The query has values of events, not names of members. */
function partsOf({ entries, settings, query }: DoorRequest) {
  const defaults: Partial<Record<(typeof QUERY)[number], string>> = {};
  for (const name of QUERY) {
    const value = query.get(name);
    if (value) defaults[name] = value;
  }
  return [entries, readerFor(settings.mapping, NO_NAMES), entries.meter, defaults] as const;
}

const NO_NAMES = new URLSearchParams();

/** Splunk's statuses, texts and codes: https://help.splunk.com/en/data-management/collect-http-event-data/troubleshoot-http-event-collector */
const FAILURES: Readonly<Partial<Record<ErrorCode, readonly [status: number, text: string, code: number]>>> = {
  UNAUTHORIZED: [401, "Token is required", 2],
  INVALID_API_KEY: [403, "Invalid token", 4],
  API_KEY_EXPIRED: [403, "Token disabled", 1],
  API_KEY_REVOKED: [403, "Token disabled", 1],
  INSUFFICIENT_SCOPE: [403, "Invalid token", 4],
  PAYLOAD_TOO_LARGE: [413, "Request entity too large", 27],
  RATE_LIMITED: [429, "Server is busy", 9],
  SERVICE_UNAVAILABLE: [503, "Server is busy", 9],
};
const NO_DATA = "No data";

function failure({ status, code, message }: DoorRefusal): Response {
  const known = FAILURES[code];
  if (known) return answer(...known, { detail: message });
  if (message === NO_DATA) return answer(400, NO_DATA, 5);
  return status < 500
    ? answer(status, "Invalid data format", 6, { "invalid-event-number": 0, detail: message })
    : answer(status, "Internal server error", 8);
}

function answer(status: number, text: string, code: number, more: Record<string, unknown> = {}): Response {
  return Response.json({ text, code, ...more }, { status });
}
