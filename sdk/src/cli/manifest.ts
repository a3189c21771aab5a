import { record } from "./record.ts";

/** What a response of an export holds, as the service states it at its end. */
export interface Manifest extends Readonly<Record<string, unknown>> {
  count: number;
  firstSeq: number | null;
  lastSeq: number | null;
  /** Everything up to this `seq` was read. */
  through: number;
  /** The last `seq` of the snapshot. Absent from services of earlier versions. */
  until?: number;
  /** Whether nothing is left to export, and nothing is missing. */
  complete: boolean;
  /** Entries left out because their stored data is damaged. */
  unreadable: number;
  /** Entries that the service has lost. */
  missing: number;
  /** Of the bytes before the manifest or, in Parquet, before the footer. Hexadecimal. */
  sha256: string;
}

/** Parses a manifest; `null` if the text is not one. */
export function parseManifest(text: string): Manifest | null {
  let value: Record<string, unknown> | null;
  try {
    value = record(JSON.parse(text));
  } catch {
    return null;
  }
  if (value === null) return null;
  const { count, firstSeq = null, lastSeq = null, through, complete, unreadable = 0, missing = 0, sha256 } = value;
  const isSeq = (seq: unknown): seq is number | null => seq === null || typeof seq === "number";
  if (typeof count !== "number" || typeof through !== "number" || typeof unreadable !== "number") return null;
  if (typeof missing !== "number") return null;
  if (typeof complete !== "boolean" || typeof sha256 !== "string" || !isSeq(firstSeq) || !isSeq(lastSeq)) return null;
  return { ...value, count, firstSeq, lastSeq, through, complete, unreadable, missing, sha256 };
}

/** Whether there is more to export after a response. */
export function hasRest({ complete, through, until }: Manifest): boolean {
  return !complete && (typeof until !== "number" || through < until);
}
