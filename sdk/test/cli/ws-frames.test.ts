import fc from "fast-check";
import { expect, test } from "vitest";
import { clientFrame, closePayload, FrameReader, type Incoming, OPCODE } from "../../src/cli/ws-frames.ts";

/** Creates a server's frame, which is not masked. */
function frame(opcode: number, payload: Uint8Array | string, isFinal = true): Buffer {
  const bytes = Buffer.from(payload);
  const head =
    bytes.length < 126
      ? Buffer.from([bytes.length])
      : bytes.length < 65_536
        ? Buffer.from([126, bytes.length >> 8, bytes.length & 255])
        : Buffer.concat([Buffer.from([127, 0, 0, 0, 0]), uint32(bytes.length)]);
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode]), head, bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const read = (...chunks: Uint8Array[]): Incoming[] => {
  const reader = new FrameReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
};

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 200_000])("parses a text of %i bytes", (length) => {
  expect(read(frame(OPCODE.text, "x".repeat(length)))).toEqual([{ kind: "text", text: "x".repeat(length) }]);
});

test("parses messages independent of frame and chunk boundaries", () => {
  const message = fc.tuple(fc.string({ unit: "grapheme", maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.integer({ min: 1, max: 50 }), (messages, size) => {
      const bytes = Buffer.concat(
        messages.flatMap(([text, cuts]) => {
          const payload = Buffer.from(text);
          const places = [0, ...cuts.map((cut) => Math.min(cut, payload.length)).sort((a, b) => a - b), payload.length];
          return places.slice(1).flatMap((end, i) => [
            frame(
              i === 0 ? OPCODE.text : OPCODE.continuation,
              payload.subarray(places[i], end),
              i === places.length - 2,
            ),
            // Control frames may occur between the parts of a message.
            ...(i === 0 ? [frame(OPCODE.ping, "p")] : []),
          ]);
        }),
      );
      const reader = new FrameReader();
      const found: Incoming[] = [];
      for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)));
      expect(found.filter(({ kind }) => kind === "text")).toEqual(messages.map(([text]) => ({ kind: "text", text })));
      expect(found.filter(({ kind }) => kind === "ping").length).toBe(messages.length);
    }),
    { numRuns: 300 },
  );
});

test("parses control frames", () => {
  expect(read(frame(OPCODE.pong, ""))).toEqual([{ kind: "pong" }]);
  expect(read(frame(OPCODE.close, ""))).toEqual([{ kind: "close", code: 1005, reason: "" }]);
  const close = Buffer.concat([closePayload(4008), Buffer.from("since=7")]);
  expect(read(frame(OPCODE.close, close))).toEqual([{ kind: "close", code: 4008, reason: "since=7" }]);
});

test.each([
  ["a masked frame", Buffer.from([0x81, 0x80, 0, 0, 0, 0]), "masked"],
  ["an extension", Buffer.from([0xc1, 0]), "extension"],
  ["a part of nothing", frame(OPCODE.continuation, "x"), "out of order"],
  ["a message in a message", Buffer.concat([frame(1, "x", false), frame(1, "y")]), "out of order"],
  ["binary", frame(OPCODE.binary, "x"), "not text"],
  ["an unknown kind", frame(11, ""), "unknown kind"],
  ["a cut control frame", frame(OPCODE.ping, "", false), "control frame"],
  ["an endless message", Buffer.from([0x81, 127, 1, 0, 0, 0, 0, 0, 0, 0]), "too long"],
  ["no UTF-8", frame(OPCODE.text, Uint8Array.of(0xff)), "not valid"],
])("refuses %s", (_, bytes, said) => {
  expect(() => read(bytes)).toThrow(said);
});

test.each([0, 5, 126, 70_000])("masks a client's frame of %i bytes", (length) => {
  const payload = Buffer.alloc(length, 0x5a);
  const bytes = clientFrame(OPCODE.text, payload, Uint8Array.of(1, 2, 3, 4));
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  expect(bytes[0]).toBe(0x81);
  expect((bytes[1] ?? 0) & 0x80).toBe(0x80);
  expect([...bytes.subarray(head, head + 4)]).toEqual([1, 2, 3, 4]);
  const plain = bytes.subarray(head + 4).map((byte, i) => byte ^ ((i % 4) + 1));
  expect(payload.equals(plain)).toBe(true);
});
