import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBody } from "../../../src/logs/batch.ts";
import { BATCH_ENTRIES, INGEST_LIMITS } from "../../../src/logs/entry.ts";
import type { IngestBody } from "../../../src/logs/ingest/ingest-body.ts";
import { LineCutter } from "../../../src/logs/ingest/line-cutter.ts";
import { LinesReader } from "../../../src/logs/ingest/lines-reader.ts";
import { inOneTurn, type Steps, TurnMeter } from "../../../src/platform/turns.ts";
import { threadMs } from "../../support/thread-time.ts";
import { jsonText } from "./json-text.ts";
import { referenceVerdict, verdictOfBody } from "./reference-ingest.ts";

const NOW = Date.UTC(2026, 10, 20);
const NDJSON = "application/x-ndjson";
const KIB = 1024;
const LIMIT = INGEST_LIMITS.entryBytes;
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** Reads a body that arrives in chunks of these sizes. */
function streamed(bytes: Uint8Array, sizes: () => number, isLengthKnown = false): IngestBody {
  const reader = new LinesReader(NOW, new TurnMeter());
  for (let at = 0; at < bytes.length; ) {
    const size = Math.max(1, sizes());
    inOneTurn(reader.readChunk(bytes.slice(at, at + size), isLengthKnown ? bytes.length : undefined));
    at += size;
  }
  inOneTurn(reader.readEnd());
  return reader.finish();
}

const entry = fc.oneof(
  { weight: 4, arbitrary: fc.nat(2000).map((length) => `{"message":"m${"x".repeat(length)}"}`) },
  { weight: 1, arbitrary: jsonText.filter((text) => !/\\"|\\\\|\n/.test(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", " ", "\t\r", "\u2028", '{"message":"\ud83d\ude00"}', "\ufeff{}", "nonsense"),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT, 4 * LIMIT)
      .map((size) => `{"message":"${"é".repeat((size - 14) / 2)}${size % 2 === 0 ? "" : "x"}"}`),
  },
  { weight: 1, arbitrary: fc.constantFrom(700, 800, 1600).map((kib) => " ".repeat(kib * KIB)) },
);
const line = fc.oneof(
  { weight: 9, arbitrary: entry },
  {
    weight: 1,
    arbitrary: fc.tuple(entry, fc.constantFrom(300, 900)).map(([text, kib]) => `${" ".repeat(kib * KIB)}${text}`),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(entry, fc.constantFrom(300, 900)).map(([text, kib]) => `${text}${" ".repeat(kib * KIB)}`),
  },
);

describe("issue 16, point 7: a body of lines that arrives in chunks", () => {
  test("is read like one that is in memory", () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom(1_000, 65_536, 131_072, 3_000_000),
        fc.boolean(),
        (lines, size, isLengthKnown) => {
          const body = bytesOf(lines.join("\n"));
          const vary = () => 1 + ((size * (0.5 + Math.random())) | 0);
          const verdict = verdictOfBody(streamed(body, vary, isLengthKnown));
          expect(verdict).toEqual(referenceVerdict(body, NDJSON, NOW));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("may be cut anywhere, also inside a character", () => {
    const body = bytesOf(`\ufeff{"message":"\u00e9\u6f22\ud83d\ude00"}\r\n\n{"message":"b"}\n{"message":"c"}`);
    for (const size of [1, 2, 3, 5]) {
      expect(verdictOfBody(streamed(body, () => size))).toEqual(referenceVerdict(body, NDJSON, NOW));
    }
  });

  test("becomes batches of at most 1,000 entries in order, which hold less than 1 MB each", () => {
    const lines = Array.from({ length: INGEST_LIMITS.linesEntries }, (_, i) => {
      return `{"timestamp":"2026-11-19T12:00:00.000Z","level":"info","category":"custom","type":"log","message":"m${i}"}`;
    });
    const { batches, units, failure } = streamed(bytesOf(lines.join("\n")), () => 100_000);
    expect([units, failure]).toEqual([INGEST_LIMITS.linesEntries, null]);
    for (const { count } of batches) expect(count).toBeLessThanOrEqual(BATCH_ENTRIES);
    expect(batches.length).toBeLessThan(30);
    const stored = batches.flatMap(({ encoding, body }) =>
      Buffer.from(decodeBody(encoding, body)).toString().split("\n"),
    );
    expect(stored).toEqual(lines);
  });

  test("fails as a whole with one entry too many, or an invalid character", () => {
    const lines = Array.from({ length: INGEST_LIMITS.linesEntries }, () => '{"message":"m"}').join("\n");
    expect(streamed(bytesOf(lines), () => 70_000).batches.length).toBeGreaterThan(19);
    expect(streamed(bytesOf(`${lines}\n1`), () => 70_000)).toMatchObject({
      units: INGEST_LIMITS.linesEntries + 1,
      failure: { reason: "too_many", message: "The body has more than 20000 entries." },
      batches: [],
    });
    for (const bad of ["\n\xff", `\n${"x".repeat(2_000_000)}\xff`, `\n${"x".repeat(2_000_000)}\xc3`]) {
      const body = new Uint8Array(Buffer.from(`${lines.slice(0, 100_000)}${bad}`, "latin1"));
      expect(streamed(body, () => 70_000)).toMatchObject({ units: 1, failure: { reason: "invalid" }, batches: [] });
    }
  });

  test("lists the first 100 rejected entries with their index in the body", () => {
    const lines = Array.from({ length: 5000 }, (_, i) => (i % 30 === 7 ? "{" : '{"message":"m"}'));
    const { rejected, rejectedCount } = streamed(bytesOf(lines.join("\n")), () => 10_000);
    expect(rejectedCount).toBe(167);
    expect(rejected.map(({ index }) => index)).toEqual(Array.from({ length: 100 }, (_, i) => i * 30 + 7));
  });

  test("loses the entries that are older than the retention, and reports them by their index", () => {
    const kinds = fc.constantFrom("good", "old", "bad");
    fc.assert(
      fc.property(fc.array(kinds, { minLength: 1, maxLength: 400 }), fc.boolean(), (sent, isLate) => {
        const times = { good: "2026-11-19T12:00:00.000Z", old: "2026-11-01T00:00:00.000Z" };
        const all = [...Array.from({ length: 900 }, () => "good" as const), ...sent];
        const lines = all.map((kind, i) => (kind === "bad" ? "{" : `{"timestamp":"${times[kind]}","message":"m${i}"}`));
        const reader = new LinesReader(NOW, new TurnMeter());
        const oldest = Date.UTC(2026, 10, 10);
        if (!isLate) inOneTurn(reader.dropOlder(oldest));
        inOneTurn(reader.readChunk(bytesOf(lines.join("\n"))));
        inOneTurn(reader.readEnd());
        if (isLate) inOneTurn(reader.dropOlder(oldest));
        const { batches, rejected, rejectedCount } = reader.finish();
        const bad = all.flatMap((kind, i) => (kind === "good" ? [] : [i]));
        expect(rejected.map(({ index }) => index)).toEqual(bad.slice(0, 100));
        expect(rejectedCount).toBe(bad.length);
        for (const { index, code } of rejected) expect(code === "TIMESTAMP_TOO_OLD").toBe(all[index] === "old");
        const stored = batches.flatMap(({ encoding, body }) =>
          Buffer.from(decodeBody(encoding, body)).toString().split("\n"),
        );
        expect(stored.map((text) => JSON.parse(text).message)).toEqual(
          all.flatMap((kind, i) => (kind === "good" ? [`m${i}`] : [])),
        );
      }),
      { numRuns: 30 },
    );
  });

  test("holds less than 1 MiB of the body, whatever its lines are", () => {
    for (const text of [
      "\n".repeat(3_000_000),
      "x".repeat(3_000_000),
      `{"message":"${"y".repeat(200_000)}"}\n`.repeat(20),
    ]) {
      const cutter = new LineCutter();
      for (let at = 0; at < text.length; at += 100_000) {
        const chunk = bytesOf(text.slice(at, at + 100_000));
        for (let from = 0; from < chunk.length; ) {
          from = cutter.fill(chunk, from);
          for (let piece = cutter.next(); piece !== null; piece = cutter.next()) {
            if (piece.kind === "lines") cutter.advance(piece.bytes.length);
          }
        }
        expect(cutter.held).toBeLessThan(1024 * KIB);
      }
    }
  });
});

describe("issue 16, point 7: work on 20 MiB of lines is done in turns", () => {
  const total = INGEST_LIMITS.linesBodyBytes;
  const fill = (text: string) => text.repeat(Math.floor(total / text.length));
  const BODIES: Record<string, () => string> = {
    "line breaks": () => fill("\n"),
    "white space": () => fill(" "),
    "white space after an entry": () => `{"message":"m"}${" ".repeat(total - 100)}`,
    "blank lines of wide characters": () => fill("\u2028\n").slice(0, total / 4),
    "one-byte lines": () => `${"1\n".repeat(20_000)}${"\n".repeat(total - 50_000)}`,
    "objects in objects": () => `{"message":"m","data":{"a":${'{"a":'.repeat(30)}1${"}".repeat(30)}}}\n`.repeat(20_000),
    "empty objects": () => fill(`{"message":"m","data":{"a":[${"{},".repeat(300)}{}]}}\n`).slice(0, -1),
    "20,000 values an entry": () => fill(`{"message":"m","data":{"a":[${"1,".repeat(19_000)}1]}}\n`).slice(0, -1),
    "long integers": () => fill(`{"message":"m","data":{"a":[${"9007199254740993,".repeat(60)}1]}}\n`).slice(0, -1),
  };

  test.each(Object.keys(BODIES))("%s", (name) => {
    const body = bytesOf(BODIES[name]?.() ?? "");
    const meter = new TurnMeter();
    const reader = new LinesReader(NOW, meter);
    let longest = 0;
    let turns = 0;
    // Only if it is shown: there are many short turns, and asking for the time takes longer than a turn.
    const cpuMs = process.env.SHOW_TURNS ? threadMs : () => 0;
    let startedAt = cpuMs();
    const renew = () => {
      longest = Math.max(longest, cpuMs() - startedAt);
      meter.renew();
      turns++;
      startedAt = cpuMs();
    };
    const run = (steps: Steps<void>) => {
      for (; !steps.next().done; renew());
      if (meter.isDue) renew();
    };
    for (let at = 0; at < body.length; at += 131_072) run(reader.readChunk(body.subarray(at, at + 131_072)));
    run(reader.readEnd());
    reader.finish();
    if (process.env.SHOW_TURNS) console.log(name, body.length, turns, Math.round(longest));
    expect(turns).toBeGreaterThan(5);
  });
});
