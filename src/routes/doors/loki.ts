import { z } from "zod";
import { LokiJsonDecoder } from "../../doors/loki/json-push.ts";
import { LokiProtobufDecoder } from "../../doors/loki/protobuf-push.ts";
import type { Resource } from "../../http/resource.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { publicLimit } from "../guards/address.ts";
import { addDoor } from "./door.ts";

const DESCRIPTION = [
  "Loki's push, as JSON or as a Snappy block of protobuf (any media type but `application/json`).",
  "A line that is a JSON object is read as a record, any other line is the message. Labels are `data.labels`, structured metadata",
  "is `data.metadata`; a level, service, host or trace id among them is the entry's. `X-Scope-OrgID` is ignored: the project is the key's.",
  "204 means that the entries are durable and that every query returns them.",
  `Limits: ${counted(INGEST_LIMITS.linesEntries)} entries, ${sized(INGEST_LIMITS.linesBodyBytes)} after decompression.`,
].join("\n");

const EXAMPLE = {
  streams: [{ stream: { service_name: "shop", level: "warn" }, values: [["1795435200123456789", "payment was slow"]] }],
};

/** Adds the door of Loki's clients, and what they ask before they push. */
export function addLoki(resource: Resource): void {
  addDoor(resource, {
    operation: "door.loki",
    paths: ["/loki/api/v1/push"],
    summary: "Send entries like Loki",
    description: DESCRIPTION,
    body: {
      "application/json": { schema: z.looseObject({ streams: z.array(z.looseObject({})) }), example: EXAMPLE },
      "application/x-protobuf": { schema: z.string().describe("A Snappy block of `PushRequest`."), example: "" },
    },
    status: 204,
    response: {},
    ignoredEncoding: "snappy",
    decoder: ({ mediaType, entries, reader }) =>
      mediaType === "application/json"
        ? new LokiJsonDecoder(entries, reader, entries.meter)
        : new LokiProtobufDecoder(entries, reader, entries.meter, INGEST_LIMITS.linesBodyBytes),
    // As in Loki: 400 if an entry is not stored, after the others were.
    success: ({ rejected, rejectedIndexes, records }) => {
      const count = rejectedIndexes.length;
      if (count === 0) return new Response(null, { status: 204 });
      return text(`${count} of ${records} entries were not stored. ${rejected[0]?.message ?? ""}`, 400);
    },
    failure: ({ status, message }) => text(message, status),
  });
  resource.route(
    {
      method: "GET",
      path: "/ready",
      operation: "door.loki.ready",
      tag: "Doors",
      summary: "Answer the health check of Loki's clients",
      security: "none",
      status: 200,
      documentedResponse: { "text/plain": { schema: z.string(), example: "ready\n" } },
      errors: [],
      isForeign: true,
    },
    [publicLimit],
    () => text("ready", 200),
  );
}

function text(message: string, status: number): Response {
  return new Response(`${message}\n`, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
