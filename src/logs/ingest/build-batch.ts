import type { Batch } from "../batch.ts";
import { encodeBody } from "../codec.ts";
import { categoryBit, INGEST_LIMITS } from "../entry.ts";
import { IdCollector } from "../id-filter.ts";
import { SummaryBuilder } from "../summary.ts";
import { EntryRejected, MaybeInexact, type Rejection } from "./rejection.ts";
import { EntryValidator, type ValidEntry } from "./validate.ts";

/** What became of a request's entries. */
export interface BuiltBatch {
  /** Null when no entry is valid. */
  batch: Batch | null;
  /** The first 100 refused entries, in order. */
  rejected: Rejection[];
  /** How many entries were refused in all. */
  rejectedCount: number;
}

/** The entries of a request, parsed but not yet checked. An `Error` stands for an element that is not even JSON. */
export interface ParsedEntries {
  values: readonly unknown[];
  /** The same by `parseExactly`; only called when a value may have lost digits. */
  exactValues: () => readonly unknown[];
  /** Bytes of the whole body, decompressed. */
  bodyBytes: number;
  /** Bytes of each entry as sent; only called when the body is so large that an entry could be over its limit. */
  sizes: () => readonly number[];
}

export interface BuildOptions {
  /** Epoch milliseconds of the receipt. */
  now: number;
  /** Entries with an older timestamp are refused; the workspace object knows it and sends it back when it matters. */
  oldest: number | null;
}

/** Checks every entry and makes one batch of the good ones: a bad entry never costs a good one. */
export function buildBatch(parsed: ParsedEntries, options: BuildOptions): BuiltBatch {
  let checked = checkAll(parsed.values, options, false);
  if (checked.some((result) => result instanceof MaybeInexact)) checked = checkAll(parsed.exactValues(), options, true);
  refuseOversized(checked, parsed);
  const rejected: Rejection[] = [];
  let rejectedCount = 0;
  const valid: ValidEntry[] = [];
  checked.forEach((result, index) => {
    if (!(result instanceof EntryRejected)) valid.push(result);
    else if (++rejectedCount <= INGEST_LIMITS.rejectedListed) {
      rejected.push({ index, code: result.code, message: result.message });
    }
  });
  return { batch: valid.length === 0 ? null : pack(valid), rejected, rejectedCount };
}

type Checked = ValidEntry | EntryRejected;

function checkAll(values: readonly unknown[], { now, oldest }: BuildOptions, isExact: boolean): Checked[] {
  const validator = new EntryValidator(now, isExact);
  return values.map((value) => {
    try {
      if (value instanceof Error) return new EntryRejected("INVALID_ENTRY", value.message);
      const valid = validator.check(value);
      if (oldest === null || valid.ms >= oldest) return valid;
      return new EntryRejected("TIMESTAMP_TOO_OLD", "timestamp is older than the workspace's retention.");
    } catch (error) {
      if (error instanceof EntryRejected) return error;
      throw error;
    }
  });
}

/**
 * An entry may be as large as the body less the least the others can take. Only where that leaves room for an entry over
 * the limit are the real sizes measured, which costs a pass over the body.
 */
function refuseOversized(checked: Checked[], parsed: ParsedEntries): void {
  if (parsed.bodyBytes <= INGEST_LIMITS.entryBytes) return;
  let least = 0;
  let largest = 0;
  for (const result of checked) {
    if (result instanceof EntryRejected) continue;
    least += result.leastBytes;
    largest = Math.max(largest, result.leastBytes);
  }
  if (parsed.bodyBytes - least + largest <= INGEST_LIMITS.entryBytes) return;
  const sizes = parsed.sizes();
  checked.forEach((_, index) => {
    if ((sizes[index] ?? 0) <= INGEST_LIMITS.entryBytes) return;
    checked[index] = new EntryRejected(
      "ENTRY_TOO_LARGE",
      `The entry is larger than ${INGEST_LIMITS.entryBytes} bytes.`,
    );
  });
}

function pack(valid: readonly ValidEntry[]): Batch {
  const summary = new SummaryBuilder();
  const ids = new IdCollector();
  let minTimestamp = Number.POSITIVE_INFINITY;
  let maxTimestamp = Number.NEGATIVE_INFINITY;
  let levelMask = 0;
  let categoryMask = 0;
  let text = "";
  for (const { entry, ms, severity } of valid) {
    if (ms < minTimestamp) minTimestamp = ms;
    if (ms > maxTimestamp) maxTimestamp = ms;
    levelMask |= 1 << severity;
    categoryMask |= categoryBit(entry.category);
    summary.add(ms, severity, entry.category, entry.type);
    ids.addEntry(entry);
    text += text === "" ? JSON.stringify(entry) : `\n${JSON.stringify(entry)}`;
  }
  const raw = new TextEncoder().encode(text);
  return {
    count: valid.length,
    minTimestamp,
    maxTimestamp,
    levelMask,
    categoryMask,
    summary: summary.pack(ids.toFilter()),
    size: raw.length,
    ...encodeBody(raw),
  };
}
