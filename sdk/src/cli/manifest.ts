import { record } from "./record.ts";

/** What a response of an export holds, as the service states it at its end. */
export interface Manifest extends Readonly<Record<string, unknown>> {
  count: number;
  firstSeq: number | null;
  lastSeq: number | null;
  /** Everything up to this `seq` was read. */
  through: number;
  /** Whether nothing is left to export. */
  complete: boolean;
  /** Entries left out because their stored data is damaged. */
  unreadable: number;
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
  const { count, firstSeq = null, lastSeq = null, through, complete, unreadable = 0, sha256 } = value;
  const isSeq = (seq: unknown): seq is number | null => seq === null || typeof seq === "number";
  if (typeof count !== "number" || typeof through !== "number" || typeof unreadable !== "number") return null;
  if (typeof complete !== "boolean" || typeof sha256 !== "string" || !isSeq(firstSeq) || !isSeq(lastSeq)) return null;
  return { ...value, count, firstSeq, lastSeq, through, complete, unreadable, sha256 };
}
