import { z } from "zod";
import { reject } from "./rejection.ts";

/** A timestamp in both forms it is needed in. */
export interface Timestamp {
  ms: number;
  iso: string;
}

const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A day of the years 1970 to 9999 that the calendar has. */
const DAY = [
  "(?=19[7-9]|[2-9])(?:",
  "\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))",
  "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29",
  ")",
].join("");
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{1,9})?)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d)?";

/**
 * ISO 8601 date, or date and time with optional fraction and zone; without a zone it is UTC. Published as it stands, so
 * that clients can tell what is a time.
 */
export const ISO_TIME = new RegExp(`^${DAY}(?:[Tt ]${TIME})?$`);
const ZONE = /([Zz]|[+-]\d\d:?\d\d)$/;

/** Epoch milliseconds of the last four-digit year's end, as the canonical form needs four digits. */
export const MAX_TIME_MS = Date.UTC(10_000, 0, 1) - 1;

/**
 * Reads timestamps of one request. Entries of a request lie close together, so the last second seen is remembered:
 * that replaces most calls of `Date.parse`, which cost more than the rest of an entry's checks together.
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
      // V8 rolls 30 February over into March and 24:00 into the next day: neither is a time that anybody meant.
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
  // `+0200` is ISO 8601's basic form; Date.parse wants the colon.
  text = text.replace(/([+-]\d\d)(\d\d)$/, (whole, hours, minutes) =>
    text.length > 10 ? `${hours}:${minutes}` : whole,
  );
  // A zone may carry the first and the last day out of the range. No entry can be there, so its end stands for it.
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

/** A time as requests give it, to epoch milliseconds. What is published is what decides. */
export const timeSchema = z
  .union([z.string().regex(ISO_TIME), z.int().min(0).max(MAX_TIME_MS)], {
    error: "Must be an ISO 8601 time or epoch milliseconds.",
  })
  .transform((value) => new TimestampReader().read(value).ms)
  .meta({ examples: ["2026-11-20T14:00:00.000Z", 1795183200000] });
