import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { INGEST_LIMITS } from "../../../src/logs/entry.ts";
import type { IngestMediaType } from "../../../src/logs/ingest/parse-entries.ts";
import { verdictOf } from "./reference-ingest.ts";

const NOW = Date.UTC(2026, 10, 20);
const LIMIT = INGEST_LIMITS.entryBytes;
const bytes = (text: string) => new TextEncoder().encode(text);

/** Ways to make an entry exactly `size` bytes long, each with padding in another place. */
const PADDED: Record<string, (size: number) => string> = {
  message: (size) => fill(size, (pad) => `{"message":"${pad}"}`, "x"),
  escapes: (size) => fill(size, (pad) => `{"message":"m${pad}"}`, "\\u0041"),
  multibyte: (size) => fill(size, (pad) => `{"message":"m${pad}"}`, "漢"),
  data: (size) => fill(size, (pad) => `{"message":"m","data":{"a":"${pad}"}}`, "x"),
  folded: (size) => fill(size, (pad) => `{"message":"m","extra":"${pad}"}`, "x"),
  name: (size) => fill(size, (pad) => `{"message":"m","data":{"${pad}":1}}`, "x"),
  space: (size) => fill(size, (pad) => `{"message":"m"${pad}}`, " "),
  number: (size) => fill(size, (pad) => `{"message":"m","n":1.${pad}5}`, "0"),
  items: (size) => fill(size, (pad) => `{"message":"m","n":[0${pad}]}`, ",0.00000000001"),
};

function fill(size: number, make: (pad: string) => string, unit: string): string {
  const whole = Math.floor((size - Buffer.byteLength(make(""))) / Buffer.byteLength(unit));
  const text = make(unit.repeat(whole));
  // The remainder of a unit of several bytes becomes white space inside the braces.
  return text.slice(0, -1) + " ".repeat(size - Buffer.byteLength(text)) + text.slice(-1);
}

const FORMS: Record<string, { type: IngestMediaType; body: (entries: readonly string[]) => string }> = {
  array: { type: "application/json", body: (entries) => `[${entries.join(",")}]` },
  "spaced array": { type: "application/json", body: (entries) => ` [ ${entries.join(" ,\n ")} ]\r\n` },
  logs: { type: "application/json", body: (entries) => `{"logs":[${entries.join(",")}]}` },
  "logs twice": { type: "application/json", body: (entries) => `{"logs":[1],"logs" : [${entries.join(",")}]}` },
  ndjson: { type: "application/x-ndjson", body: (entries) => entries.join("\n") },
  "ndjson with CRLF": { type: "application/x-ndjson", body: (entries) => `${entries.join(" \r\n\r\n")}\r\n` },
};

/** The indexes of a body's stored entries, and why the others were rejected. */
function outcome(body: string, type: IngestMediaType): { count: number; rejected: [number, string][] } {
  const { failure, lines, rejected } = verdictOf(bytes(body), type, NOW);
  if (failure !== null) throw new Error(failure);
  return { count: lines.length, rejected: rejected.map(([index, code]) => [index, code]) };
}

describe("the size limit of an entry", () => {
  for (const [place, padded] of Object.entries(PADDED)) {
    test(`is exact for an entry alone, padded by ${place}`, () => {
      expect(Buffer.byteLength(padded(LIMIT))).toBe(LIMIT);
      expect(outcome(padded(LIMIT), "application/json")).toEqual({ count: 1, rejected: [] });
      // White space around an entry is not part of it.
      expect(outcome(`\n ${padded(LIMIT)}\n`, "application/json").count).toBe(1);
      expect(outcome(`\uFEFF${padded(LIMIT)}`, "application/json").count).toBe(1);
      expect(outcome(padded(LIMIT + 1), "application/json").rejected).toEqual([[0, "ENTRY_TOO_LARGE"]]);
    });
  }

  for (const [name, { type, body }] of Object.entries(FORMS)) {
    test(`is exact for any mix of entries, as ${name}`, () => {
      const size = fc.constantFrom(100, 5000, LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 5000);
      const entry = fc.tuple(fc.constantFrom(...Object.keys(PADDED)), size);
      fc.assert(
        fc.property(fc.array(entry, { minLength: 1, maxLength: 8 }), (sent) => {
          const texts = sent.map(([place, length]) => PADDED[place]?.(length) ?? "");
          const large = sent.flatMap(([, length], index) => (length > LIMIT ? [[index, "ENTRY_TOO_LARGE"]] : []));
          expect(outcome(body(texts), type)).toEqual({ count: sent.length - large.length, rejected: large });
        }),
        { numRuns: 40 },
      );
    });
  }
});
