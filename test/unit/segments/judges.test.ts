import { writeFileSync } from "node:fs";
import path from "node:path";
import { zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { describe, expect, test } from "vitest";
import { linesOf } from "../../../src/logs/cold/format/lines.ts";
import { FileEncoder } from "../../../src/logs/segments/encode/encode-segment.ts";
import { useDuckDb } from "../../support/duckdb.ts";
import { filesOf, merge, mergeLarge } from "./merging.ts";
import { batchesOf, bytesOf, encode, line, open, PROJECT, valuesIn } from "./support.ts";

/** Two readers that share no code with the service judge what its encoder writes: hyparquet and DuckDB. */

const duck = useDuckDb();

let files = 0;

/** Writes a file for DuckDB. @returns its name as SQL */
function stored(bytes: Uint8Array): string {
  const file = path.join(duck.folder, `${files++}.parquet`);
  writeFileSync(file, bytes);
  return `'${file}'`;
}

/** All rows as JavaScript values, times as epoch milliseconds. */
async function inDuckDB(sql: string): Promise<Record<string, unknown>[]> {
  const read = await duck.run(sql);
  return read
    .getRowObjectsJS()
    .map((row) => Object.fromEntries(Object.entries(row).map(([key, own]) => [key, plain(own)])));
}

async function inHyparquet(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  const file = new Uint8Array(bytes).buffer;
  const compressors = { ZSTD: (input: Uint8Array) => zstdDecompressSync(input) };
  const rows = await parquetReadObjects({ file, compressors });
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, own]) => [key, plain(own)])));
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  // Both zeros are one number in SQL.
  return value === 0 ? 0 : value;
}

function inReader(bytes: Uint8Array): Record<string, unknown>[] {
  const { columns, properties } = open(bytes).reader;
  const byName = columns.map(({ name }) => [name, valuesIn(bytes, name)] as const);
  return Array.from({ length: properties.count }, (_, row) =>
    Object.fromEntries(byName.map(([name, values]) => [name, plain(values[row])])),
  );
}

const scalar = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom("same", 7, 1.5),
);
const data = fc.dictionary(
  fc.constantFrom("status", "ms", "ok", "user", "a.b", "tags", "b c"),
  fc.oneof(
    { weight: 6, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom("id", "plan"), scalar),
    },
  ),
);
const entries = fc.array(
  fc.tuple(fc.option(data, { nil: undefined }), fc.option(fc.string({ unit: "grapheme" }), { nil: undefined })),
  { minLength: 1, maxLength: 60 },
);

describe("hyparquet and DuckDB", () => {
  test("read the values that the reader reads, from any entries", async () => {
    await fc.assert(
      fc.asyncProperty(entries, fc.integer({ min: 5, max: 80 }), async (made, groupRows) => {
        const lines = made.map(([own, session], at) => line(own, { ...(session !== undefined && { session }) }, at));
        const bytes = bytesOf(encode(lines, { groupRows }));
        const expected = inReader(bytes);
        expect(await inHyparquet(bytes)).toEqual(expected);
        expect(await inDuckDB(`SELECT * FROM ${stored(bytes)}`)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  }, 60_000);

  test("add up what the entries hold, over row groups, dictionaries, differences and fractions", async () => {
    const lines = Array.from({ length: 12_000 }, (_, at) =>
      line(
        {
          ms: at % 400,
          ratio: at / 7,
          id: (at * 7919) % 1_000_003,
          route: `/r/${at % 9}`,
          ok: at % 3 === 0,
          ...(at % 11 === 0 && { rare: at }),
        },
        { session: `ses_${at * 7919}`, traceId: `${at}`.padStart(32, "0"), level: at % 6 === 0 ? "error" : "info" },
        at,
      ),
    );
    const bytes = bytesOf(encode(lines, { perBatch: 50, groupRows: 5000 }));
    const sums = await inDuckDB(
      `SELECT count(*) n, sum("data.ms") ms, sum("data.ratio") ratio, sum("data.id") id, count(DISTINCT session) sessions,
        count(DISTINCT "data.route") routes, count("data.rare") rare, count(*) FILTER ("data.ok") ok, max(seq) last_seq,
        max(trace_id) trace, count(DISTINCT commit) commits FROM ${stored(bytes)} WHERE level = 'error' OR "data.ms" >= 0`,
    );
    const parsed = lines.map((own) => JSON.parse(own).data);
    const sum = (name: string) => parsed.reduce((total, own) => total + own[name], 0);
    expect(sums).toEqual([
      {
        n: 12_000,
        ms: sum("ms"),
        ratio: expect.closeTo(sum("ratio"), 3),
        id: sum("id"),
        sessions: 12_000,
        routes: 9,
        rare: parsed.filter((own) => own.rare !== undefined).length,
        ok: parsed.filter((own) => own.ok).length,
        last_seq: 12_000,
        trace: "11999".padStart(32, "0"),
        commits: 240,
      },
    ]);
    expect(await inHyparquet(bytes)).toEqual(inReader(bytes));
    // Row groups are skipped by their statistics.
    const few = await inDuckDB(
      `SELECT count(*) n FROM ${stored(bytes)} WHERE seq BETWEEN 100 AND 199 AND level <= 'error'`,
    );
    expect(few).toEqual([{ n: lines.slice(99, 199).filter((own) => own.includes('"error"')).length }]);
  });

  test("read the values of a merged file, whose row groups are copied, widened and encoded again", async () => {
    await fc.assert(
      fc.asyncProperty(
        entries,
        entries,
        entries,
        fc.boolean(),
        fc.nat(150),
        async (one, two, other, isByColumn, joinRows) => {
          const three = [one, two, other];
          const made = three.flat();
          const lines = made.map(([own, session], at) => line(own, { ...(session !== undefined && { session }) }, at));
          const [first = [], second = []] = three;
          const { merged } = merge(filesOf(lines, [first.length, first.length + second.length]), {
            byColumnBytes: isByColumn ? 0 : Number.POSITIVE_INFINITY,
            joinRows,
          });
          const bytes = bytesOf(merged);
          const expected = inReader(bytes);
          expect(await inHyparquet(bytes)).toEqual(expected);
          expect(await inDuckDB(`SELECT * FROM ${stored(bytes)}`)).toEqual(expected);
        },
      ),
      { numRuns: 15 },
    );
  }, 60_000);

  test("16: read joined row groups, with long dictionaries of sorted strings and bytes as indices", async () => {
    const lines = Array.from({ length: 18_000 }, (_, at) =>
      line(
        {
          route: `/r/${Math.floor(Math.sqrt(at % 400))}`,
          ms: (at * 7919) % 700,
          ...(at % 9 > 0 && { user: `u${(at * 48_271) % 3000}` }),
        },
        { message: `GET took ${(at * 7919) % 700} ms in ${(at * 31) % 9} steps`, session: `s${at}` },
        at,
      ),
    );
    const { bytes } = await mergeLarge(filesOf(lines, [6000, 12_000]), { byColumnBytes: 0, joinRows: 18_000 });
    expect(open(bytes).reader.rowGroups).toHaveLength(1);
    const expected = inReader(bytes);
    expect(await inHyparquet(bytes)).toEqual(expected);
    expect(await inDuckDB(`SELECT * FROM ${stored(bytes)}`)).toEqual(expected);
  });

  test("read strings of one megabyte, control characters and 20,000 values in an entry", async () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, at]));
    const lines = [
      line({ text: "x".repeat(1_000_000) }),
      line({ text: "\u0000\u001f\u007f\u2028😀" }, {}, 1),
      line(wide, {}, 2),
    ];
    const bytes = bytesOf(encode(lines));
    const rows = await inDuckDB(`SELECT * FROM ${stored(bytes)}`);
    expect(rows.map((row) => String(row["data.text"]).length)).toEqual([1_000_000, 6, 4]);
    expect(rows).toEqual(inReader(bytes));
    expect(await inHyparquet(bytes)).toEqual(rows);
  });

  test("find project, range, count and SHA-256 in the metadata", async () => {
    const file = encode([line({ a: 1 }), line({ a: 2 }, {}, 1)]);
    const { key_value_metadata: pairs = [] } = parquetMetadata(new Uint8Array(bytesOf(file)).buffer);
    expect(Object.fromEntries(pairs.map(({ key, value }) => [key, value]))).toEqual({
      "taffrail.format": "1",
      "taffrail.encoder": "5",
      "taffrail.project": "proj_000000000001",
      "taffrail.firstSeq": "1",
      "taffrail.lastSeq": "2",
      "taffrail.count": "2",
      "taffrail.sha256": file.linesSha256,
      "taffrail.columns": '[["integer","a"]]',
    });
    const schema = await inDuckDB(`DESCRIBE SELECT * FROM ${stored(bytesOf(file))}`);
    expect(schema.map(({ column_name, column_type }) => `${column_name} ${column_type}`)).toEqual([
      "seq BIGINT",
      "commit BIGINT",
      "timestamp TIMESTAMP WITH TIME ZONE",
      "received_at TIMESTAMP WITH TIME ZONE",
      ...["level", "category", "type", "message", "session", "trace_id", "span_id", "pattern"].map(
        (name) => `${name} VARCHAR`,
      ),
      "data.a BIGINT",
      "shape VARCHAR",
      "rest VARCHAR",
    ]);
  });

  test("read a file of which the parts were taken while it was encoded, and one without entries", async () => {
    const lines = Array.from({ length: 70 }, (_, at) => line({ a: at }, {}, at));
    const encoder = new FileEncoder(PROJECT, { groupRows: 20 }, null);
    const parts: Uint8Array[] = [];
    const taken: number[] = [];
    for (const list of linesOf(batchesOf(lines, 10), { firstSeq: 1, lastSeq: 70 })) {
      for (const _ of encoder.add(list));
      const ready = encoder.takeParts();
      taken.push(ready.length);
      parts.push(...ready);
    }
    for (const _ of encoder.endGroup());
    parts.push(...encoder.takeParts(), encoder.finish().footer);
    // A row group every two batches.
    expect(taken.map((count) => count > 1)).toEqual([false, true, false, true, false, true, false]);
    expect(Buffer.concat(parts)).toEqual(Buffer.from(bytesOf(encode(lines, { groupRows: 20, perBatch: 10 }))));

    const empty = new FileEncoder(PROJECT, {}, null);
    const bytes = Buffer.concat([...empty.takeParts(), empty.finish(new Map([["own", "7"]])).footer]);
    expect(await inDuckDB(`SELECT * FROM ${stored(bytes)}`)).toEqual([]);
    expect(
      await inDuckDB(`SELECT decode(value) AS own FROM parquet_kv_metadata(${stored(bytes)}) WHERE key = 'own'`),
    ).toEqual([{ own: "7" }]);
    expect(await inHyparquet(bytes)).toEqual([]);
    expect(open(bytes).reader.properties.count).toBe(0);
  });
});
