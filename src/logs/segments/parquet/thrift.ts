import { detachBuffer } from "../../../platform/isolate-memory.ts";

/**
 * Thrift's compact protocol, as far as Parquet's metadata needs it
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
 */

/** Types of the compact protocol. A boolean field has its value in its type. */
export const THRIFT = {
  true: 1,
  false: 2,
  i8: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  struct: 12,
} as const;

/** Thrown if bytes are not what this version writes. The message names the fault but no content. */
export class MalformedFile extends Error {
  override name = "MalformedFile";
}

const encoder = new TextEncoder();
const FIRST_BYTES = 256;

/** Writes structs. Fields are written in rising order of their ids. */
export class ThriftWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #length = 0;
  /** Id of the last field of each open struct, the innermost last. */
  readonly #fields: number[] = [0];

  /** @param value a safe integer */
  int(id: number, type: typeof THRIFT.i16 | typeof THRIFT.i32 | typeof THRIFT.i64, value: number): void {
    this.#field(id, type);
    this.#signed(value);
  }

  i32(id: number, value: number): void {
    this.int(id, THRIFT.i32, value);
  }

  i64(id: number, value: number): void {
    this.int(id, THRIFT.i64, value);
  }

  bool(id: number, value: boolean): void {
    this.#field(id, value ? THRIFT.true : THRIFT.false);
  }

  text(id: number, value: string): void {
    this.binary(id, encoder.encode(value));
  }

  binary(id: number, value: Uint8Array): void {
    this.#field(id, THRIFT.binary);
    this.#blob(value);
  }

  struct(id: number, write: () => void): void {
    this.#field(id, THRIFT.struct);
    this.#struct(write);
  }

  structs<T>(id: number, items: readonly T[], write: (item: T) => void): void {
    this.#list(id, THRIFT.struct, items.length);
    for (const item of items) this.#struct(() => write(item));
  }

  i32s(id: number, items: readonly number[]): void {
    this.#list(id, THRIFT.i32, items.length);
    for (const item of items) this.#signed(item);
  }

  texts(id: number, items: readonly string[]): void {
    this.#list(id, THRIFT.binary, items.length);
    for (const item of items) this.#blob(encoder.encode(item));
  }

  /** Ends the outermost struct and returns all bytes. */
  toBytes(): Uint8Array {
    this.#byte(0);
    const bytes = this.#bytes.slice(0, this.#length);
    detachBuffer(this.#bytes);
    return bytes;
  }

  #struct(write: () => void): void {
    this.#fields.push(0);
    write();
    this.#fields.pop();
    this.#byte(0);
  }

  #field(id: number, type: number): void {
    const step = id - (this.#fields.at(-1) ?? 0);
    if (step <= 0 || step > 15) throw new RangeError("Fields rise by 1 to 15.");
    this.#fields[this.#fields.length - 1] = id;
    this.#byte((step << 4) | type);
  }

  #list(id: number, type: number, count: number): void {
    this.#field(id, THRIFT.list);
    if (count < 15) this.#byte((count << 4) | type);
    else {
      this.#byte(0xf0 | type);
      this.#varint(count);
    }
  }

  #signed(value: number): void {
    // Beyond 2 ** 52 the zigzag form is not a safe integer. Only statistics come there, and those are binary.
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER / 2) throw new RangeError("The number is too large.");
    this.#varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#byte(rest);
  }

  #blob(value: Uint8Array): void {
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    detachBuffer(this.#bytes);
    this.#bytes = grown;
  }
}

/** Nesting that a reader follows. Parquet's metadata has at most 8. */
const MAX_DEPTH = 16;

/** Type of a field that is being read. */
type FieldReader = (id: number, type: number) => void;

/** Reads structs. Never allocates more than the bytes that it reads justify. */
export class ThriftReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #depth = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Index of the next byte. */
  get at(): number {
    return this.#at;
  }

  /**
   * Reads a struct. `read` is called for each field and either reads its value or leaves it; then it is skipped.
   * @throws MalformedFile
   */
  struct(read: FieldReader): void {
    if (++this.#depth > MAX_DEPTH) throw new MalformedFile("Its metadata is nested too deeply.");
    for (let id = 0; ; ) {
      const head = this.#byte();
      if (head === 0) break;
      const step = head >> 4;
      id = step === 0 ? this.int() : id + step;
      const type = head & 15;
      const start = this.#at;
      read(id, type);
      if (this.#at === start) this.#skip(type);
    }
    this.#depth--;
  }

  /** Reads a list and calls `read` for each item. @throws MalformedFile */
  list(type: number, read: (type: number) => void): void {
    if (type !== THRIFT.list) throw new MalformedFile("A field of its metadata has another type.");
    const head = this.#byte();
    const count = head >> 4 === 15 ? this.#varint() : head >> 4;
    // Each item takes at least one byte.
    if (count > this.#bytes.length - this.#at) throw new MalformedFile("A list of its metadata is incomplete.");
    for (let item = 0; item < count; item++) read(head & 15);
  }

  /** @returns a safe integer. @throws MalformedFile */
  int(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Returns a view of the bytes. @throws MalformedFile */
  binary(): Uint8Array {
    const length = this.#varint();
    if (length > this.#bytes.length - this.#at) throw new MalformedFile("Its metadata ends in the middle.");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Passes over the bytes. @returns the index of the first one; they end at `at`. @throws MalformedFile */
  skipBinary(): number {
    const length = this.#varint();
    if (length > this.#bytes.length - this.#at) throw new MalformedFile("Its metadata ends in the middle.");
    this.#at += length;
    return this.#at - length;
  }

  text(): string {
    return decoder.decode(this.binary());
  }

  #skip(type: number): void {
    if (type === THRIFT.true || type === THRIFT.false) return;
    if (type === THRIFT.i8) this.#byte();
    else if (type === THRIFT.i16 || type === THRIFT.i32 || type === THRIFT.i64) this.#varintOrMore();
    else if (type === THRIFT.double) for (let byte = 0; byte < 8; byte++) this.#byte();
    else if (type === THRIFT.binary) this.binary();
    else if (type === THRIFT.struct) this.struct(() => undefined);
    else if (type === THRIFT.list) {
      if (++this.#depth > MAX_DEPTH) throw new MalformedFile("Its metadata is nested too deeply.");
      this.list(type, (item) => {
        if (item === THRIFT.true || item === THRIFT.false) this.#byte();
        else this.#skip(item);
      });
      this.#depth--;
    } else throw new MalformedFile("Its metadata has a field of an unknown type.");
  }

  #varintOrMore(): void {
    for (let bytes = 0; this.#byte() >= 0x80; bytes++) if (bytes > 10) throw new MalformedFile("A number is too long.");
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 0x80;
      if (scale > 2 ** 56) throw new MalformedFile("A number of its metadata is too long.");
    }
    if (!Number.isSafeInteger(value)) throw new MalformedFile("A number of its metadata is too large.");
    return value;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new MalformedFile("Its metadata ends in the middle.");
    return byte;
  }
}

const decoder = new TextDecoder();
