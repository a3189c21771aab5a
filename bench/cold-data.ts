import type { z } from "zod";
import type { DecodedBatch } from "../src/logs/cold/format/lines.ts";
import type { Filters } from "../src/logs/query/schema.ts";
import { entryAt } from "./entries.ts";

/** Entries of one flush. */
export interface ColdFill {
  projectId: string;
  firstSeq: number;
  count: number;
  /** Entries of a batch. */
  batch: number;
  /** Epoch milliseconds of the first entry, and milliseconds between two entries. */
  start: number;
  step: number;
}

/** A read to be timed. */
export interface ColdRun {
  action: "find" | "levels" | "scan" | "tail" | "usage";
  runs: number;
  projects: string[];
  filters: z.output<typeof Filters>;
  limit: number;
  order: "asc" | "desc";
}

export const RARE_TRACE = "00112233445566778899aabbccddeeff";
export const RARE_TEXT = "stormglasspetrel";

/** Batches of bench entries. The 4,200th entry of a project has a unique trace and a unique word. */
export function* coldBatches({ firstSeq, count, batch, start, step }: ColdFill): Generator<DecodedBatch> {
  for (let at = firstSeq; at < firstSeq + count; at += batch) {
    const size = Math.min(batch, firstSeq + count - at);
    const lines = Array.from({ length: size }, (_, index) => {
      const seq = at + index;
      const entry = entryAt(seq, Math.floor(start + (seq - firstSeq) * step));
      if (seq !== 4200) return JSON.stringify(entry);
      const message = `${entry.message} after a retry by ${RARE_TEXT}-7`;
      return JSON.stringify({ ...entry, message, traceId: RARE_TRACE });
    });
    yield {
      firstSeq: at,
      count: size,
      commit: at,
      // A latency of some milliseconds, different each time.
      receivedAt: Math.floor(start + (at - firstSeq) * step) + 20 + ((at * 7919) % 83),
      body: new TextEncoder().encode(lines.join("\n")),
    };
  }
}

/** Returns the lines of a file as one batch, with the members that ingest adds. @param start time of the first entry */
export function sliceOf(lines: readonly string[], start: number): DecodedBatch {
  const timed = lines.map((line, index) => {
    const { timestamp: _sent, level, category, type, message, ...rest } = JSON.parse(line);
    const timestamp = new Date(start + index * 17).toISOString();
    return JSON.stringify({ timestamp, level, category, type, message, ...rest });
  });
  const body = new TextEncoder().encode(timed.join("\n"));
  return { firstSeq: 1, count: lines.length, commit: 1, receivedAt: start, body };
}
