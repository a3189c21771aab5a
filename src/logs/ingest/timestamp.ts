import { z } from "zod";
import { integerParameter } from "../../http/paging.ts";
import { reject } from "./rejection.ts";

/** A timestamp in the two forms that ingest needs. */
export interface Timestamp {
  ms: number;
  iso: string;
}

const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A valid calendar day of the years 1970 to 9999. */
const DAY = [
  "(?=19[7-9]|[2-9])(?:",
  "\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))",
  "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29",
  ")",
].join("");
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d)?";

/**
 * ISO 8601 date, or date and time with optional fraction and zone. Without a zone the time is UTC. The pattern is
 * published in OpenAPI, so that clients can validate times.
 */
export const ISO_TIME = new RegExp(`^${DAY}(?:[Tt ]${TIME})?$`);
const ZONE = /([Zz]|[+-]\d\d:?\d\d)$/;

/** Epoch milliseconds of the end of the year 9999. The canonical form has four digits for the year. */
export const MAX_TIME_MS = Date.UTC(10_000, 0, 1) - 1;

/**
 * Reads the timestamps of one request. Caches the last second, because entries of a request lie close together. The
 * cache replaces most calls of `Date.parse`, which cost more than all other checks of an entry.
 */
export class TimestampReader {
  #second = "";
  #secondMs = 0;

  /** @throws EntryRejected INVALID_TIMESTAMP */
  read(value: unknown): Timestamp {
    if (typeof value === "number") return fromMs(value);
    if (typeof value !== "string") return invalid();
    if (!CANONICAL.test(value)) return fromText(value);
    const second = value.slice(0, 19);
    if (second !== this.#second) {
      const ms = Date.parse(`${second}.000Z`);
      // V8 reads 30 February as a day of March, and 24:00 as the next day. Both are rejected.
      if (!(ms >= 0) || new Date(ms).toISOString().slice(0, 19) !== second) return invalid();
      this.#second = second;
      this.#secondMs = ms;
    }
    const ms = this.#secondMs + Number(value.slice(20, 23));
    return { ms, iso: value };
  }
}

function fromText(value: string): Timestamp {
  if (!ISO_TIME.test(value)) return invalid();
  let text = value.toUpperCase().replace(" ", "T").replace(",", ".");
  if (text.length > 10 && !ZONE.test(text)) text += "Z";
  // `+0200` is ISO 8601's basic form. `Date.parse` requires the colon.
  text = text.replace(/([+-]\d\d)(\d\d)$/, (whole, hours, minutes) =>
    text.length > 10 ? `${hours}:${minutes}` : whole,
  );
  // A zone may move the first and the last day out of the range. No entry has such a time, so the end of the range is
  // used.
  return fromMs(Math.min(Math.max(Date.parse(text), 0), MAX_TIME_MS));
}

function fromMs(value: number): Timestamp {
  if (!Number.isFinite(value) || value < 0 || value > MAX_TIME_MS) return invalid();
  const ms = Math.floor(value);
  return { ms, iso: new Date(ms).toISOString() };
}

function invalid(): never {
  return reject("INVALID_TIMESTAMP", "timestamp must be an ISO 8601 time or epoch milliseconds.");
}

const TIME_PROBLEM =
  "Must be an ISO 8601 time from 1970 on, such as 2026-11-20T14:00:00Z or 2026-11-20, or epoch milliseconds such as 1795183200000.";

/** Parses a time of a request to epoch milliseconds. The published pattern is the one that validates. */
export const timeSchema = z
  .union(
    [z.string().regex(ISO_TIME, TIME_PROBLEM), z.int(TIME_PROBLEM).min(0, TIME_PROBLEM).max(MAX_TIME_MS, TIME_PROBLEM)],
    {
      error: TIME_PROBLEM,
    },
  )
  .transform((value) => new TimestampReader().read(value).ms)
  .meta({ examples: ["2026-11-20T14:00:00.000Z", 1795183200000] });

/** Like `timeSchema`, in a query string: epoch milliseconds are decimal digits. */
export const timeParameter = z.union(
  [
    z
      .string()
      .regex(ISO_TIME, TIME_PROBLEM)
      .transform((value) => new TimestampReader().read(value).ms),
    integerParameter(0, MAX_TIME_MS),
  ],
  { error: TIME_PROBLEM },
);
