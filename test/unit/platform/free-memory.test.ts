import { describe, expect, it } from "vitest";
import { decodeBlocks, decodeBody, encodeBody } from "../../../src/logs/batch.ts";
import { wholeLines } from "../../../src/logs/query/lines.ts";
import { detachBuffer } from "../../../src/platform/isolate-memory.ts";

const lines = Array.from({ length: 5000 }, (_, n) => `{"n":${n},"text":"${"x".repeat(n % 150)}"}`).join("\n");
const raw = new TextEncoder().encode(lines);

describe("buffers that are freed immediately", () => {
  it("A4: a part of a larger buffer is left unchanged", () => {
    const whole = new Uint8Array([1, 2, 3, 4]);
    detachBuffer(whole.subarray(1));
    expect([...whole]).toEqual([1, 2, 3, 4]);
    detachBuffer(whole);
    expect(whole.length).toBe(0);
  });

  it("A4: one decoded block of a batch is in memory at a time", () => {
    const { encoding, body } = encodeBody(raw);
    const given: Uint8Array[] = [];
    for (const piece of decodeBlocks(encoding, body)) {
      expect(piece.length).toBeGreaterThan(0);
      expect(given.every(({ length }) => length === 0)).toBe(true);
      given.push(piece);
    }
    expect(given.length).toBeGreaterThan(2);
    expect(given.every(({ length }) => length === 0)).toBe(true);
    expect(decodeBody(encoding, body)).toEqual(Buffer.from(raw));
  });

  it("A4: lines that cross from one block to the next are whole", () => {
    const { encoding, body } = encodeBody(raw);
    const texts = Array.from(wholeLines(decodeBlocks(encoding, body)), (piece) => new TextDecoder().decode(piece));
    expect(texts.join("\n")).toBe(lines);
  });
});
