import { crc32 } from "node:zlib";
import type { EncodedColumn, Pause } from "../encode/text-column.ts";
import { ChunkWriter } from "../parquet/chunk-writer.ts";
import { type SchemaColumn, TYPE } from "../parquet/metadata.ts";
import { repackPage } from "../parquet/page-codec.ts";
import { readPageHeader } from "../parquet/page-header.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import type { Chunk } from "./merged-file.ts";

/** Joins chunks without a dictionary by their pages. */

/** Share of its bytes to which a column must have shrunk to be compressed again. Hexadecimal digits shrink to a half. */
const REPACKED_SHARE = 0.4;
const NUMBER_BYTES = 8;

export function hasDictionary({ meta: { offset, dataOffset } }: Chunk): boolean {
  return dataOffset > offset;
}

/** Puts the pages of chunks without a dictionary behind each other. */
export function copyAll({ type, isRequired }: SchemaColumn, chunks: readonly Chunk[]): EncodedColumn {
  const writer = new ChunkWriter(type, isRequired);
  for (const { meta, bytes } of chunks) writer.copyPages(meta, bytes);
  return { writer, ...rangeOf(type, chunks) };
}

/** Like `copyAll`, with pages of texts compressed again with more effort. Random ids gain nothing and are copied. */
export function* repackAll(column: SchemaColumn, chunks: readonly Chunk[]): Generator<Pause, EncodedColumn> {
  const writer = new ChunkWriter(column.type, column.isRequired);
  for (const { meta, bytes } of chunks) {
    if (meta.storedBytes > meta.rawBytes * REPACKED_SHARE) {
      writer.copyPages(meta, bytes);
      continue;
    }
    for (let at = 0; at < bytes.length; ) {
      const { header, start } = readPageHeader(bytes, at);
      at = start + header.storedBytes;
      const frame = bytes.subarray(start, at);
      // A damaged page must not become one that looks sound.
      if (crc32(frame) !== header.crc) throw new MalformedFile("A page is damaged.");
      writer.storedPage(header, repackPage(frame, header.rawBytes) ?? frame);
      yield null;
    }
    writer.addNulls(meta.nulls);
  }
  return { writer, ...rangeOf(column.type, chunks) };
}

/** Returns the smallest and the largest value, if all chunks have recorded theirs. */
export function rangeOf(
  type: SchemaColumn["type"],
  chunks: readonly Chunk[],
): { min: Uint8Array | null; max: Uint8Array | null } {
  let min: Uint8Array | null = null;
  let max: Uint8Array | null = null;
  for (const { meta } of chunks) {
    if (meta.nulls === meta.values) continue;
    if (meta.min === null || meta.max === null) return { min: null, max: null };
    if (min === null || isBelow(meta.min, min, type)) min = meta.min;
    if (max === null || isBelow(max, meta.max, type)) max = meta.max;
  }
  return { min, max };
}

function isBelow(a: Uint8Array, b: Uint8Array, type: SchemaColumn["type"]): boolean {
  if (type === TYPE.bytes || type === TYPE.boolean) return Buffer.compare(a, b) < 0;
  return numberOf(a, type) < numberOf(b, type);
}

export function numberOf(bytes: Uint8Array, type: SchemaColumn["type"]): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length !== NUMBER_BYTES) throw new MalformedFile("A statistic has another form.");
  return type === TYPE.double ? view.getFloat64(0, true) : Number(view.getBigInt64(0, true));
}
