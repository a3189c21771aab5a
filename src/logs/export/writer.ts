import type { SourceLine } from "../cold/format/lines.ts";

export const EXPORT_FORMATS = ["ndjson", "parquet"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What an export is about when it ends. */
export interface ExportFacts {
  projectId: string;
  format: ExportFormat;
  /** As requested, ISO 8601; `null` if it was not. */
  from: string | null;
  to: string | null;
  afterSeq: number;
  /** Entries, and `seq` of the first and the last one; `null` without entries. */
  count: number;
  firstSeq: number | null;
  lastSeq: number | null;
  /** Everything up to this `seq` was read: `afterSeq` of the request that continues. */
  through: number;
  /** The last `seq` of the snapshot. While `through` is less, there is more to export. */
  until: number;
  /** Whether the export has everything up to the snapshot, but for what is unreadable. */
  complete: boolean;
  /** Entries left out because their stored data is damaged. */
  unreadable: number;
  /** Entries between `afterSeq` and `through`, of any time, that the cold tier has lost. */
  missing: number;
}

/** Writes the entries of an export in one format. */
export interface ExportWriter {
  /**
   * Adds entries in order of `seq`, in steps. Yields if a pause is due.
   * @param lines their bodies may change after the last step
   */
  add(lines: readonly SourceLine[]): Generator<void>;
  /** Returns the bytes that are ready, in order. */
  take(): Uint8Array[];
  /** Bytes in memory that were added and not taken, about. */
  readonly heldBytes: number;
  /** Whether the response must end, because the writer holds as much as it may. */
  readonly isFull: boolean;
  /** Ends the export with its manifest: the facts, and the SHA-256 of all bytes before it or, in Parquet, the footer. */
  end(facts: ExportFacts): Iterator<void, void>;
}

/** The last line of an NDJSON export, as the member `manifest`; in Parquet the property `taffrail.manifest`. */
export interface ExportManifest extends ExportFacts {
  /** SHA-256 of the bytes before the manifest line or, in Parquet, before the footer. Hexadecimal. */
  sha256: string;
}
