/** What is exported. Times are those of a local time input; empty: from the oldest entry, or to the newest. */
export interface ExportChoice {
  format: "ndjson" | "parquet";
  from: string;
  to: string;
}

/** What an export states at its end. */
export interface Manifest {
  count: number;
  sha256: string;
  complete: boolean;
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/;

/** Reads a choice from the parameters of an address. Invalid ones count as absent. */
export function readChoice({ format, from = "", to = "" }: Readonly<Record<string, string>>): ExportChoice {
  const timeOf = (text: string): string => (LOCAL_TIME.test(text) && !Number.isNaN(Date.parse(text)) ? text : "");
  return { format: format === "parquet" ? "parquet" : "ndjson", from: timeOf(from), to: timeOf(to) };
}

/** The parameters of the address of a choice. */
export function exportParameters({ format, from, to }: ExportChoice): URLSearchParams {
  return new URLSearchParams({
    format,
    ...(from === "" ? {} : { from }),
    ...(to === "" ? {} : { to }),
  });
}

/** Returns the manifest at the end of an export as NDJSON; `null` if the text does not end with one. */
export function manifestOf(tail: string): Manifest | null {
  const [last = ""] = tail.trimEnd().split("\n").slice(-1);
  try {
    const line: unknown = JSON.parse(last);
    if (typeof line !== "object" || line === null || !("manifest" in line)) return null;
    // SAFETY: the members of the manifest are documented; an entry has no member of this name beside its own.
    return line.manifest as Manifest;
  } catch {
    return null;
  }
}

/**
 * Returns the command that prints the SHA-256 of an export as NDJSON: of all bytes before the line of the manifest.
 * @param name of the file, without characters that a shell reads
 */
export function verifyCommand(name: string): string {
  return `sed '$d' ${name} | openssl dgst -sha256`;
}
