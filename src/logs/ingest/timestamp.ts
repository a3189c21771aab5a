import { reject } from "./rejection.ts";

/** A timestamp in both forms it is needed in. */
export interface Timestamp {
  ms: number;
  iso: string;
}

const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** ISO 8601 date, or date and time (hours 00 to 23) with optional fraction and zone; without a zone it is UTC. */
const ISO = /^\d{4}-\d\d-\d\d(?:[Tt ](?:[01]\d|2[0-3]):\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?$/;
const ZONE = /([Zz]|[+-]\d\d:?\d\d)$/;

/** Epoch milliseconds that stay a four-digit year, as the canonical form needs. */
const MAX_MS = Date.UTC(9999, 11, 31);

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
      if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== second) return invalid();
      this.#second = second;
      this.#secondMs = ms;
    }
    const ms = this.#secondMs + Number(value.slice(20, 23));
    return { ms, iso: value };
  }
}

function fromText(value: string): Timestamp {
  if (!ISO.test(value)) return invalid();
  let text = value.toUpperCase().replace(" ", "T").replace(",", ".");
  if (text.length > 10 && !ZONE.test(text)) text += "Z";
  // `+0200` is ISO 8601's basic form; Date.parse wants the colon.
  text = text.replace(/([+-]\d\d)(\d\d)$/, (whole, hours, minutes) =>
    text.length > 10 ? `${hours}:${minutes}` : whole,
  );
  const day = text.slice(0, 10);
  const dayMs = Date.parse(`${day}T00:00:00.000Z`);
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return invalid();
  return fromMs(Date.parse(text));
}

function fromMs(value: number): Timestamp {
  if (!Number.isFinite(value) || value < 0 || value > MAX_MS) return invalid();
  const ms = Math.floor(value);
  return { ms, iso: new Date(ms).toISOString() };
}

function invalid(): never {
  return reject("INVALID_TIMESTAMP", "timestamp must be an ISO 8601 time or epoch milliseconds.");
}
