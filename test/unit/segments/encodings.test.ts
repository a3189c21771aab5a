import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bitsOf,
  decodeRuns,
  encodeRuns,
  packBits,
  runsBytes,
  unpackBits,
} from "../../../src/logs/segments/parquet/bits.ts";
import {
  decodeDelta,
  decodeShortDelta,
  deltaBytes,
  encodeDelta,
  MAX_DELTA_SPAN,
} from "../../../src/logs/segments/parquet/delta.ts";
import { compressPage, decompressPage } from "../../../src/logs/segments/parquet/page-codec.ts";
import { THRIFT, ThriftReader, ThriftWriter } from "../../../src/logs/segments/parquet/thrift.ts";
import { KIND, numberAt, ValueScanner } from "../../../src/logs/segments/value-scanner.ts";

/** Lists with repetitions, as runs need them. */
const repeated = (value: fc.Arbitrary<number>) =>
  fc
    .array(fc.tuple(value, fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40 }))), { maxLength: 40 })
    .map((runs) => runs.flatMap(([own, times]) => new Array<number>(times).fill(own)));

describe("encodings", () => {
  test("bit packing returns values of any width", () => {
    const values = fc.integer({ min: 0, max: 53 }).chain((width) =>
      fc.tuple(
        fc.constant(width),
        fc.array(
          fc.maxSafeNat().map((value) => value % 2 ** width),
          { maxLength: 70 },
        ),
      ),
    );
    fc.assert(
      fc.property(values, fc.nat(3), ([width, list], at) => {
        const out = new Uint8Array(at + Math.ceil((list.length * width) / 8) + 1);
        const end = packBits(list, 0, list.length, width, out, at);
        expect(end).toBe(at + Math.ceil((list.length * width) / 8));
        const back = new Float64Array(list.length);
        unpackBits(out.subarray(0, end), at, width, back, 0, list.length);
        expect([...back]).toEqual(list);
      }),
    );
  });

  test("runs return values, within the announced number of bytes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 24 }), repeated(fc.nat(2 ** 24 - 1)), (width, list) => {
        const values = list.map((value) => value % 2 ** width);
        const out = new Uint8Array(runsBytes(values.length, width));
        const end = encodeRuns(values, 0, values.length, width, out, 0);
        expect(end).toBeLessThanOrEqual(out.length);
        const back = new Int32Array(values.length);
        expect(decodeRuns(out.subarray(0, end), 0, width, back, 0, values.length, 2 ** 24)).toBe(end);
        expect([...back]).toEqual(values);
      }),
    );
  });

  test("differences return values up to the widest span", () => {
    const half = MAX_DELTA_SPAN / 2 - 1;
    const value = fc.oneof(
      fc.integer(),
      fc.maxSafeInteger().map((own) => own % half),
      fc.constantFrom(half, -half, 0),
    );
    fc.assert(
      fc.property(fc.oneof(repeated(value), fc.array(value, { maxLength: 600 })), (list) => {
        const out = new Uint8Array(deltaBytes(list.length));
        const end = encodeDelta(list, 0, list.length, out, 0);
        const back = new Float64Array(list.length);
        expect(decodeDelta(out.subarray(0, end), 0, back, 0, list.length)).toBe(end);
        expect([...back].map((own) => own + 0)).toEqual(list.map((own) => own + 0));
      }),
    );
  });

  test("differences of 32 bits return values up to the widest span", () => {
    const bound = 2 ** 31;
    const value = fc.oneof(
      fc.integer({ min: 0, max: 400 }),
      fc.integer({ min: -bound, max: bound - 1 }),
      fc.constantFrom(bound - 1, -bound, 0),
    );
    fc.assert(
      fc.property(fc.oneof(repeated(value), fc.array(value, { maxLength: 600 })), fc.nat(3), (list, from) => {
        const out = new Uint8Array(deltaBytes(list.length));
        const end = encodeDelta(list, 0, list.length, out, 0);
        const back = new Int32Array(from + list.length);
        expect(decodeShortDelta(out.subarray(0, end), 0, back, from, list.length)).toBe(end);
        expect([...back.subarray(from)]).toEqual(list.map((own) => own + 0));
        if (end > 8) expect(() => decodeShortDelta(out.subarray(0, end - 1), 0, back, from, list.length)).toThrow();
      }),
    );
  });

  test("a page of any size and kind is returned, its head stored or not", () => {
    const sizes = fc.constantFrom(0, 1, 127, 128, 4000, 70_000, 131_073, 400_000);
    fc.assert(
      fc.property(sizes, fc.boolean(), fc.nat(5000), (size, isRandom, head) => {
        let state = size + 1;
        const raw = Uint8Array.from({ length: size }, (_, at) => {
          state = Math.imul(state, 1_103_515_245) + 12_345;
          return isRandom ? state >>> 24 : at % 7;
        });
        const frame = compressPage(raw, Math.min(head, size >> 1));
        expect(Buffer.compare(decompressPage(frame, size), raw)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  test("thrift skips fields that a reader does not use", () => {
    const writer = new ThriftWriter();
    writer.i32(1, -5);
    writer.structs(2, [1, 2, 3], (item) => {
      writer.bool(1, true);
      writer.text(4, `text ${item}`);
      writer.i32s(5, new Array(20).fill(item));
    });
    writer.i64(7, 2 ** 52 - 1);
    const seen: number[] = [];
    const reader = new ThriftReader(writer.toBytes());
    reader.struct((id, type) => {
      if (id === 1 || id === 7) seen.push(reader.int());
      else expect(type).toBe(THRIFT.list);
    });
    expect(seen).toEqual([-5, 2 ** 52 - 1]);
  });

  test("a scan accepts a value exactly if JSON.stringify writes it so, and finds its end, kind and number", () => {
    const number = fc.oneof(
      fc.double().map(String),
      fc.integer().map(String),
      fc.tuple(fc.maxSafeInteger(), fc.nat(12)).map(([digits, places]) => String(digits / 10 ** places)),
      fc.stringMatching(/^-?[0-9]{1,17}(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,3})?$/),
    );
    const values = fc.oneof(
      number,
      fc.json(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.string().map((text) => `"${text}"`),
    );
    const scanner = new ValueScanner();
    fc.assert(
      fc.property(values, (text) => {
        const bytes = Buffer.from(`${text},`);
        const end = scanner.end(bytes, 0);
        let again: string | null = null;
        try {
          again = JSON.stringify(JSON.parse(text));
        } catch {
          // Not JSON.
        }
        // Members with whole numbers as names move when JSON is parsed; a scan does not parse.
        const isCanonical = again === text;
        if (isCanonical) expect(end).toBe(bytes.length - 1);
        if (end === bytes.length - 1 && !/[{[]/.test(text)) expect(isCanonical).toBe(true);
        if (scanner.kind === KIND.integer || scanner.kind === KIND.number) {
          if (end === bytes.length - 1) expect(numberAt(bytes, 0, end)).toBe(JSON.parse(text));
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("the number of bits of a value", () => {
    expect([0, 1, 2, 255, 256, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52].map(bitsOf)).toEqual([
      0, 1, 2, 8, 9, 31, 32, 32, 33, 53,
    ]);
  });
});
