import { MalformedFile, ThriftReader } from "./thrift.ts";

/**
 * Parquet's metadata as far as a segment file has it
 * (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
 */

/** Physical types. */
export const TYPE = { boolean: 0, int64: 2, double: 5, bytes: 6 } as const;
export type PhysicalType = (typeof TYPE)[keyof typeof TYPE];

export const ENCODING = { plain: 0, runs: 3, delta: 5, deltaLength: 6, prefixed: 7, dictionary: 8, split: 9 } as const;
export type Encoding = (typeof ENCODING)[keyof typeof ENCODING];

/** Key of a chunk's `elsewhere`. */
export const ELSEWHERE = "taffrail.elsewhere";
/** Key of the places of pages; see `packPages`. */
export const PAGES = "taffrail.pages";
export const CODEC_ZSTD = 6;
export const REQUIRED = 0;
export const CONVERTED_UTF8 = 0;

/** Meaning of a column's values. `time` is epoch milliseconds, UTC. */
export type Meaning = "text" | "time" | "value";

export interface SchemaColumn {
  name: string;
  type: PhysicalType;
  meaning: Meaning;
  /** Whether the column has a value in each row. */
  isRequired: boolean;
}

/** The data pages of a chunk in order, one behind the other. The first one begins at `dataOffset`. */
export interface PageList {
  /** Rows of each page. */
  rows: Int32Array;
  /** Bytes of each page with its header, as stored. */
  bytes: Int32Array;
}

/** The values of one column in one row group. */
export interface ChunkMeta {
  type: PhysicalType;
  encodings: readonly Encoding[];
  /** Values, nulls included. */
  values: number;
  nulls: number;
  /** Rows whose value of the column's path may be in `rest`. */
  elsewhere: number;
  /** Bytes of its pages with their headers, uncompressed and as stored. */
  rawBytes: number;
  storedBytes: number;
  /** Index of its first byte in the file, and of its first data page. Without a dictionary both are equal. */
  offset: number;
  dataOffset: number;
  /** Smallest and largest value as Parquet writes them; `null` if they were not recorded. */
  min: Uint8Array | null;
  max: Uint8Array | null;
  /** Only for a footer that is written; of a file that is read they are in a property. */
  pages?: PageList;
}

export interface RowGroupMeta {
  rows: number;
  /** In the order of the schema's columns. */
  chunks: readonly ChunkMeta[];
}

export interface FileMeta {
  rows: number;
  columns: readonly SchemaColumn[];
  rowGroups: readonly RowGroupMeta[];
  properties: ReadonlyMap<string, string>;
  createdBy: string;
}

/** Ends every file, and begins it. */
export const MAGIC = new TextEncoder().encode("PAR1");
/** Bytes of a footer's end: the length of the metadata, and `MAGIC`. */
export const TAIL_BYTES = 8;

/** Limits within which a reader accepts metadata. */
export const METADATA_LIMITS = { columns: 1024, rowGroups: 4096, groupRows: 262_144 } as const;

/**
 * Returns the number of bytes of the footer that ends with `tail`.
 * @param tail at least the last `TAIL_BYTES` of a file
 * @throws MalformedFile
 */
export function footerBytes(tail: Uint8Array): number {
  const end = tail.length;
  if (end < TAIL_BYTES || MAGIC.some((byte, index) => tail[end - MAGIC.length + index] !== byte)) {
    throw new MalformedFile("The end of the file is missing.");
  }
  return new DataView(tail.buffer, tail.byteOffset + end - TAIL_BYTES, TAIL_BYTES).getUint32(0, true) + TAIL_BYTES;
}

/**
 * Reads a footer and checks it: all chunks are in the file before the footer, and counts agree.
 * @param footer as `writeFooter` returned it
 * @param size of the file in bytes
 * @throws MalformedFile
 */
export function readFooter(footer: Uint8Array, size: number): FileMeta {
  if (footerBytes(footer) !== footer.length) throw new MalformedFile("The footer has another length.");
  const bytes = footer.subarray(0, footer.length - TAIL_BYTES);
  const reader = new ThriftReader(bytes);
  let rows = -1;
  let columns: SchemaColumn[] = [];
  const rowGroups: RowGroupMeta[] = [];
  const properties = new Map<string, string>();
  let createdBy = "";
  reader.struct((id, type) => {
    if (id === 2) columns = readSchema(reader, type);
    else if (id === 3) rows = reader.int();
    else if (id === 4) reader.list(type, () => rowGroups.push(readRowGroup(reader, bytes)));
    else if (id === 5) reader.list(type, () => properties.set(...readProperty(reader)));
    else if (id === 6) createdBy = reader.text();
  });
  const file = { rows, columns, rowGroups, properties, createdBy };
  check(file, size - footer.length);
  return file;
}

function readSchema(reader: ThriftReader, type: number): SchemaColumn[] {
  const columns: SchemaColumn[] = [];
  reader.list(type, () => columns.push(readColumn(reader)));
  // The first element is the root.
  return columns.slice(1);
}

function readColumn(reader: ThriftReader): SchemaColumn {
  let name = "";
  let type = -1;
  let isRequired = false;
  let meaning: Meaning = "value";
  reader.struct((id) => {
    if (id === 1) type = reader.int();
    else if (id === 3) isRequired = reader.int() === REQUIRED;
    else if (id === 4) name = reader.text();
    else if (id === 6) meaning = reader.int() === CONVERTED_UTF8 ? "text" : "time";
  });
  return { name, type: physicalType(type), meaning, isRequired };
}

function readRowGroup(reader: ThriftReader, bytes: Uint8Array): RowGroupMeta {
  const chunks: ChunkMeta[] = [];
  let rows = -1;
  reader.struct((id, type) => {
    if (id === 3) rows = reader.int();
    if (id !== 1) return;
    reader.list(type, () =>
      reader.struct((member) => {
        if (member === 3) chunks.push(new StoredChunk(reader, bytes));
      }),
    );
  });
  return { rows, chunks };
}

/** A chunk of a footer. Takes little memory: a merged file has hundreds, and a query opens dozens of files. */
class StoredChunk implements ChunkMeta {
  readonly type: PhysicalType;
  readonly encodings: readonly Encoding[];
  readonly values: number;
  readonly nulls: number;
  readonly elsewhere: number;
  readonly rawBytes: number;
  readonly storedBytes: number;
  readonly offset: number;
  readonly dataOffset: number;
  readonly #bytes: Uint8Array;
  /** Where the statistics are in the metadata; `null` without them. */
  readonly #min: Span | null;
  readonly #max: Span | null;

  /** @param bytes that `reader` reads. @throws MalformedFile */
  constructor(reader: ThriftReader, bytes: Uint8Array) {
    let encodings = 0;
    // Readers conclude from the number of nulls, so a column without it is refused.
    let [type, codec, values, nulls, rawBytes, storedBytes, dataOffset, dictionaryOffset] = [
      -1, -1, -1, -1, -1, -1, -1, -1,
    ];
    let elsewhere = 0;
    const spans: { min: Span | null; max: Span | null } = { min: null, max: null };
    const readStatistic = (statistic: number): void => {
      if (statistic === 3) nulls = reader.int();
      else if (statistic === 5) spans.max = { start: reader.skipBinary(), end: reader.at };
      else if (statistic === 6) spans.min = { start: reader.skipBinary(), end: reader.at };
    };
    reader.struct((id, kind) => {
      if (id === 1) type = reader.int();
      else if (id === 2) {
        reader.list(kind, () => {
          encodings = encodings * 16 + encodingOf(reader.int()) + 1;
        });
      } else if (id === 4) codec = reader.int();
      else if (id === 5) values = reader.int();
      else if (id === 6) rawBytes = reader.int();
      else if (id === 7) storedBytes = reader.int();
      else if (id === 8) {
        reader.list(kind, () => {
          const [key, value] = readProperty(reader);
          if (key === ELSEWHERE) elsewhere = Number(value);
        });
      } else if (id === 9) dataOffset = reader.int();
      else if (id === 11) dictionaryOffset = reader.int();
      else if (id === 12) reader.struct(readStatistic);
    });
    if (codec !== CODEC_ZSTD) throw new MalformedFile("A column has another compression.");
    this.type = physicalType(type === -1 ? TYPE.bytes : type);
    this.encodings = encodingsIn(encodings);
    this.values = values;
    this.nulls = nulls;
    this.elsewhere = elsewhere;
    this.rawBytes = rawBytes;
    this.storedBytes = storedBytes;
    this.offset = dictionaryOffset < 0 ? dataOffset : dictionaryOffset;
    this.dataOffset = dataOffset;
    this.#bytes = bytes;
    this.#min = spans.min;
    this.#max = spans.max;
  }

  get min(): Uint8Array | null {
    return this.#min && this.#bytes.subarray(this.#min.start, this.#min.end);
  }

  get max(): Uint8Array | null {
    return this.#max && this.#bytes.subarray(this.#max.start, this.#max.end);
  }
}

type Span = { start: number; end: number };

/** Lists of encodings by their digits. Module state: files have a few lists in all of their chunks. */
const ENCODING_LISTS = new Map<number, readonly Encoding[]>();
const MAX_LISTS = 256;

/** @param digits of the base 16: encodings, each plus one */
function encodingsIn(digits: number): readonly Encoding[] {
  const known = ENCODING_LISTS.get(digits);
  if (known !== undefined) return known;
  if (!Number.isSafeInteger(digits)) throw new MalformedFile("A column has too many encodings.");
  const list: Encoding[] = [];
  for (let left = digits; left > 0; left = Math.floor(left / 16)) list.unshift(encodingOf((left % 16) - 1));
  if (ENCODING_LISTS.size < MAX_LISTS) ENCODING_LISTS.set(digits, list);
  return list;
}

function readProperty(reader: ThriftReader): [string, string] {
  let [key, value] = ["", ""];
  reader.struct((id) => {
    if (id === 1) key = reader.text();
    else if (id === 2) value = reader.text();
  });
  return [key, value];
}

const TYPES: ReadonlyMap<number, PhysicalType> = new Map(Object.values(TYPE).map((type) => [type, type]));
const ENCODINGS: ReadonlyMap<number, Encoding> = new Map(Object.values(ENCODING).map((known) => [known, known]));

function physicalType(value: number): PhysicalType {
  // The root of the schema has no type.
  return TYPES.get(value) ?? TYPE.bytes;
}

export function encodingOf(value: number): Encoding {
  const encoding = ENCODINGS.get(value);
  if (encoding === undefined) throw new MalformedFile("A column has another encoding.");
  return encoding;
}

function check({ rows, columns, rowGroups }: FileMeta, dataEnd: number): void {
  const { columns: mostColumns, rowGroups: mostGroups, groupRows } = METADATA_LIMITS;
  if (columns.length > mostColumns || rowGroups.length > mostGroups) {
    throw new MalformedFile("The file is too large.");
  }
  if (rows !== rowGroups.reduce((total, group) => total + group.rows, 0)) {
    throw new MalformedFile("The row groups have other rows.");
  }
  for (const group of rowGroups) {
    if (group.chunks.length !== columns.length || !(group.rows >= 0 && group.rows <= groupRows))
      throw new MalformedFile("A row group is incomplete.");
    for (const [index, chunk] of group.chunks.entries()) {
      const { offset, dataOffset, storedBytes, rawBytes, values, nulls, elsewhere } = chunk;
      const isInside = offset >= MAGIC.length && dataOffset >= offset && offset + storedBytes <= dataEnd;
      const isCounted = values === group.rows && isShare(nulls, values) && isShare(elsewhere, values);
      if (!isInside || !isCounted || rawBytes < 0 || storedBytes < 0 || chunk.type !== columns[index]?.type) {
        throw new MalformedFile("A column of a row group has another form.");
      }
    }
  }
}

function isShare(part: number, whole: number): boolean {
  return Number.isSafeInteger(part) && part >= 0 && part <= whole;
}
