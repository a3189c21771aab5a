import { z } from "zod";
import { ISO_TIME, MAX_TIME_MS, TimestampReader } from "./ingest/timestamp.ts";

/** A time as requests give it, to epoch milliseconds. What is published is what decides. */
export const timeSchema = z
  .union([z.string().regex(ISO_TIME), z.int().min(0).max(MAX_TIME_MS)], {
    error: "Must be an ISO 8601 time or epoch milliseconds.",
  })
  .transform((value) => new TimestampReader().read(value).ms)
  .meta({ examples: ["2026-11-20T14:00:00.000Z", 1795183200000] });
