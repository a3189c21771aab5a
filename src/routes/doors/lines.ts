import { z } from "zod";
import { gelfDecoder } from "../../doors/gelf.ts";
import { SentryDecoder, sentryEventDecoder } from "../../doors/sentry.ts";
import { SyslogDecoder } from "../../doors/syslog/decoder.ts";
import { utc, type Zone, zoneOf } from "../../doors/syslog/times.ts";
import { refuse } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { addDoor, type DoorRefusal } from "./door.ts";
import { keyOfEnvelope } from "./envelope-key.ts";
import { type Resumed, serveResumed } from "./resumed-upload.ts";

/** Heroku's syslog has no structured data. */
const LOGPLEX = "application/logplex-1";
const EMPTY = { "application/json": { schema: z.object({}), example: {} } };

const SYSLOG_LINE = '<165>1 2026-11-20T14:00:00.123456Z web-1 checkout 710 ID47 [order@32473 id="7"] Payment failed\n';
const HEROKU_FRAME = "71 <190>1 2026-11-20T14:00:00.123456+00:00 host app web.1 - Payment failed\n";
const GELF = { version: "1.1", host: "web-1", short_message: "Payment failed", level: 3, _order: 7 };
const LOG = { timestamp: 1795183200.123, level: "error", body: "Payment failed", attributes: { order: { value: 7 } } };
const ENVELOPE = `{}\n{"type":"log","item_count":1}\n${JSON.stringify({ items: [LOG] })}\n`;
const EVENT = { event_id: "fc6d8c0c43fc4630ad850ee518f1b9d0", message: "Payment failed", level: "error" };

/** Adds the doors of clients that send messages of syslog, of Graylog or of Sentry. */
export function addLineDoors(resource: Resource): void {
  addDoor(resource, {
    operation: "door.syslog",
    paths: ["/ingest/syslog"],
    summary: "Send syslog messages",
    description: [
      "Messages of RFC 5424 or RFC 3164, one a line or each behind its length (RFC 6587), as Heroku's log drains and the HTTP outputs",
      "of syslog-ng and rsyslog send them. `Logplex-Frame-Id` makes retries safe.",
    ].join("\n"),
    body: {
      "text/plain": { schema: z.string(), example: SYSLOG_LINE },
      [LOGPLEX]: { schema: z.string(), example: HEROKU_FRAME },
    },
    query: z.object({
      zone: z.string().optional().describe("Zone of local times: `+01:00` or `Europe/Berlin`. UTC by default."),
    }),
    status: 200,
    response: EMPTY,
    async before(c) {
      if (!RESUMING_AGENT.test(c.req.header("User-Agent") ?? "")) return null;
      if (c.req.header("Idempotency-Key") !== undefined) return null;
      await serveResumed(c, syslogNg(zoneOfQuery(c.req.query("zone"))));
      return Response.json({});
    },
    decoder({ mediaType, query, entries, reader }) {
      const zone = zoneOfQuery(query.get("zone") ?? "");
      const options = { now: entries.now, zone, hasStructuredData: mediaType !== LOGPLEX, records: reader };
      return new SyslogDecoder(entries, entries.meter, options);
    },
    // All attempts of a frame have the same id: https://devcenter.heroku.com/articles/log-drains#https-drains
    requestId: (c) => c.req.header("Logplex-Frame-Id") ?? null,
    success: () => Response.json({}),
    failure: asText,
  });

  addDoor(resource, {
    operation: "door.gelf",
    paths: ["/gelf", "/gelf/k/:key"],
    summary: "Send GELF messages",
    description:
      "One GELF message, or several in an array, in lines or one after the other, as clients of Graylog send them.",
    body: { "application/json": { schema: z.union([z.looseObject({}), z.array(z.looseObject({}))]), example: GELF } },
    status: 202,
    response: {},
    decoder: ({ entries, reader }) => gelfDecoder(entries, entries.meter, reader.mapping),
    success: () => new Response(null, { status: 202 }),
    failure: asText,
  });

  addDoor(resource, {
    operation: "door.sentry",
    paths: ["/api/:sentryProject/envelope", "/api/:sentryProject/envelope/"],
    summary: "Send a Sentry envelope",
    description: [
      "Logs and events (messages and exceptions) of Sentry's SDKs with the DSN `https://<key>@<host>/1`. What client reports say was",
      "dropped is in the ledger. Other items are ignored, and the number says nothing. The key is in `sentry_key` of the query or of",
      "`X-Sentry-Auth`, or in the `dsn` of the envelope's header; in the query and in the header it must have the scope `logs:write` only.",
    ].join("\n"),
    body: { "application/x-sentry-envelope": { schema: z.string(), example: ENVELOPE } },
    status: 200,
    response: EMPTY,
    decoder: ({ entries }) => new SentryDecoder(entries, entries.meter),
    keyInBody: keyOfEnvelope,
    drops: ({ drops }) => (Object.keys(drops).length > 0 ? drops : undefined),
    success: () => Response.json({}),
    failure: asDetail,
  });

  addDoor(resource, {
    operation: "door.sentry_event",
    paths: ["/api/:sentryProject/store", "/api/:sentryProject/store/"],
    summary: "Send a Sentry event",
    description: "One event, as older clients of Sentry send it.",
    body: { "application/json": { schema: z.looseObject({}), example: EVENT } },
    status: 200,
    response: EMPTY,
    decoder: ({ entries }) => sentryEventDecoder(entries, entries.meter),
    success: () => Response.json({}),
    failure: asDetail,
  });
}

/** `?zone=+01:00`, in which the plus sign is a space, or `?zone=Europe/Berlin`. */
function zoneOfQuery(name = ""): Zone {
  const zone = name === "" ? utc : zoneOf(name.replace(/^ /, "+"));
  if (zone !== null) return zone;
  return refuse("VALIDATION_ERROR", "zone must be an offset such as +01:00 or a name such as Europe/Berlin.");
}

/** A batch that was not acknowledged is made again of its messages and of those that arrived meanwhile. */
const RESUMING_AGENT = /^syslog-ng\b/;

function syslogNg(zone: Zone): Resumed {
  return {
    operation: "door.syslog",
    bodyBytes: INGEST_LIMITS.linesBodyBytes,
    decoder: (sink, meter, { reader, now }) =>
      new SyslogDecoder(sink, meter, { now, zone, hasStructuredData: true, records: reader }),
    idOf: null,
    beginsWithLast: false,
  };
}

/** For clients that read only the status. */
export function asText({ status, message }: DoorRefusal): Response {
  return new Response(`${message}\n`, { status });
}

/** As Sentry answers. */
function asDetail({ status, message }: DoorRefusal): Response {
  return Response.json({ detail: message }, { status });
}
