import fc from "fast-check";
import { expect, test } from "vitest";
import { BulkDecoder } from "../../../src/doors/elasticsearch.ts";
import { LokiJsonDecoder } from "../../../src/doors/loki/json-push.ts";
import { DoorEntries } from "../../../src/doors/shared/door-entries.ts";
import { RecordIds } from "../../../src/doors/shared/record-ids.ts";
import { readerOf } from "../../../src/doors/shared/record-reader.ts";
import { decodeBody } from "../../../src/logs/batch.ts";
import { inOneTurn } from "../../../src/platform/turns.ts";
import { eachId, IdSet, wordsOf } from "../../../src/workspace/id-set.ts";

const NOW = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
type Kind = "bulk" | "loki";

/** Reads a body in chunks of a size. @param oldest what is known of the retention; `null` if nothing is */
function read(kind: Kind, body: string, size = body.length, oldest: number | null = null): DoorEntries {
  const entries = new DoorEntries(NOW, undefined, new RecordIds(true));
  if (oldest !== null) inOneTurn(entries.moveOlder(oldest));
  const { meter } = entries;
  const reader = readerOf();
  const decoder =
    kind === "bulk" ? new BulkDecoder(entries, reader, meter, undefined) : new LokiJsonDecoder(entries, reader, meter);
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) inOneTurn(decoder.read(bytes.subarray(at, at + size)));
  inOneTurn(decoder.end());
  entries.finish();
  return entries;
}

function idsOf(entries: DoorEntries): string[] {
  const bytes = Buffer.from(entries.idsOf("all") ?? []);
  return Array.from({ length: bytes.length / 16 }, (_, at) => bytes.toString("hex", at * 16, at * 16 + 16));
}

function messagesOf(entries: DoorEntries): string[] {
  return entries.batches().flatMap(({ encoding, body }) =>
    Buffer.from(decodeBody(encoding, body))
      .toString()
      .split("\n")
      .map((line: string) => String(JSON.parse(line).message)),
  );
}

const bulk = (lines: readonly string[]) => lines.map((line) => `{"create":{"_index":"i"}}\n${line}\n`).join("");
const loki = (lines: readonly string[], labels: object) =>
  JSON.stringify({
    streams: [
      { stream: labels, values: lines.map((line, at) => [String(BigInt(NOW - 1000 + at) * 1_000_000n + 7n), line]) },
    ],
  });

test("ids do not depend on chunks, nor on what is known of the retention", () => {
  const records = fc.record({
    "@timestamp": fc.integer({ min: NOW - 40 * DAY_MS, max: NOW }).map((ms) => new Date(ms).toISOString()),
    message: fc.string({ maxLength: 20 }),
    n: fc.oneof(fc.double({ noNaN: true }), fc.constant(12345678901234567890n.toString()), fc.constant("é")),
  });
  fc.assert(
    fc.property(fc.array(records, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 64 }), (sent, size) => {
      const body = bulk(sent.map((record) => JSON.stringify(record)));
      const whole = idsOf(read("bulk", body));
      expect(whole).toHaveLength(sent.length);
      expect(idsOf(read("bulk", body, size))).toEqual(whole);
      expect(idsOf(read("bulk", body, size, NOW - 30 * DAY_MS))).toEqual(whole);
      const spaced = read(
        "loki",
        loki(
          sent.map((record) => JSON.stringify(record)),
          { job: "é" },
        ),
      );
      const parted = read(
        "loki",
        loki(
          sent.map((record) => JSON.stringify(record)),
          { job: "é" },
        ),
        size,
      );
      expect(idsOf(parted)).toEqual(idsOf(spaced));
    }),
    { numRuns: 100 },
  );
});

test("equal records of one request have different ids, the same in each request; other labels make another record", () => {
  const line = (time: number) => JSON.stringify({ "@timestamp": new Date(time).toISOString(), message: "same" });
  const [first = "", second = ""] = idsOf(read("bulk", bulk([line(NOW), line(NOW)])));
  expect(first).not.toBe(second);
  expect(idsOf(read("bulk", bulk([line(NOW - 1), line(NOW)])))).toContain(first);
  const [a] = idsOf(read("loki", loki(["x"], { job: "a" })));
  const [b] = idsOf(read("loki", loki(["x"], { job: "b" })));
  expect(a).not.toBe(b);
});

test("records without a time have no id, unless their client gave them one", () => {
  expect(read("bulk", bulk(['{"message":"x"}'])).idsOf("all")).toBeUndefined();
  const body = (action: string) => `{"${action}":{"_id":"1"}}\n{"message":"x"}\n`;
  const [created] = idsOf(read("bulk", body("create")));
  const [indexed] = idsOf(read("bulk", body("index")));
  expect(created).toMatch(/^[0-9a-f]{32}$/);
  expect(indexed).not.toBe(created);
});

test("an id of the client's occurs once in a request; an index action with another document is another record", () => {
  const twice = read("bulk", '{"create":{"_id":"1"}}\n{"message":"a"}\n{"create":{"_id":"1"}}\n{"message":"b"}\n');
  expect([messagesOf(twice), twice.mergedIndexes, twice.records]).toEqual([["a"], [1], 2]);
  const replaced = read(
    "bulk",
    ["a", "b", "a"].map((text) => `{"index":{"_id":"1"}}\n{"message":"${text}"}\n`).join(""),
  );
  expect([messagesOf(replaced), replaced.mergedIndexes]).toEqual([["a", "b"], [2]]);
});

test("entries are left out by their position among all, those that were taken included", () => {
  const pairs = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `{"create":{"_id":"${from + at}"}}\n{"message":"${from + at}"}\n`);
  const entries = new DoorEntries(NOW, undefined, new RecordIds(false));
  const decoder = new BulkDecoder(entries, readerOf(), entries.meter, undefined);
  const body = [...pairs(0, 1000), '{"delete":{}}\n', ...pairs(1000, 2500)].join("");
  inOneTurn(decoder.read(Buffer.from(body)));
  inOneTurn(decoder.end());
  const ids = idsOf(entries);
  const taken = entries.batches().reduce((sum, { count }) => sum + count, 0);
  expect(taken).toBe(2000);
  expect(entries.idsOf("batches")?.length).toBe(2000 * 16);
  entries.take();
  const left = [2000, 2001, 2499];
  inOneTurn(entries.leaveOut(left));
  expect(messagesOf(entries)).toEqual(Array.from({ length: 497 }, (_, at) => String(2002 + at)));
  // The deleted document is a record, too.
  expect(entries.mergedIndexes).toEqual([2001, 2002, 2500]);
  expect(idsOf(entries)).toEqual(ids.filter((_, at) => !left.includes(at)));
  inOneTurn(entries.leaveOut(Array.from({ length: 497 }, (_, at) => 2000 + at)));
  expect(entries.batches()).toEqual([]);
  expect(entries.mergedIndexes).toHaveLength(500);
});

test("a set of ids has what was added, whatever the ids have in common", () => {
  const id = fc.tuple(
    fc.constantFrom(0, 1, 256),
    fc.constantFrom(0, 7),
    fc.constant(0),
    fc.integer({ min: 1, max: 3000 }),
  );
  fc.assert(
    fc.property(fc.array(id, { maxLength: 2000 }), (added) => {
      const set = new IdSet();
      const model = new Set<string>();
      for (const words of added) {
        expect(set.add(Uint32Array.from(words), 0)).toBe(!model.has(String(words)));
        model.add(String(words));
      }
      expect(set.size).toBe(model.size);
      for (const words of added) expect(set.has(Uint32Array.from(words), 0)).toBe(true);
      expect(set.has(Uint32Array.of(1, 1, 1, 1), 0)).toBe(false);
    }),
    { numRuns: 30 },
  );
  const unaligned = new Uint8Array(33).subarray(1).fill(5, 16);
  expect([...eachId(wordsOf(unaligned))]).toEqual([{ at: 4, number: 1 }]);
});
