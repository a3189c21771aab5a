import { crc32 } from "node:zlib";
import type { ChunkMeta, PageList, RowGroupMeta } from "./metadata.ts";
import { PAGE, readPageHeader } from "./page-header.ts";
import { MalformedFile } from "./thrift.ts";

/**
 * The places of data pages, in the property `taffrail.pages` of the footer: a reader that has opened a file reads the pages with
 * the rows that it needs, without a further read for their places. Parquet's own index of pages would be such a read,
 * because it is before the footer.
 *
 * The property is base64 of a CRC-32 and of numbers in LEB128, to which the CRC belongs: with a wrong place a value of another row
 * could be read. For each chunk of each row group in order: the number of its data pages
 * but the last one, then rows and stored bytes of each of these. The last page has the other rows and bytes.
 */

const CRC_BYTES = 4;

/** Returns the property; `null` if the pages of a chunk are not known, or each chunk has one page. */
export function packPages(rowGroups: readonly RowGroupMeta[]): string | null {
  const bytes: number[] = [];
  let hasSeveral = false;
  const put = (value: number): void => {
    let left = value;
    for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
    bytes.push(left);
  };
  for (const { pages } of rowGroups.flatMap(({ chunks }) => chunks)) {
    if (pages === undefined) return null;
    const others = Math.max(0, pages.rows.length - 1);
    if (others > 0) hasSeveral = true;
    put(others);
    for (let page = 0; page < others; page++) {
      put(pages.rows[page] ?? 0);
      put(pages.bytes[page] ?? 0);
    }
  }
  if (!hasSeveral) return null;
  const packed = Buffer.from([0, 0, 0, 0, ...bytes]);
  packed.writeUInt32LE(crc32(packed.subarray(CRC_BYTES)));
  return packed.toString("base64");
}

/** The places of all data pages of a file. */
export class PagePlaces {
  readonly #numbers: Int32Array;
  /** Index of the first number of each chunk. */
  readonly #starts: Int32Array;
  readonly #columns: number;

  /**
   * @param packed see `packPages`
   * @throws MalformedFile if it does not have the form of these row groups
   */
  constructor(packed: string, rowGroups: readonly RowGroupMeta[]) {
    const bytes = Buffer.from(packed, "base64");
    if (bytes.length < CRC_BYTES || bytes.readUInt32LE() !== crc32(bytes.subarray(CRC_BYTES))) {
      throw new MalformedFile("The places of pages are damaged.");
    }
    this.#numbers = new Int32Array(bytes.length);
    this.#columns = rowGroups[0]?.chunks.length ?? 0;
    this.#starts = new Int32Array(rowGroups.length * this.#columns);
    let at = CRC_BYTES;
    let count = 0;
    const next = (): number => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++];
        if (byte === undefined || shift > 21) throw new MalformedFile("The places of pages have another form.");
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      this.#numbers[count++] = value;
      return value;
    };
    let chunkIndex = 0;
    for (const { chunks } of rowGroups) {
      for (const chunk of chunks) {
        this.#starts[chunkIndex++] = count;
        let rows = chunk.values;
        let stored = dataBytesOf(chunk);
        for (let left = next(); left > 0; left--) {
          rows -= next();
          stored -= next();
          if (rows <= 0 || stored <= 0) throw new MalformedFile("The places of pages are outside of their column.");
        }
      }
    }
    if (at !== bytes.length) throw new MalformedFile("The places of pages are of other columns.");
  }

  /** Returns the data pages of a chunk. */
  of(group: number, column: number, chunk: ChunkMeta): PageList {
    const numbers = this.#numbers;
    const start = this.#starts[group * this.#columns + column] ?? 0;
    const others = numbers[start] ?? 0;
    const pages = { rows: new Int32Array(others + 1), bytes: new Int32Array(others + 1) };
    let [rows, bytes] = [chunk.values, dataBytesOf(chunk)];
    for (let page = 0; page < others; page++) {
      rows -= pages.rows[page] = numbers[start + 1 + 2 * page] ?? 0;
      bytes -= pages.bytes[page] = numbers[start + 2 + 2 * page] ?? 0;
    }
    pages.rows[others] = rows;
    pages.bytes[others] = bytes;
    return pages;
  }
}

/** Returns all of a chunk as one page. */
export function wholeChunk(chunk: ChunkMeta): PageList {
  return { rows: Int32Array.of(chunk.values), bytes: Int32Array.of(dataBytesOf(chunk)) };
}

function dataBytesOf({ offset, dataOffset, storedBytes }: ChunkMeta): number {
  return storedBytes - (dataOffset - offset);
}

/**
 * Finds the data pages of a chunk by their headers.
 * @param bytes of the whole chunk
 * @throws MalformedFile
 */
export function findPages(bytes: Uint8Array): PageList {
  const rows: number[] = [];
  const sizes: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { header, start } = readPageHeader(bytes, at);
    const end = start + header.storedBytes;
    if (header.kind === PAGE.data) {
      rows.push(header.values);
      sizes.push(end - at);
    }
    at = end;
  }
  return { rows: Int32Array.from(rows), bytes: Int32Array.from(sizes) };
}
