import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeChunk } from "../../../src/logs/segments/decode/decode-chunk.ts";
import { SegmentReader } from "../../../src/logs/segments/decode/segment-reader.ts";
import { ChunkWriter } from "../../../src/logs/segments/parquet/chunk-writer.ts";
import { ENCODING, TYPE } from "../../../src/logs/segments/parquet/metadata.ts";
import { MalformedFile } from "../../../src/logs/segments/parquet/thrift.ts";
import { threadMs } from "../../support/thread-time.ts";
import { bytesOf, encode, line, linesIn, open } from "./support.ts";

const lines = Array.from({ length: 400 }, (_, at) =>
  line(
    { n: at % 7, ratio: at / 3, ok: at % 2 === 0, text: `text ${at}`, tags: [at], ...(at % 5 === 0 && { some: "x" }) },
    { traceId: `${at}`.padStart(32, "a") },
    at,
  ),
);
const bytes = bytesOf(encode(lines, { groupRows: 150 }));
/** Milliseconds that reading a file of this size may take on a busy machine; a loop without end takes longer. */
const MAX_MS = 5000;

/** Reads all of a file. @returns its lines; `null` if it is refused as malformed */
function readAll(file: Uint8Array): string[] | null {
  const startedAt = threadMs();
  try {
    return linesIn(file).map(String);
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedFile);
    return null;
  } finally {
    expect(threadMs() - startedAt).toBeLessThan(MAX_MS);
  }
}

describe("a damaged segment file", () => {
  test("is refused wherever it is cut", () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), (length) => {
        expect(readAll(bytes.subarray(0, length))).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  test("is refused, or read as it was, if bytes have changed", () => {
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(change, (changes) => {
        const damaged = bytes.slice();
        for (const [at, flip] of changes) damaged[at] = (damaged[at] ?? 0) ^ flip;
        readAll(damaged);
      }),
      { numRuns: 250 },
    );
  });

  test("is refused without a hang or a large allocation if its footer has changed", () => {
    const { properties } = open(bytes).reader;
    expect(properties.count).toBe(400);
    const start = bytes.length - encode(lines, { groupRows: 150 }).footer.length;
    const change = fc.array(fc.tuple(fc.nat(bytes.length - start - 1), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(change, (changes) => {
        const damaged = bytes.slice();
        for (const [at, value] of changes) damaged[start + at] = value;
        readAll(damaged);
      }),
      { numRuns: 250 },
    );
  });

  test("is refused if a page of it is damaged: each page has a checksum", () => {
    const { reader } = open(bytes);
    const { start, end } = reader.range(0, reader.indexOf("trace_id"));
    const damaged = bytes.slice();
    const at = (start + end) >> 1;
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(() => linesIn(damaged)).toThrow("A page is damaged.");
  });

  test("is refused, or read as it was, if the header of a dictionary has changed, which no checksum covers", () => {
    const { reader } = open(bytes);
    const starts = ["level", "type", "shape"].map((name) => reader.range(0, reader.indexOf(name)).start);
    for (const at of starts.flatMap((start) => Array.from({ length: 24 }, (_, offset) => start + offset))) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 8;
      const read = readAll(damaged);
      if (read !== null) expect(read).toEqual(linesIn(bytes).map(String));
    }
  });

  test("random bytes are no file", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (random) => {
        expect(() => SegmentReader.open(random, random.length)).toThrow(MalformedFile);
        const ended = Buffer.concat([random, Buffer.from([random.length, 0, 0, 0]), Buffer.from("PAR1")]);
        expect(() => SegmentReader.open(ended, ended.length + 4)).toThrow(MalformedFile);
      }),
    );
  });

  test("open says how much of a file it needs", () => {
    const needed = SegmentReader.open(bytes.subarray(bytes.length - 8), bytes.length);
    expect(needed).toBe(encode(lines, { groupRows: 150 }).footer.length);
    const tail = bytes.subarray(bytes.length - Number(needed));
    expect(SegmentReader.open(tail, bytes.length)).toBeInstanceOf(SegmentReader);
  });

  test("pages of any content, with the right checksum, are refused or read", () => {
    const type = fc.constantFrom(...Object.values(TYPE));
    const encoding = fc.constantFrom(...Object.values(ENCODING));
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ maxLength: 40 }).map((tail) => Uint8Array.of(128, 1, 4, 20, ...tail)),
    );
    const page = fc.tuple(encoding, fc.nat(40), fc.nat(40), content);
    fc.assert(
      fc.property(
        type,
        fc.boolean(),
        fc.option(page),
        fc.array(page, { maxLength: 3 }),
        (own, isRequired, dictionary, pages) => {
          const writer = new ChunkWriter(own, isRequired);
          const put = (from: Uint8Array) => (out: Uint8Array, at: number) => {
            out.set(from, at);
            return at + from.length;
          };
          if (dictionary !== null) writer.dictionary(dictionary[1], 256, put(dictionary[3]));
          for (const [how, rows, nulls, from] of pages)
            writer.page(null, 0, rows, Math.min(rows, nulls), how, 256, put(from));
          const { parts, meta } = writer.finish(0, null, null);
          try {
            decodeChunk({ name: "x", type: own, meaning: "value", isRequired }, meta, Buffer.concat(parts));
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedFile);
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});
