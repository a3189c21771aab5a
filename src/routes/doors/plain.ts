import { z } from "zod";
import { PlainDecoder } from "../../doors/plain.ts";
import type { Resource } from "../../http/resource.ts";
import { MAPPING_BOUNDS } from "../../keys/settings.ts";
import { INGEST_LIMITS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";
import { addDoor } from "./door.ts";

const names = z
  .string()
  .optional()
  .describe(
    `Names of members, separated by commas, at most ${MAPPING_BOUNDS.names}. They come before the usual names.`,
  );

const DESCRIPTION = [
  "For programs that cannot send the service's own entries: any JSON object is an entry. Accepts NDJSON, objects one after the",
  "other, an array, `{logs: [...]}`, and lines of text, which are messages, of any or no media type;",
  "`Content-Encoding: gzip`, `deflate` or `zstd`.",
  "Message, time, level, service, host and ids are read from the names that clients use; all other members are `data`.",
  "A time in seconds, milliseconds, microseconds or nanoseconds is recognized by its magnitude.",
  "Nothing that can be kept is rejected: `data._taffrail` says what was changed.",
  "The project is the key's. A key in the path or in the query (`?key=`) must have the scope `logs:write` only.",
  "Without an `Idempotency-Key`, a repeated body is stored once if its entries have times that are not all whole seconds.",
  `Limits: ${counted(INGEST_LIMITS.linesEntries)} entries, ${sized(INGEST_LIMITS.linesBodyBytes)} after decompression.`,
].join("\n");

const EXAMPLE_BODY = '{"time":1795183200.123,"severity":"WARNING","msg":"disk almost full","host":"web-1","free":12}\n';

const outcomeSchema = z.object({
  accepted: z.int().describe("Entries stored."),
  rejected: z.int().describe("Records that are no entries: `null`."),
  duplicate: z.boolean().describe("Whether an earlier request had stored the entries."),
});

/** Adds the door for JSON and text of any client. */
export function addPlainDoor(resource: Resource): void {
  addDoor(resource, {
    operation: "door.plain",
    paths: ["/ingest", "/ingest/k/:key"],
    summary: "Send JSON or text of any shape",
    description: DESCRIPTION,
    body: {
      "application/x-ndjson": { schema: z.string(), example: EXAMPLE_BODY },
      "application/json": { schema: z.array(z.looseObject({})), example: [{ msg: "disk almost full", level: 40 }] },
      "text/plain": { schema: z.string(), example: "disk almost full\n" },
    },
    query: z.object({ message: names, time: names, level: names }),
    status: 200,
    response: {
      "application/json": { schema: outcomeSchema, example: { accepted: 1, rejected: 0, duplicate: false } },
    },
    decoder: ({ entries, reader, mediaType }) => new PlainDecoder(entries, reader, mediaType),
    success: ({ accepted, rejectedIndexes, isDuplicate }) =>
      Response.json({ accepted, rejected: rejectedIndexes.length, duplicate: isDuplicate }),
    failure: ({ status, code, message, details }) =>
      Response.json({ error: { code, message, ...(details?.length ? { details } : {}) } }, { status }),
  });
}
