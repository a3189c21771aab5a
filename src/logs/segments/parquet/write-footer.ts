import {
  type ChunkMeta,
  CODEC_ZSTD,
  CONVERTED_UTF8,
  ELSEWHERE,
  type FileMeta,
  MAGIC,
  PAGES,
  REQUIRED,
  type RowGroupMeta,
  type SchemaColumn,
  TAIL_BYTES,
} from "./metadata.ts";
import { packPages } from "./page-places.ts";
import { ThriftWriter } from "./thrift.ts";

const OPTIONAL = 1;
const CONVERTED_TIMESTAMP_MILLIS = 9;
const LOGICAL_STRING = 1;
const LOGICAL_TIMESTAMP = 8;

/** Returns the footer: the metadata, its length and `MAGIC`. */
export function writeFooter(file: FileMeta): Uint8Array {
  const writer = new ThriftWriter();
  writer.i32(1, 2);
  writer.structs(2, [null, ...file.columns], (column) => {
    if (column === null) {
      writer.text(4, "entry");
      writer.i32(5, file.columns.length);
    } else writeColumn(writer, column);
  });
  writer.i64(3, file.rows);
  writer.structs(4, file.rowGroups, (group) => writeRowGroup(writer, file.columns, group));
  const properties = new Map(file.properties);
  const pages = packPages(file.rowGroups);
  if (pages !== null) properties.set(PAGES, pages);
  writer.structs(5, [...properties], ([key, value]) => {
    writer.text(1, key);
    writer.text(2, value);
  });
  writer.text(6, file.createdBy);
  writer.structs(7, file.columns, () => writer.struct(1, () => undefined));
  const bytes = writer.toBytes();
  const footer = new Uint8Array(bytes.length + TAIL_BYTES);
  footer.set(bytes);
  new DataView(footer.buffer).setUint32(bytes.length, bytes.length, true);
  footer.set(MAGIC, bytes.length + 4);
  return footer;
}

function writeColumn(writer: ThriftWriter, { name, type, meaning, isRequired }: SchemaColumn): void {
  writer.i32(1, type);
  writer.i32(3, isRequired ? REQUIRED : OPTIONAL);
  writer.text(4, name);
  if (meaning === "text") {
    writer.i32(6, CONVERTED_UTF8);
    writer.struct(10, () => writer.struct(LOGICAL_STRING, () => undefined));
  } else if (meaning === "time") {
    writer.i32(6, CONVERTED_TIMESTAMP_MILLIS);
    writer.struct(10, () =>
      writer.struct(LOGICAL_TIMESTAMP, () => {
        writer.bool(1, true);
        writer.struct(2, () => writer.struct(1, () => undefined));
      }),
    );
  }
}

function writeRowGroup(writer: ThriftWriter, columns: readonly SchemaColumn[], { rows, chunks }: RowGroupMeta): void {
  const indexed = chunks.map((chunk, index) => ({ chunk, name: columns[index]?.name ?? "" }));
  writer.structs(1, indexed, ({ chunk, name }) => {
    writer.i64(2, 0);
    writer.struct(3, () => writeChunk(writer, chunk, name));
  });
  writer.i64(
    2,
    sum(chunks, ({ rawBytes }) => rawBytes),
  );
  writer.i64(3, rows);
  writer.i64(5, chunks[0]?.offset ?? 0);
  writer.i64(
    6,
    sum(chunks, ({ storedBytes }) => storedBytes),
  );
}

function writeChunk(writer: ThriftWriter, chunk: ChunkMeta, name: string): void {
  writer.i32(1, chunk.type);
  writer.i32s(2, chunk.encodings);
  writer.texts(3, [name]);
  writer.i32(4, CODEC_ZSTD);
  writer.i64(5, chunk.values);
  writer.i64(6, chunk.rawBytes);
  writer.i64(7, chunk.storedBytes);
  if (chunk.elsewhere > 0) {
    writer.structs(8, [String(chunk.elsewhere)], (count) => {
      writer.text(1, ELSEWHERE);
      writer.text(2, count);
    });
  }
  writer.i64(9, chunk.dataOffset);
  if (chunk.offset !== chunk.dataOffset) writer.i64(11, chunk.offset);
  writer.struct(12, () => {
    writer.i64(3, chunk.nulls);
    if (chunk.max !== null) writer.binary(5, chunk.max);
    if (chunk.min !== null) writer.binary(6, chunk.min);
  });
}

function sum(chunks: readonly ChunkMeta[], bytes: (chunk: ChunkMeta) => number): number {
  return chunks.reduce((total, chunk) => total + bytes(chunk), 0);
}
