import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SegmentMeta } from "../../../src/logs/cold/format/segment.ts";
import { LEVELS } from "../../../src/logs/entry.ts";
import { ParquetWriter } from "../../../src/logs/export/parquet.ts";
import { EXPORT_BUDGET, Export, type ExportBudget, type ExportRequest } from "../../../src/logs/export/run-export.ts";
import { ColdCoverage } from "../../../src/logs/export/segment-lines.ts";
import type { ExportManifest } from "../../../src/logs/export/writer.ts";
import { WorkMeter } from "../../../src/logs/query/budget.ts";
import { UNBOUNDED_MEMORY } from "../../../src/logs/query/memory.ts";
import { rowText } from "../../../src/logs/query/run-query.ts";
import { lineOf, SEGMENT_KINDS, type TestEntry, type TestRow, TestStore } from "../query/store.ts";
import { linesIn, open, valuesIn } from "../segments/support.ts";

const PROJECT = "proj_000000000001";
const OTHER = "proj_000000000002";
const START = Date.UTC(2026, 10, 20);
const HOUR = 3_600_000;
const ALL: ExportRequest = { from: null, to: null, afterSeq: 0, format: "ndjson" };

function sourceOf(store: TestStore, unreadable: number[] = []) {
  return {
    workspaceId: store.scope,
    projectId: PROJECT,
    recent: store.bySeq(PROJECT, 2),
    cold: store.cold(),
    report: (_: Error, entries: number) => void unreadable.push(entries),
    // Nothing is lost, so no export may ask.
    missing: async () => Number.NaN,
  };
}

async function bytesOf(store: TestStore, request: ExportRequest, budget?: ExportBudget): Promise<Buffer> {
  const opened = await Export.open(sourceOf(store), request, budget);
  if (opened === null) throw new Error("The request begins after the newest entry.");
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.bytes()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

interface Parsed {
  text: string;
  manifest: ExportManifest;
}

/** Splits an NDJSON export, and checks its manifest against its bytes. */
function parsed(bytes: Buffer): Parsed {
  const at = bytes.lastIndexOf('{"manifest":');
  const before = bytes.subarray(0, at);
  const { manifest }: { manifest: ExportManifest } = JSON.parse(bytes.subarray(at).toString());
  expect(bytes.at(-1)).toBe(10);
  expect(manifest.sha256).toBe(createHash("sha256").update(before).digest("hex"));
  const lines = before.toString().split("\n").slice(0, -1);
  const seqs = lines.map((line) => Number(JSON.parse(line).seq));
  expect(manifest).toMatchObject({
    count: lines.length,
    firstSeq: seqs[0] ?? null,
    lastSeq: seqs.at(-1) ?? null,
  });
  return { text: before.toString(), manifest };
}

/** The lines of rows as a query returns them. */
function expected(rows: readonly TestRow[]): string {
  return rows
    .map(({ entry, projectId, seq, commit }) => {
      const line = Buffer.from(lineOf(entry)).toString("latin1");
      const row = { line, timestamp: entry.timestamp, seq, projectId, receivedAt: 1_800_000_000_000 + commit };
      return `${Buffer.from(rowText({ ...row, tier: "cold" }), "latin1").toString()}\n`;
    })
    .join("");
}

function rowsOf(store: TestStore, { from, to, afterSeq }: ExportRequest, until = Number.POSITIVE_INFINITY): TestRow[] {
  return store.rows.filter(
    ({ entry: { timestamp }, projectId, seq }) =>
      projectId === PROJECT &&
      seq > afterSeq &&
      seq <= until &&
      timestamp >= Math.max(from ?? 0, store.oldest) &&
      (to === null || timestamp < to),
  );
}

const entry: fc.Arbitrary<TestEntry> = fc.record(
  {
    // Hours apart, so that a range becomes several parts.
    timestamp: fc
      .oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(0, 30 * HOUR, 90 * HOUR))
      .map((at) => START + at),
    level: fc.constantFrom(...LEVELS),
    category: fc.constantFrom("http", "custom"),
    type: fc.constant("request"),
    message: fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    data: fc.dictionary(fc.constantFrom("a", "b", "ü"), fc.oneof(fc.integer(), fc.string({ maxLength: 8 })), {
      maxKeys: 3,
    }),
  },
  { requiredKeys: ["timestamp", "level", "category", "type", "message"] },
);
const batch = fc.array(entry, { minLength: 1, maxLength: 6 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ add: batch, isOther: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ flush: fc.integer({ min: 1, max: 4 }), kind: fc.constantFrom(...SEGMENT_KINDS) }),
  },
  { weight: 1, arbitrary: fc.record({ quarantine: fc.constant(true) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function apply(store: TestStore, step: Step): void {
  if ("add" in step) store.add(step.isOther ? OTHER : PROJECT, step.add);
  else if ("flush" in step) store.flush(PROJECT, step.flush, step.kind);
  else store.quarantine(PROJECT);
}

const hours = fc.option(fc.integer({ min: -1, max: 100 }), { nil: null });
const request = fc.record({
  from: hours.map((at) => (at === null ? null : START + at * HOUR)),
  to: hours.map((at) => (at === null ? null : START + at * HOUR)),
  format: fc.constant("ndjson" as const),
  afterSeq: fc.constant(0),
});

describe("an export", () => {
  test("has every entry of its snapshot once and in order, whatever moves while it runs, in one response or in several", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.array(step, { maxLength: 6 }),
        request,
        fc.boolean(),
        async (before, meanwhile, wanted, isCut) => {
          const store = new TestStore();
          for (const each of before) apply(store, each);
          store.oldest = START - 1;
          const until = store.rows.findLast(({ projectId }) => projectId === PROJECT)?.seq ?? 0;
          const pending = [...meanwhile];
          let pages = 0;
          store.beforePage = () => {
            const next = pages++ > 0 && pending.shift();
            if (next) apply(store, next);
          };
          // The work ends after each list of lines.
          const budget = isCut ? { ...EXPORT_BUDGET, work: 1 } : EXPORT_BUDGET;
          let text = "";
          let afterSeq = 0;
          for (;;) {
            const part = parsed(await bytesOf(store, { ...wanted, afterSeq }, budget));
            text += part.text;
            expect(part.manifest.afterSeq).toBe(afterSeq);
            if (part.manifest.complete) {
              // A response that continues has a later snapshot.
              expect(part.manifest.through).toBeGreaterThanOrEqual(until);
              if (!isCut) expect(part.manifest.through).toBe(until);
              expect(text).toBe(expected(rowsOf(store, wanted, part.manifest.through)));
              return;
            }
            expect(part.manifest.through).toBeGreaterThan(afterSeq);
            afterSeq = part.manifest.through;
          }
        },
      ),
      { numRuns: 300 },
    );
  }, 60_000);

  test.each(["ndjson", "parquet"] as const)(
    "as %s that is suspended after each chunk is the one of a single run, although entries move meanwhile",
    async (format) => {
      const bytes = async (isSuspended: boolean) => {
        const store = new TestStore();
        const add = (at: number) =>
          store.add(
            PROJECT,
            Array.from({ length: 8 }, (_, index) => ({
              timestamp: START + at + (index % 2) * 50 * HOUR,
              level: "info" as const,
              category: "http",
              type: "request",
              message: `${at}-${index} ${createHash("sha512").update(`${at}`).digest("hex").repeat(100)}`,
            })),
          );
        for (let at = 0; at < 24; at++) add(at);
        for (const kind of SEGMENT_KINDS) store.flush(PROJECT, 6, kind);
        store.oldest = START;
        const opened = await Export.open(sourceOf(store), { ...ALL, format });
        const chunks: Uint8Array[] = [];
        let runs = 0;
        for (let isDone = false; !isDone; runs++) {
          isDone = true;
          for await (const chunk of opened?.bytes() ?? []) {
            chunks.push(Buffer.from(chunk));
            isDone = !isSuspended;
            if (isSuspended) break;
          }
          if (runs === 3) store.flush(PROJECT, 6, "lines");
        }
        return { runs, bytes: Buffer.concat(chunks), count: opened?.count };
      };
      const [whole, parts] = [await bytes(false), await bytes(true)];
      expect(whole.count).toBe(24 * 8);
      expect(parts.runs).toBeGreaterThan(format === "ndjson" ? 20 : 2);
      expect(parts.bytes.equals(whole.bytes)).toBe(true);
    },
  );

  test("is not complete if the catalog has lost segments, and states how many entries are missing up to where it was read", async () => {
    const store = new TestStore();
    for (let at = 0; at < 12; at++) {
      const entries = [0, 50].map((hour) => ({
        timestamp: START + hour * HOUR + at,
        level: "info" as const,
        category: "http",
        type: "request",
        message: `m${at}`,
      }));
      store.add(PROJECT, entries);
      if (at % 2 === 1 && at < 10) store.flush(PROJECT, 2, "inline");
    }
    store.oldest = START;
    const asked: object[] = [];
    let renewals = 0;
    const lost = (isLost: (segment: { firstSeq: number; part: number }) => boolean) => {
      const source = sourceOf(store);
      const segmentsBySeq: typeof source.cold.segmentsBySeq = async (...args) =>
        (await source.cold.segmentsBySeq(...args)).filter((segment) => !isLost(segment));
      // Each first attempt fails.
      const failed = new Set<string>();
      const missing = async (range: object, renew: () => void) => {
        renew();
        if (failed.size < failed.add(JSON.stringify(range)).size) throw new Error("A database does not answer.");
        return asked.push(range) && 3;
      };
      return { ...source, cold: { ...source.cold, segmentsBySeq }, missing };
    };
    const manifest = async (
      isLost: Parameters<typeof lost>[0],
      request: Partial<ExportRequest> = {},
      work = Infinity,
    ) => {
      const opened = await Export.open(lost(isLost), { ...ALL, ...request }, { ...EXPORT_BUDGET, work });
      const chunks: Uint8Array[] = [];
      const memory = { ...UNBOUNDED_MEMORY, renew: () => void renewals++ };
      for await (const chunk of opened?.bytes(memory) ?? []) chunks.push(Buffer.from(chunk));
      return parsed(Buffer.concat(chunks)).manifest;
    };
    // From the middle of a range, of other times, and as far as one response goes: nothing is missing, so nothing is asked.
    for (const [request, work] of [[{}], [{ afterSeq: 5 }], [{ afterSeq: 6, from: START + HOUR }], [{}, 1]] as const) {
      expect(await manifest(() => false, request, work)).toMatchObject({ missing: 0, complete: work !== 1 });
    }
    expect(asked).toEqual([]);
    renewals = 0;
    const whole = await manifest(({ firstSeq }) => firstSeq >= 9 && firstSeq <= 12);
    expect(whole).toMatchObject({ count: 20, through: 24, until: 24, missing: 3, complete: false });
    expect(renewals).toBeGreaterThanOrEqual(2);
    expect(await manifest(({ firstSeq }) => firstSeq > 4, { afterSeq: 2 }, 1)).toMatchObject({ missing: 3, until: 24 });
    expect(asked).toEqual([{ after: 0, until: 24 }, expect.objectContaining({ after: 2 })]);
    // One of the two parts of a range.
    const ofPart = ({ firstSeq, part }: { firstSeq: number; part: number }) => firstSeq === 9 && part === 1;
    expect(await manifest(ofPart)).toMatchObject({ count: 22, missing: 3, complete: false });
    expect(await manifest(ofPart, { afterSeq: 6 })).toMatchObject({ missing: 3, complete: false });
  });

  test("as Parquet holds the same lines, and its manifest in the metadata", async () => {
    const store = new TestStore();
    for (let at = 0; at < 40; at++) {
      store.add(
        PROJECT,
        Array.from({ length: 5 }, (_, index) => ({
          timestamp: START + (index === 4 ? 50 * HOUR : 0) + at,
          level: LEVELS[(at + index) % LEVELS.length] ?? "info",
          category: "http",
          type: "request",
          message: `message ${at}`,
          data: { at, ok: index % 2 === 0, text: `t${index}` },
        })),
      );
      if (at % 7 === 6) store.flush(PROJECT, 5, SEGMENT_KINDS[(at - 6) / 7]);
    }
    store.oldest = START;
    const wanted = { ...ALL, format: "parquet", to: START + HOUR, afterSeq: 11 } as const;
    const bytes = await bytesOf(store, wanted);
    const rows = rowsOf(store, wanted);
    expect(linesIn(bytes).map(String)).toEqual(rows.map((row) => lineOf(row.entry)));
    expect(valuesIn(bytes, "commit")).toEqual(rows.map(({ commit }) => commit));
    expect(valuesIn(bytes, "received_at")).toEqual(rows.map(({ commit }) => 1_800_000_000_000 + commit));
    const { reader } = open(bytes);
    expect(reader.properties).toMatchObject({ count: rows.length, firstSeq: rows[0]?.seq, lastSeq: rows.at(-1)?.seq });
    const manifest = manifestOf(bytes);
    const footer = bytes.readUInt32LE(bytes.length - 8) + 8;
    expect(manifest).toEqual({
      projectId: PROJECT,
      format: "parquet",
      from: null,
      to: new Date(START + HOUR).toISOString(),
      afterSeq: 11,
      count: rows.length,
      firstSeq: rows[0]?.seq,
      lastSeq: rows.at(-1)?.seq,
      through: 200,
      until: 200,
      complete: true,
      unreadable: 0,
      missing: 0,
      sha256: createHash("sha256").update(bytes.subarray(0, -footer)).digest("hex"),
    });
    const empty = await bytesOf(store, { ...wanted, afterSeq: 200 });
    expect(manifestOf(empty)).toMatchObject({ count: 0, firstSeq: null, lastSeq: null, complete: true });
    expect(open(empty).reader.properties.count).toBe(0);
  });

  test("leaves out entries whose stored data is damaged, counts them, and reports them", async () => {
    const store = new TestStore();
    const make = (at: number) => ({
      timestamp: START + at,
      level: "info" as const,
      category: "http",
      type: "request",
      message: `message ${at}`,
    });
    for (let at = 0; at < 4; at++) store.add(PROJECT, [make(at), make(at)]);
    store.flush(PROJECT, 2);
    const reported: number[] = [];
    const source = sourceOf(store, reported);
    const cold = {
      ...source.cold,
      readBodies: async (...args: Parameters<typeof source.cold.readBodies>) => {
        const bodies = await source.cold.readBodies(...args);
        return bodies.map((body) => body && { ...body, bytes: body.bytes.fill(7, 20, 30) });
      },
    };
    const recent = async (range: { after: number; until: number }) => {
      const page = await source.recent(range);
      const batches = page.batches.map((own) =>
        own.firstSeq === 5 ? { ...own, encoding: 0 as const, body: Buffer.from("{}\n{}") } : own,
      );
      return { ...page, batches };
    };
    const opened = await Export.open({ ...source, cold, recent }, ALL);
    const chunks: Uint8Array[] = [];
    for await (const chunk of opened?.bytes() ?? []) chunks.push(Buffer.from(chunk));
    const { text, manifest } = parsed(Buffer.concat(chunks));
    expect(text).toBe(expected(store.rows.slice(6)));
    expect(manifest).toMatchObject({ count: 2, unreadable: 6, complete: true });
    expect(reported).toEqual([4, 1, 1]);
  });

  test.each([false, true])(
    "counts each damaged entry after its `afterSeq` once, suspended: %s",
    async (isSuspended) => {
      const store = new TestStore();
      const make = (count: number) =>
        Array.from({ length: count }, (_, at) => ({
          timestamp: START + at,
          level: "info" as const,
          category: "http",
          type: "request",
          message: `${at} ${createHash("sha512").update(`${at}`).digest("hex").repeat(100)}`,
        }));
      for (let at = 0; at < 6; at++) store.add(PROJECT, make(8));
      store.flush(PROJECT, 6, "inline", 8);
      store.add(PROJECT, make(20));
      const source = sourceOf(store);
      const starts = new Set<number>();
      const readBodies: typeof source.cold.readBodies = async (id, ranges) => {
        for (const { start } of ranges) starts.add(start);
        const groups = [...starts].toSorted((a, b) => a - b);
        const bodies = await source.cold.readBodies(id, ranges);
        const isDamaged = (start: number | undefined) => start === groups[0] || start === groups[2];
        for (const [index, body] of bodies.entries()) if (body && isDamaged(ranges[index]?.start)) body.bytes.fill(7);
        return bodies;
      };
      const recent: typeof source.recent = async (range) => {
        const page = await source.recent(range);
        for (const { body } of page.batches) {
          const second = 4 + new DataView(body.buffer, body.byteOffset).getUint32(0, true);
          body.fill(7, second + 4, second + 12);
        }
        return page;
      };
      const opened = await Export.open(
        { ...source, recent, cold: { ...source.cold, readBodies } },
        { ...ALL, afterSeq: 3 },
      );
      const chunks: Uint8Array[] = [];
      for (let isDone = false; !isDone; ) {
        isDone = true;
        for await (const chunk of opened?.bytes() ?? []) {
          chunks.push(Buffer.from(chunk));
          isDone = !isSuspended;
          if (isSuspended) break;
        }
      }
      const { manifest } = parsed(Buffer.concat(chunks));
      const ofBatch = 68 - Math.max(48, manifest.lastSeq ?? 0);
      expect(ofBatch).toBeGreaterThan(0);
      expect(ofBatch).toBeLessThan(20);
      expect(manifest).toMatchObject({ unreadable: 5 + 8 + ofBatch, count: 65 - 5 - 8 - ofBatch, complete: true });
    },
  );

  test("ends with an error if a file is missing whose segment has not expired, and goes on after one that has", async () => {
    const make = (at: number) => [
      { timestamp: START + at, level: "info" as const, category: "http", type: "request", message: `message ${at}` },
    ];
    for (const kind of SEGMENT_KINDS) {
      const store = new TestStore();
      for (let at = 0; at < 4; at++) store.add(PROJECT, make(at));
      store.flush(PROJECT, 2, kind);
      store.flush(PROJECT, 2, kind);
      const source = sourceOf(store);
      const readBodies: typeof source.cold.readBodies = async (id, ranges) => {
        const bodies = await source.cold.readBodies(id, ranges);
        return bodies.map((body, index) => (ranges[index]?.key.firstSeq === 1 ? null : body));
      };
      const opened = await Export.open({ ...source, cold: { ...source.cold, readBodies } }, ALL);
      const read = (async () => {
        for await (const _ of opened?.bytes() ?? []);
      })();
      await expect(read).rejects.toThrow("deleted while it was read");
      store.oldest = START + 2;
      const later = await Export.open({ ...source, cold: { ...source.cold, readBodies } }, ALL);
      for await (const _ of later?.bytes() ?? []);
      expect([kind, later?.count, later?.isComplete]).toEqual([kind, 2, true]);
    }
  });

  test("is refused if it begins after the newest entry, and is empty at the newest entry", async () => {
    const store = new TestStore();
    expect(await Export.open(sourceOf(store), { ...ALL, afterSeq: 1 })).toBeNull();
    expect(parsed(await bytesOf(store, ALL))).toMatchObject({ text: "", manifest: { count: 0, complete: true } });
  });

  test("ends a response when its time is over, or when a Parquet file has 128 row groups, and continues after it", async () => {
    const store = new TestStore();
    for (let at = 0; at < 10; at++) {
      store.add(PROJECT, [
        { timestamp: START + at, level: "info", category: "http", type: "request", message: "m".repeat(40_000) },
      ]);
    }
    const opened = await Export.open(sourceOf(store), ALL, { ...EXPORT_BUDGET, time: 3000 });
    let now = 0;
    for await (const _ of opened?.bytes(UNBOUNDED_MEMORY, () => (now += 500)) ?? []);
    expect(opened?.isComplete).toBe(false);
    expect(opened?.through).toBe(opened?.count);
    const rest = parsed(await bytesOf(store, { ...ALL, afterSeq: opened?.through ?? 0 }));
    expect(rest.manifest).toMatchObject({ complete: true, lastSeq: 10, count: 10 - (opened?.count ?? 0) });

    const writer = new ParquetWriter(PROJECT, new WorkMeter(), 1);
    const body = Buffer.from(
      lineOf({ timestamp: START, level: "info", category: "http", type: "request", message: "m" }),
    );
    const batch = { firstSeq: 1, count: 1, commit: 1, receivedAt: START, body };
    for (let seq = 1; !writer.isFull; seq++) {
      const line = { batch, seq, timestamp: START, isTimed: true, start: 0, end: body.length };
      for (const _ of writer.add([line]));
      if (seq > 128) throw new Error("The writer takes too many row groups.");
    }
  });

  test("checks the credential while it reads the cold tier for long", async () => {
    const store = new TestStore();
    for (let at = 0; at < 60; at++) {
      store.add(PROJECT, [
        { timestamp: START + at, level: "info", category: "http", type: "request", message: "m".repeat(20_000) },
      ]);
      store.flush(PROJECT, 1);
    }
    const source = sourceOf(store);
    let checks = 0;
    const recent = (range: { after: number; until: number }) => {
      checks++;
      return source.recent(range);
    };
    const opened = await Export.open({ ...source, recent }, ALL);
    let now = 0;
    for await (const _ of opened?.bytes(UNBOUNDED_MEMORY, () => (now += 1000)) ?? []);
    expect(opened?.count).toBe(60);
    expect(checks).toBeGreaterThan(12);
  });
});

test("entries of a segment that are after a range do not count for it, but for the next ranges", () => {
  const segment = (firstSeq: number, lastSeq: number) =>
    // SAFETY: only these members are read.
    ({ firstSeq, lastSeq, count: lastSeq - firstSeq + 1 }) as SegmentMeta;
  const isWholeWith = (first: SegmentMeta) => {
    const coverage = new ColdCoverage(0);
    const segments = [first, segment(5, 30)];
    return [10, 20, 30].map((until) => {
      coverage.add({ after: until - 10, until }, segments);
      return coverage.isWhole;
    });
  };
  expect(isWholeWith(segment(1, 4))).toEqual([true, true, true]);
  expect(isWholeWith(segment(3, 4))).toEqual([false, false, false]);
});

/** Returns the manifest in a file's metadata. */
function manifestOf(bytes: Buffer): ExportManifest {
  const text = bytes.toString("latin1");
  const at = text.indexOf("{", text.lastIndexOf("taffrail.manifest"));
  return JSON.parse(text.slice(at, text.indexOf("}", at) + 1));
}
