import { expect, test } from "vitest";
import { farCopy, snappyBlock, snappyOf } from "../../../bench/snappy.ts";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { SNAPPY_WINDOW_BYTES, SnappyReader } from "../../../src/doors/loki/snappy.ts";
import { ApiError } from "../../../src/http/errors.ts";
import { type Steps, TurnMeter } from "../../../src/platform/turns.ts";

const MIB = 1024 * 1024;

/** Decompresses in chunks, and notes the largest ring and the longest stretch between two pauses. */
function decompress(block: Uint8Array, chunkBytes = block.length, limit = 20 * MIB) {
  const meter = new TurnMeter();
  const parts: Uint8Array[] = [];
  let held = 0;
  let pauses = 0;
  // biome-ignore lint/correctness/useYield: the type of a sink that may pause.
  const reader = new SnappyReader(meter, limit, function* (part: Uint8Array): Steps<void> {
    parts.push(new Uint8Array(part));
    held = Math.max(held, reader.held);
  });
  const run = (steps: Steps<void>) => {
    for (let isDone = false; !isDone; ) {
      isDone = steps.next().done === true;
      if (!isDone) pauses++;
      meter.renew();
    }
  };
  for (let at = 0; at < block.length; at += chunkBytes) run(reader.read(block.subarray(at, at + chunkBytes)));
  run(reader.end());
  return { output: Buffer.concat(parts), held, pauses };
}

/** Text with repeats near and far, in lines like those of a log. */
function logText(bytes: number): Buffer {
  let text = "";
  for (let i = 0; text.length < bytes; i++)
    text += `level=info order=${i * 7919} msg="took ${i % 613} ms" path=/api/${i % 37}\n`;
  return Buffer.from(text.slice(0, bytes));
}

test("a Snappy block is decompressed whatever chunks it arrives in", () => {
  const text = logText(5_000);
  const block = snappyBlock(text);
  expect(block.length).toBeLessThan(text.length / 2);
  for (let size = 1; size <= block.length; size += size < 80 ? 1 : 97) {
    expect(decompress(block, size).output.equals(text)).toBe(true);
  }
});

test("a large Snappy block is decompressed in a window, also with copies that reach far", () => {
  const text = Buffer.concat([logText(3 * MIB), Buffer.alloc(300_000, "ab"), logText(700_000)]);
  for (const reach of [65_535, SNAPPY_WINDOW_BYTES]) {
    const { output, held } = decompress(snappyBlock(text, reach), 128 * 1024);
    expect(output.equals(text)).toBe(true);
    expect(held).toBe(SNAPPY_WINDOW_BYTES);
  }
});

test("a ring that is full to the last byte grows", () => {
  const text = logText(300_000);
  const elements = [];
  for (let at = 0; at < text.length; at += 32) elements.push([31 << 2, ...text.subarray(at, at + 32)]);
  expect(decompress(snappyOf(text.length, elements)).output.equals(text)).toBe(true);
});

test("a copy beyond the window is refused with a message that says what to send", () => {
  const filler = snappyBlock(new Uint8Array(SNAPPY_WINDOW_BYTES + 64)).subarray(3);
  const block = snappyOf(SNAPPY_WINDOW_BYTES + 128, [[...filler], farCopy(SNAPPY_WINDOW_BYTES + 1, 64)]);
  expect(() => decompress(block)).toThrow(/refers back by more than 1048576 bytes/);
});

test("a Snappy bomb pauses, and takes no more memory than its window", () => {
  const length = 20 * MIB;
  const elements = [
    [0, 65],
    ...Array.from({ length: Math.ceil((length - 1) / 64) }, (_, i) => farCopy(1, Math.min(64, length - 1 - i * 64))),
  ];
  const { output, held, pauses } = decompress(snappyOf(length, elements));
  expect(output.length).toBe(length);
  expect(output.equals(Buffer.alloc(length, 65))).toBe(true);
  expect(held).toBe(SNAPPY_WINDOW_BYTES);
  expect(pauses).toBeGreaterThan(3);
});

test("a Snappy block that announces too much is refused before anything is decompressed", () => {
  expect(() => decompress(snappyOf(20 * MIB + 1, []))).toThrow(ApiError);
  expect(decompress(snappyOf(0, [])).output.length).toBe(0);
});

test.each([
  ["an announced length that does not end", new Uint8Array([255, 255, 255, 255, 255, 1])],
  ["nothing", new Uint8Array()],
  ["a length without elements", snappyOf(5, [])],
  ["a literal that is too long", snappyOf(2, [[8, 65, 66, 67]])],
  ["a literal that ends early", snappyOf(3, [[8, 65, 66]])],
  [
    "a tag that ends early",
    snappyOf(100, [
      [0, 65],
      [3, 1, 0],
    ]),
  ],
  ["a copy of what was not made", snappyOf(8, [[0, 65], farCopy(2, 7)])],
  ["a copy of itself", snappyOf(8, [[0, 65], farCopy(0, 7)])],
  ["a copy that is too long", snappyOf(8, [[0, 65], farCopy(1, 8)])],
  [
    "bytes after the last element",
    snappyOf(1, [
      [0, 65],
      [0, 65],
    ]),
  ],
])("not a Snappy block: %s", (_, block) => {
  for (const size of [1, 3, 64]) expect(() => decompress(block, size)).toThrow(DoorBodyFault);
});

test("mutated Snappy blocks end with a fault of the body or with the announced bytes", () => {
  const block = snappyBlock(logText(2_000));
  let random = 12345;
  const next = (below: number) => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return (random >>> 8) % below;
  };
  let faults = 0;
  for (let i = 0; i < 2_000; i++) {
    const mutated = block.slice(0, next(4) === 0 ? next(block.length) : block.length);
    for (let n = next(4); n >= 0 && mutated.length > 0; n--) mutated[next(mutated.length)] = next(256);
    try {
      decompress(mutated, 1 + next(600));
    } catch (error) {
      if (!(error instanceof DoorBodyFault || error instanceof ApiError)) throw error;
      faults++;
    }
  }
  expect(faults).toBeGreaterThan(800);
});
