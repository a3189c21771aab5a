import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBlocks, decodeBody, encodeBody } from "../../../src/logs/batch.ts";
import { buildBatch } from "../../../src/logs/ingest/build-batch.ts";
import { readSummary } from "../../../src/logs/summary.ts";

const BLOCK = 128 * 1024;
/** Digits, which compress and differ at every position. */
const text = (size: number) => {
  const out = Buffer.alloc(size);
  for (let i = 0, n = 0; i < size; n++) i += out.write(`${n * 7919} `, i, "latin1");
  return new Uint8Array(out);
};
const noise = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

describe("the body codec", () => {
  const around = [1, 2, 3, 40].flatMap((n) => [-1, 0, 1].map((off) => n * BLOCK + off));
  for (const size of [0, 1, 1023, 1024, 1025, ...around]) {
    test(`returns ${size} bytes unchanged`, () => {
      const raw = text(size);
      const { encoding, body } = encodeBody(raw);
      if (size >= 2048) expect(encoding).toBe(1);
      expect(same(decodeBody(encoding, body), raw)).toBe(true);
      // As it is read from storage: a view that does not start at the beginning of its buffer.
      const shifted = new Uint8Array(body.length + 3);
      shifted.set(body, 3);
      expect(same(decodeBody(encoding, shifted.subarray(3)), raw)).toBe(true);
      for (const block of decodeBlocks(encoding, body))
        if (encoding === 1) expect(block.length).toBeLessThanOrEqual(BLOCK);
    });
  }

  test("does not compress input that does not get smaller", () => {
    const raw = Uint8Array.from({ length: 60_000 }, (_, i) => noise(1)[0] ?? i);
    const { encoding, body } = encodeBody(raw);
    expect(encoding).toBe(0);
    expect(same(body, raw)).toBe(true);
  });

  test("returns any mix of both unchanged", () => {
    const piece = fc.tuple(fc.boolean(), fc.integer({ min: 0, max: BLOCK }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), (pieces) => {
        const raw = new Uint8Array(
          Buffer.concat(pieces.map(([isText, size]) => (isText ? text(size) : noise(size % 60_000)))),
        );
        const { encoding, body } = encodeBody(raw);
        expect(body.length).toBeLessThanOrEqual(raw.length);
        expect(same(decodeBody(encoding, body), raw)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

test("a batch's columns agree with its lines", () => {
  const now = Date.UTC(2026, 10, 20);
  const levels = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;
  const entry = fc.record({
    message: fc.string({ minLength: 1 }),
    level: fc.constantFrom(...levels),
    category: fc.constantFrom("http", "cache", "custom", "own"),
    timestamp: fc.integer({ min: now - 86_400_000, max: now }),
  });
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 300 }), (values) => {
      const { batch } = buildBatch(values, { now, oldest: null });
      if (!batch) throw new Error("All entries are valid.");
      const raw = decodeBody(batch.encoding, batch.body);
      const lines = new TextDecoder().decode(raw).split("\n");
      expect(batch.size).toBe(raw.length);
      expect(batch.count).toBe(values.length);
      lines.forEach((line, i) => {
        const { timestamp, level, message, category } = JSON.parse(line);
        expect({ message, level, category, timestamp: Date.parse(timestamp) }).toEqual(values[i]);
        expect(line.startsWith(`{"timestamp":"${timestamp}","level":"${level}",`)).toBe(true);
      });
      const times = values.map((value) => value.timestamp);
      expect([batch.minTimestamp, batch.maxTimestamp]).toEqual([Math.min(...times), Math.max(...times)]);
      for (const [bit, level] of levels.entries()) {
        expect((batch.levelMask & (1 << bit)) !== 0).toBe(values.some((value) => value.level === level));
      }
      expect([...readSummary(batch.summary)].reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    }),
  );
});
