import type { Context } from "hono";
import { z } from "zod";
import { DatadogDecoder, type DatadogDefaults } from "../../doors/datadog.ts";
import { type AppEnv, finishAfterDisconnect } from "../../http/context.ts";
import type { Resource } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { requireLiveKey } from "../guards/workspace.ts";
import { addDoor, answerLikeDoor, type DoorRefusal, type DoorRequest } from "./door.ts";
import { requireDoorKey } from "./door-key.ts";
import { readerFor } from "./key-terms.ts";

const DESCRIPTION = [
  "Datadog's intake of logs: an array, one log, logs one after the other, or lines of text. `status` is the level, `service` and",
  "`hostname` are the entry's, `ddtags` becomes an object in `data`, and a message that is a JSON object is read as a record.",
  "`ddsource`, `ddtags`, `service` and `hostname` may be in the query. A key in the path or query must have the scope `logs:write` only.",
  "Success means that the logs are durable and that every query returns them.",
  `Limits: ${counted(INGEST_LIMITS.linesEntries)} logs, ${sized(INGEST_LIMITS.linesBodyBytes)} after decompression.`,
].join("\n");

const QUERY = ["ddsource", "ddtags", "service", "hostname"] as const;
const queryText = z.string().optional().describe("Of all logs that do not have their own.");
const EMPTY = { "application/json": { schema: z.strictObject({}), example: {} } };

/** Adds the door of Datadog's agents and libraries. */
export function addDatadog(resource: Resource): void {
  const intake = {
    description: DESCRIPTION,
    body: {
      "application/json": {
        schema: z.array(z.looseObject({ message: z.string() })),
        example: [
          { message: "payment was slow", status: "warn", service: "shop", ddtags: "env:prod", hostname: "web-1" },
        ],
      },
      "text/plain": { schema: z.string(), example: "payment was slow\n" },
    },
    query: z.object({ ddsource: queryText, ddtags: queryText, service: queryText, hostname: queryText }),
    response: EMPTY,
    decoder: newDecoder,
    failure,
  } as const;
  addDoor(resource, {
    ...intake,
    operation: "door.datadog",
    paths: ["/api/v2/logs"],
    summary: "Send logs like Datadog",
    status: 202,
    success: ({ accepted, rejected, rejectedIndexes }) => {
      if (accepted === 0 && rejectedIndexes.length > 0) return errors(400, rejected[0]?.message ?? "");
      return Response.json({}, { status: 202 });
    },
  });
  addDoor(resource, {
    ...intake,
    operation: "door.datadog.v1",
    paths: ["/v1/input", "/v1/input/:key"],
    summary: "Send logs like Datadog, first version",
    status: 200,
    success: () => Response.json({}),
  });
  resource.route(
    {
      method: "GET",
      path: "/api/v1/validate",
      operation: "door.datadog.validate",
      tag: "Doors",
      summary: "Check a key like Datadog",
      security: "apiKey",
      status: 200,
      documentedResponse: {
        "application/json": { schema: z.object({ valid: z.boolean() }), example: { valid: true } },
      },
      errors: ["INSUFFICIENT_SCOPE"],
      isForeign: true,
    },
    [],
    (c) => {
      answerLikeDoor(c, { failure });
      return finishAfterDisconnect(c, validate(c));
    },
  );
}

async function validate(c: Context<AppEnv>): Promise<Response> {
  await requireLiveKey(c, await requireDoorKey(c));
  return Response.json({ valid: true });
}

/** The query has values of logs, not names of members. */
function newDecoder({ entries, settings, query }: DoorRequest): DatadogDecoder {
  const defaults: Partial<Record<keyof DatadogDefaults, string>> = {};
  for (const name of QUERY) {
    const value = query.get(name);
    if (value) defaults[name] = value;
  }
  return new DatadogDecoder(entries, readerFor(settings.mapping, NO_NAMES), entries.meter, defaults);
}

const NO_NAMES = new URLSearchParams();

/** Datadog answers a key that it does not accept with 403. */
function failure({ status, message }: DoorRefusal): Response {
  return errors(status === 401 ? 403 : status, message);
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  408: "Request Timeout",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

function errors(status: number, detail: string): Response {
  const title = TITLES[status] ?? (status < 500 ? "Bad Request" : "Internal Server Error");
  return Response.json({ errors: [{ detail, status: String(status), title }] }, { status });
}
