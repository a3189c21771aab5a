import { decodeBody } from "../../../src/logs/batch.ts";
import { INGEST_LIMITS } from "../../../src/logs/entry.ts";
import { parseExactly } from "../../../src/logs/ingest/exact-json.ts";
import type { IngestBody } from "../../../src/logs/ingest/ingest-body.ts";
import { readIngestBody } from "../../../src/logs/ingest/lines-reader.ts";
import type { IngestMediaType } from "../../../src/logs/ingest/parse-entries.ts";
import { EntryRejected, MaybeInexact } from "../../../src/logs/ingest/rejection.ts";
import { EntryValidator } from "../../../src/logs/ingest/validate.ts";
import { inOneTurn } from "../../../src/platform/turns.ts";

/** The result of a body: why it failed, or the stored lines and the rejected entries. */
export interface Verdict {
  failure: string | null;
  lines: string[];
  rejected: [number, string, string][];
}

/** The service's result for a body. */
export function verdictOf(bytes: Uint8Array, type: IngestMediaType, now: number): Verdict {
  return verdictOfBody(inOneTurn(readIngestBody(bytes, type, { now, oldest: null })));
}

export function verdictOfBody({ failure, batches, rejected }: IngestBody): Verdict {
  return {
    failure: failure && `${failure.reason}: ${failure.message}`,
    lines: batches.flatMap(({ encoding, body }) => Buffer.from(decodeBody(encoding, body)).toString().split("\n")),
    rejected: rejected.map(({ index, code, message }) => [index, code, message]),
  };
}

/** A direct implementation by one `JSON.parse` of the whole body. */
export function referenceVerdict(bytes: Uint8Array, type: IngestMediaType, now: number): Verdict {
  const values = valuesOf(bytes, type);
  if (typeof values === "string") return { failure: values, lines: [], rejected: [] };
  const lines: string[] = [];
  const rejected: [number, string, string][] = [];
  values.forEach(({ value, exact, size }, index) => {
    try {
      if (size > INGEST_LIMITS.entryBytes) {
        throw new EntryRejected("ENTRY_TOO_LARGE", `The entry is larger than ${INGEST_LIMITS.entryBytes} bytes.`);
      }
      if (value instanceof EntryRejected) throw value;
      lines.push(JSON.stringify(checked(value, exact, now)));
    } catch (error) {
      if (!(error instanceof EntryRejected)) throw error;
      if (rejected.length < INGEST_LIMITS.rejectedListed) rejected.push([index, error.code, error.message]);
    }
  });
  return { failure: null, lines, rejected };
}

function checked(value: unknown, exact: unknown, now: number) {
  try {
    return new EntryValidator(now).check(value).entry;
  } catch (error) {
    if (!(error instanceof MaybeInexact)) throw error;
    return new EntryValidator(now, true).check(exact).entry;
  }
}

interface Sent {
  value: unknown;
  exact: unknown;
  size: number;
}

function valuesOf(bytes: Uint8Array, type: IngestMediaType): Sent[] | string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return `invalid: ${isGzip ? "The body is gzip. Send it with Content-Encoding: gzip." : "The body is not valid UTF-8."}`;
  }
  const sent = type === "application/x-ndjson" ? linesOf(text) : elementsOf(text);
  if (typeof sent === "string") return `invalid: ${sent}`;
  if (sent.length === 0) return "invalid: The body has no entry.";
  const limit = type === "application/x-ndjson" ? INGEST_LIMITS.linesEntries : INGEST_LIMITS.entries;
  if (sent.length > limit) return `too_many: The body has more than ${limit} entries.`;
  return sent;
}

function linesOf(text: string): Sent[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const size = Buffer.byteLength(line.trim());
    try {
      return { value: JSON.parse(line), exact: parseExactly(line), size };
    } catch {
      const fault = new EntryRejected(
        "INVALID_ENTRY",
        /\}\s*\{/.test(line)
          ? "The line has several objects. NDJSON has one entry per line; curl keeps line breaks with --data-binary."
          : "The line is not valid JSON.",
      );
      return { value: fault, exact: fault, size };
    }
  });
}

function elementsOf(text: string): Sent[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text.trim() === "" ? "The body is empty." : "The body is not valid JSON.";
  }
  const exact = parseExactly(text);
  if (Array.isArray(value)) return sized(value, exact, text);
  if (typeof value !== "object" || value === null) {
    return "The body must be an entry, an array of entries or {logs: [...]}.";
  }
  if (!Object.hasOwn(value, "logs") || Object.hasOwn(value, "message")) {
    return [{ value, exact, size: Buffer.byteLength(text.trim()) }];
  }
  const { logs, ...others } = value as { logs: unknown };
  const [other] = Object.keys(others);
  if (other !== undefined) return `${other.slice(0, 64)}: a body with logs must have no other member.`;
  if (!Array.isArray(logs)) return "logs must be an array of entries.";
  return sized(logs, (exact as { logs: unknown }).logs, text);
}

/** Fuzzed elements of a list are too small to reach the size limit. */
function sized(values: unknown[], exact: unknown, text: string): Sent[] {
  if (text.length > INGEST_LIMITS.entryBytes) throw new Error("The reference does not measure elements.");
  return values.map((value, index) => ({ value, exact: (exact as unknown[])[index], size: 0 }));
}
