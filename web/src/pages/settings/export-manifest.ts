/** What an export states at its end. */
export interface Manifest {
  count: number;
  /** Everything up to this `seq` was read. */
  through: number;
  /** The last `seq` of the snapshot. */
  until: number;
  /** Whether nothing is left to export, and nothing is missing. */
  complete: boolean;
  /** Entries left out because their stored data is damaged. */
  unreadable: number;
  /** Entries that the service has lost. */
  missing: number;
  /** Of the bytes before the manifest line or, in Parquet, before the footer. Hexadecimal. */
  sha256: string;
}

/** A manifest, and how many bytes at the end of the file its sum does not cover. */
export interface ExportEnd {
  manifest: Manifest;
  endBytes: number;
}

/** Bytes at the end of a Parquet file behind its metadata: their length and `PAR1`. */
const PARQUET_TAIL = 8;
const PROPERTY = "taffrail.manifest";

/** Reads the end of an export as NDJSON; `null` if the bytes do not end with a manifest. */
export function ndjsonEnd(tail: Uint8Array): ExportEnd | null {
  const last = tail.lastIndexOf(10, tail.length - 2) + 1;
  const line = parsed(tail.subarray(last));
  if (typeof line !== "object" || line === null || !("manifest" in line)) return null;
  // SAFETY: the members of the manifest are documented; an entry has no member of this name beside its own.
  return { manifest: line.manifest as Manifest, endBytes: tail.length - last };
}

/** Reads the end of an export as Parquet; `null` if the bytes do not end with a whole footer that has a manifest. */
export function parquetEnd(tail: Uint8Array): ExportEnd | null {
  const metadata = tail.length - PARQUET_TAIL;
  if (metadata < 0 || textOf(tail.subarray(metadata + 4)) !== "PAR1") return null;
  const endBytes = new DataView(tail.buffer, tail.byteOffset + metadata).getUint32(0, true) + PARQUET_TAIL;
  if (endBytes > tail.length) return null;
  const footer = tail.subarray(tail.length - endBytes);
  // Behind its length. The last one: statistics of messages, which may contain the same text, come before properties.
  const key = textOf(footer).lastIndexOf(String.fromCharCode(PROPERTY.length) + PROPERTY);
  if (key < 0) return null;
  // The value follows as a field of Thrift's compact protocol: one byte of header, its length and its text.
  let at = key + 1 + PROPERTY.length + 1;
  let length = 0;
  for (let shift = 0, more = true; more; shift += 7) {
    const byte = footer[at++] ?? 0;
    length += (byte & 0x7f) << shift;
    more = byte >= 0x80;
  }
  const manifest = parsed(footer.subarray(at, at + length));
  // SAFETY: the service wrote this property.
  return typeof manifest === "object" && manifest !== null ? { manifest: manifest as Manifest, endBytes } : null;
}

/**
 * Returns the command that prints the SHA-256 of an export.
 * @param name of the file, without characters that a shell reads
 */
export function verifyCommand(name: string, bytes: number, { endBytes }: ExportEnd): string {
  return `head -c ${bytes - endBytes} ${name} | openssl dgst -sha256`;
}

function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(json));
  } catch {
    return null;
  }
}

/** One character a byte. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
