import { expect, test } from "vitest";
import { bytesField, fixed64Field, message, numberField } from "../../../bench/protobuf-fields.ts";
import { DoorBodyFault } from "../../../src/doors/decoder.ts";
import { FieldReader, type MessageShape, ProtobufStream } from "../../../src/doors/loki/protobuf.ts";
import { inOneTurn, TurnMeter } from "../../../src/platform/turns.ts";

/** Notes everything that a stream passes on. */
function recorder() {
  const seen: string[] = [];
  const note = (name: string) => (bytes: Uint8Array, length: number) => {
    seen.push(`${name}=${Buffer.from(bytes).toString().slice(0, 20)}${length > bytes.length ? ` of ${length}` : ""}`);
  };
  const inner: MessageShape = {
    fields: { 1: note("name"), 2: note("item") },
    begin: () => seen.push("begin"),
    end: () => seen.push("end"),
  };
  return { seen, root: { messages: { 1: inner }, fields: { 3: note("last") }, end: () => seen.push("all") } };
}

function read(body: Uint8Array, chunkBytes = body.length): { seen: string[]; held: number } {
  const meter = new TurnMeter();
  const { seen, root } = recorder();
  const stream = new ProtobufStream(meter, root);
  let held = 0;
  for (let at = 0; at < body.length; at += chunkBytes) {
    inOneTurn(stream.read(body.subarray(at, at + chunkBytes)));
    held = Math.max(held, stream.held);
  }
  stream.end();
  return { seen, held };
}

const BODY = message(
  bytesField(
    1,
    message(bytesField(1, "first"), numberField(9, 300), bytesField(2, "one"), bytesField(2, ""), fixed64Field(7, 5n)),
  ),
  numberField(8, 1),
  bytesField(1, []),
  bytesField(5, "skipped".repeat(30)),
  bytesField(1, message(bytesField(2, "x".repeat(300)), bytesField(4, message(bytesField(1, "no"))))),
  bytesField(3, "end of it"),
);

test("a protobuf message is entered, held and skipped by its shape, whatever chunks it arrives in", () => {
  const expected = [
    ...["begin", "name=first", "item=one", "item=", "end", "begin", "end"],
    ...["begin", `item=${"x".repeat(20)}`, "end", "last=end of it", "all"],
  ];
  for (let size = 1; size <= BODY.length; size++) expect(read(BODY, size).seen).toEqual(expected);
});

test("of a field beyond 1 MiB the beginning is held, and its length is passed on", () => {
  const body = message(
    bytesField(1, message(bytesField(2, "long ".repeat(500_000)), bytesField(2, "next"))),
    bytesField(3, "z"),
  );
  for (const size of [128 * 1024, body.length]) {
    const { seen, held } = read(body, size);
    expect(seen).toEqual(["begin", "item=long long long long  of 2500000", "item=next", "end", "last=z", "all"]);
    expect(held).toBeLessThanOrEqual(1024 * 1024);
  }
});

test("a field that announces gigabytes takes no memory for them", () => {
  const body = message([0x1a, 0xff, 0xff, 0xff, 0xff, 0x07], new Uint8Array(5_000));
  const stream = new ProtobufStream(new TurnMeter(), recorder().root);
  inOneTurn(stream.read(body));
  expect(stream.held).toBeLessThanOrEqual(16 * 1024);
  expect(() => stream.end()).toThrow(DoorBodyFault);
});

test.each([
  ["field number 0", [0x02, 0x00]],
  ["a group", [0x0b]],
  ["a varint of eleven bytes", [0x08, ...Array.from({ length: 11 }, () => 0x80), 1]],
  ["a message that is longer than its parent", [0x0a, 0x02, 0x0a, 0x05, 1, 2, 3, 4, 5]],
  ["a message that ends early", [0x0a, 0x05, 0x0a]],
  ["a header that ends early", [0x0a]],
  ["fixed64 that ends early", [0x09, 1, 2]],
])("not a protobuf message: %s", (_, bytes) => {
  for (const size of [1, 2, bytes.length]) expect(() => read(Uint8Array.from(bytes), size)).toThrow(DoorBodyFault);
});

test("fields of a message in memory", () => {
  const reader = new FieldReader(
    message(numberField(1, 2 ** 40), bytesField(2, "grün"), fixed64Field(3, 1n), bytesField(4, "")),
  );
  const seen: unknown[] = [];
  while (reader.next()) seen.push([reader.number, reader.wire === 0 ? reader.value : reader.text]);
  expect(seen).toEqual([
    [1, 2 ** 40],
    [2, "grün"],
    [3, "\u0001\0\0\0\0\0\0\0"],
    [4, ""],
  ]);
});

test("of a message that was cut, the last field is what is left", () => {
  const bytes = message(numberField(1, 7), bytesField(2, "a long line"));
  const cut = new FieldReader(bytes.subarray(0, 8), true);
  expect([cut.next(), cut.number, cut.next(), cut.text, cut.value, cut.next()]).toEqual([
    true,
    1,
    true,
    "a lo",
    11,
    false,
  ]);
  const whole = new FieldReader(bytes.subarray(0, 8));
  whole.next();
  expect(() => whole.next()).toThrow(DoorBodyFault);
});
