import { SUMMARY_BUCKET_MS } from "../logs/summary.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries with an earlier timestamp are not taken: epoch milliseconds. */
export function ingestCutoff(retentionDays: number, now: number): number {
  return now - retentionDays * DAY_MS;
}

/**
 * Entries with an earlier timestamp are found by nobody, whether they are deleted already or not. A full minute, so that
 * counts by minute stay exact without a look at entries: an entry is kept up to a minute too long, never too short.
 */
export function retentionCutoff(retentionDays: number, now: number): number {
  return Math.floor(ingestCutoff(retentionDays, now) / SUMMARY_BUCKET_MS) * SUMMARY_BUCKET_MS;
}
