import { ENCODING, type Encoding, encodingOf } from "./metadata.ts";
import { MalformedFile, ThriftReader, ThriftWriter } from "./thrift.ts";

/** Kinds of page. */
export const PAGE = { data: 0, dictionary: 2 } as const;

/** The header before each page. */
export interface PageHeader {
  kind: (typeof PAGE)[keyof typeof PAGE];
  rawBytes: number;
  storedBytes: number;
  /** CRC-32 of the stored bytes. */
  crc: number;
  /** Values, nulls included. */
  values: number;
  encoding: Encoding;
}

export function writePageHeader({ kind, rawBytes, storedBytes, crc, values, encoding }: PageHeader): Uint8Array {
  const writer = new ThriftWriter();
  writer.i32(1, kind);
  writer.i32(2, rawBytes);
  writer.i32(3, storedBytes);
  // The field is signed.
  writer.i32(4, crc | 0);
  if (kind === PAGE.dictionary) {
    writer.struct(7, () => {
      writer.i32(1, values);
      writer.i32(2, encoding);
    });
  } else {
    writer.struct(5, () => {
      writer.i32(1, values);
      writer.i32(2, encoding);
      writer.i32(3, ENCODING.runs);
      writer.i32(4, ENCODING.runs);
    });
  }
  return writer.toBytes();
}

/**
 * Reads the header of the page that begins at `at`.
 * @returns the header and the index of the page's first byte
 * @throws MalformedFile
 */
export function readPageHeader(bytes: Uint8Array, at: number): { header: PageHeader; start: number } {
  const reader = new ThriftReader(bytes, at);
  let [kind, rawBytes, storedBytes, crc, values, encoding] = [-1, -1, -1, 0, -1, -1];
  reader.struct((id) => {
    if (id === 1) kind = reader.int();
    else if (id === 2) rawBytes = reader.int();
    else if (id === 3) storedBytes = reader.int();
    else if (id === 4) crc = reader.int() >>> 0;
    else if (id === 5 || id === 7) {
      reader.struct((member) => {
        if (member === 1) values = reader.int();
        else if (member === 2) encoding = reader.int();
      });
    }
  });
  if ((kind !== PAGE.data && kind !== PAGE.dictionary) || rawBytes < 0 || values < 0) {
    throw new MalformedFile("A page has another form.");
  }
  if (storedBytes < 0 || storedBytes > bytes.length - reader.at) throw new MalformedFile("A page is incomplete.");
  const header: PageHeader = { kind, rawBytes, storedBytes, crc, values, encoding: encodingOf(encoding) };
  return { header, start: reader.at };
}
