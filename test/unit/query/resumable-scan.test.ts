import { describe, expect, it } from "vitest";
import { encodeBody, type RecentBatch } from "../../../src/logs/batch.ts";
import { QUERY_BUDGET, UNIT_NS } from "../../../src/logs/query/budget.ts";
import {
  type Cursor,
  decodeCursor,
  encodeCursor,
  fingerprint,
  RESUMABLE_SCAN_START,
} from "../../../src/logs/query/cursor.ts";
import { boundOf, compareRows, type Order } from "../../../src/logs/query/feed.ts";
import type { RecentPage, RecentScan } from "../../../src/logs/query/recent-feed.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import type { LogSource } from "../../../src/logs/query/tiers.ts";
import { answered, copied, TestStore } from "./store.ts";

const PROJECTS = ["proj_00000000000a", "proj_00000000000b"];
const NOW = Date.parse("2026-11-20T14:00:00.000Z");
const LINES = 200;
const BATCHES = 400;
/** A tenth of a request's budget, for a tenth of the bytes. */
const SCALE = 10;
const BUDGET = { ...QUERY_BUDGET, work: QUERY_BUDGET.work / SCALE };
const TWO_SECONDS = 2e9 / UNIT_NS / SCALE;

interface Key {
  timestamp: number;
  seq: number;
  projectId: string;
}

/** Batches of the same 200 lines, alternating between two projects, whose scan takes several requests. */
function largeSource(timeOf: (line: number) => number, isWanted: (line: number) => boolean) {
  const times = Array.from({ length: LINES }, (_, line) => timeOf(line));
  const lines = times.map((time, line) => {
    const message = `${isWanted(line) ? "wanted" : "passed over"} ${"x".repeat(1800)}`;
    const timestamp = new Date(time).toISOString();
    return JSON.stringify({ timestamp, level: "info", category: "custom", type: "log", message });
  });
  const body = encodeBody(Buffer.from(lines.join("\n")));
  const rows: Key[] = [];
  const batches = Array.from({ length: BATCHES }, (_, at): RecentBatch => {
    const projectId = PROJECTS[at % 2] ?? "";
    const firstSeq = Math.floor(at / 2) * LINES + 1;
    times.forEach((timestamp, line) => {
      if (isWanted(line)) rows.push({ timestamp, seq: firstSeq + line, projectId });
    });
    const [minTimestamp, maxTimestamp] = [Math.min(...times), Math.max(...times)];
    return { commit: at + 1, projectId, firstSeq, count: LINES, minTimestamp, maxTimestamp, receivedAt: NOW, ...body };
  });
  const recent = async ({ order, from, to, levelMask, position, maxBytes }: RecentScan): Promise<RecentPage> => {
    const ordered = (order === "desc" ? batches.toReversed() : batches)
      .filter(({ minTimestamp, maxTimestamp }) => maxTimestamp >= (from ?? 0) && minTimestamp < (to ?? NOW * 2))
      .filter(() => levelMask !== 0);
    const begin = position === null ? 0 : ordered.findIndex(({ commit }) => commit === position.commit);
    const given = begin < 0 ? [] : ordered.slice(begin, begin + Math.max(1, Math.floor(maxBytes / body.body.length)));
    const next = begin < 0 ? undefined : ordered[begin + given.length];
    return {
      asOf: BATCHES,
      lastCommit: BATCHES,
      scope: "ws_000000000001",
      flushed: PROJECTS.map((projectId) => ({ projectId, seq: 0 })),
      oldest: 0,
      batches: given.map(copied),
      next: next ? { timestamp: boundOf(order, next), commit: next.commit } : null,
    };
  };
  const unused = (): never => expect.fail("All is in the recent tier.");
  const source: LogSource = {
    workspaceId: "ws_000000000001",
    recent,
    cold: { findSegments: unused, readBodies: unused, readFiles: unused, segmentsBySeq: async () => [] },
    report: unused,
  };
  return { source, rows };
}

/** Reads pages until the given number of rows was found. */
async function read(source: LogSource, order: Order, atLeast: number) {
  const seen: Key[] = [];
  let requests = 0;
  for (let cursor: string | null = null; ; ) {
    const pagination: object = cursor === null ? { limit: 50 } : { limit: 50, cursor };
    const result = await runQuery(
      source,
      QueryBody.parse({ filters: { search: "wanted" }, order, pagination }),
      () => 0,
      BUDGET,
    );
    if (!result.ok) throw new Error(result.reason);
    requests++;
    expect(result.work).toBeLessThan(TWO_SECONDS);
    const { logs, complete, pagination: page } = answered(result.page);
    if (!complete) expect(page.nextCursor).not.toBeNull();
    seen.push(...logs.map(({ timestamp, seq, projectId }) => ({ timestamp: Date.parse(timestamp), seq, projectId })));
    cursor = page.nextCursor;
    expect((cursor ?? "").length).toBeLessThan(6000);
    if (cursor === null || seen.length >= atLeast) return { seen, requests };
  }
}

const SHAPES = [
  ["share one millisecond", () => NOW],
  ["all reach over a day", (line: number) => NOW - line * 432_000],
] as const;

describe("A2: batches of several requests' work", () => {
  it.each(
    SHAPES.flatMap(([name, timeOf]) => (["desc", "asc"] as const).map((order) => [name, order, timeOf] as const)),
  )(
    "A2: that %s are read within 2 s of counted work a request, each row once and in order (%s)",
    async (_, order, timeOf) => {
      // After the middle, the times of all batches extend to both sides of the cursor.
      const { source, rows } = largeSource(timeOf, (line) => line % 50 === 7);
      const { seen, requests } = await read(source, order, 230);
      expect(requests).toBeGreaterThan(4);
      const expected = rows.sort((a, b) => compareRows(order, a, b)).slice(0, seen.length);
      expect(seen).toEqual(expected);
    },
    120_000,
  );

  it("A2: without a matching entry end in an empty page", async () => {
    const { source } = largeSource(
      () => NOW,
      () => false,
    );
    const { seen, requests } = await read(source, "desc", 1);
    expect(seen).toEqual([]);
    expect(requests).toBeGreaterThan(1);
    expect(requests).toBeLessThan(10);
  }, 60_000);
});

describe("A2: a resumable scan while entries move", () => {
  const [PROJECT = ""] = PROJECTS;

  it.each(["desc", "asc"] as const)(
    "A2: finds what moves to the cold tier between two pages of one request (%s)",
    async (order) => {
      const store = new TestStore(PROJECT);
      const entry = { timestamp: NOW, level: "info", category: "custom", type: "log", message: "wanted" } as const;
      for (let batch = 0; batch < 6; batch++) store.add(PROJECT, [entry, entry]);
      let pages = 0;
      store.beforePage = () => {
        if (++pages === 2) store.flush(PROJECT, 6);
      };
      const query = (cursor: string) =>
        QueryBody.parse({ filters: { search: "wanted" }, order, pagination: { cursor, limit: 5 } });
      const own = fingerprint(QueryBody.parse({ filters: { search: "wanted" } }).filter, store.scope);
      const seen: number[] = [];
      let next: string | null = encodeCursor({
        ...{ asOf: 6, order, fingerprint: own, skip: 0, resume: RESUMABLE_SCAN_START },
        position: { timestamp: NOW, seq: null },
      });
      while (next !== null) {
        const result = await runQuery(store.logs(2), query(next), () => 0);
        if (!result.ok) throw new Error(result.reason);
        const { logs, pagination } = answered(result.page);
        seen.push(...logs.map(({ seq }) => seq));
        next = pagination.nextCursor;
      }
      const all = Array.from({ length: 12 }, (_, at) => at + 1);
      expect(seen).toEqual(order === "asc" ? all : all.toReversed());
    },
  );
});

describe("A2: a cursor", () => {
  const position = { timestamp: 5, seq: 3, projectId: "proj_00000000000a" };
  const cursor: Cursor = { asOf: 7, order: "desc", fingerprint: "AAAAAAAAAAA", position, skip: 2, resume: null };
  const written = (fields: unknown) => Buffer.from(JSON.stringify(fields)).toString("base64url");

  it("A2: of the earlier form is still accepted, and still written without a resumable scan", () => {
    const earlier = written([1, 7, "desc", "AAAAAAAAAAA", 5, 3, "proj_00000000000a", 2]);
    expect(decodeCursor(earlier)).toEqual(cursor);
    expect(encodeCursor(cursor)).toBe(earlier);
  });

  it("A2: carries the state of a resumable scan", () => {
    const segment = { minTimestamp: 1, maxTimestamp: 9, projectId: "proj_00000000000b", firstSeq: 4, part: 0 };
    const keys = [
      { timestamp: 5, seq: 2, projectId: "proj_00000000000a", batch: { timestamp: 9, commit: 4 } },
      { timestamp: 4, seq: 9, projectId: "proj_00000000000b", batch: null },
    ];
    for (const resumeAt of [
      null,
      { tier: "recent", position: null },
      { tier: "recent", position: { timestamp: 9, commit: 3 } },
      { tier: "cold", after: null, readAt: null },
      { tier: "cold", after: segment, readAt: null },
      { tier: "cold", after: segment, readAt: 1_795_183_200_000 },
    ] as const) {
      const resuming = { ...cursor, resume: { resumeAt, keys, isLast: resumeAt === null } };
      expect(decodeCursor(encodeCursor(resuming))).toEqual(resuming);
    }
    const fields = [7, "desc", "AAAAAAAAAAA", 5, 3, "proj_00000000000a", 2];
    for (const sweep of [[], ["x"], [null, true, [], [[1, 2]]], [null, true, [], Array(300).fill([1, 2, 0])]]) {
      expect(decodeCursor(written([2, ...fields, sweep]))).toBeNull();
    }
  });

  it("A2: that was forged returns no row that does not match its query", async () => {
    const store = new TestStore(PROJECTS[0]);
    const entry = { timestamp: NOW, level: "info", category: "custom", type: "log" } as const;
    store.add(PROJECTS[0] ?? "", [
      { ...entry, message: "wanted" },
      { ...entry, message: "other" },
    ]);
    const body = { filters: { search: "wanted" } };
    const own = fingerprint(QueryBody.parse(body).filter, store.scope);
    const key = (projectId: string, seq: number) => ({ timestamp: NOW, seq, projectId, batch: null });
    const keys = [key(PROJECTS[1] ?? "", 1), key(PROJECTS[0] ?? "", 2), key("", 1), key(PROJECTS[0] ?? "", 9)];
    const made: Cursor = {
      ...{ asOf: 1, order: "desc", fingerprint: own, skip: 0 },
      position: { timestamp: NOW, seq: null },
      resume: { ...RESUMABLE_SCAN_START, resumeAt: null, keys, isLast: true },
    };
    const query = QueryBody.parse({ ...body, pagination: { cursor: encodeCursor(made) } });
    const result = await runQuery(store.logs(3), query, () => 0);
    if (!result.ok) throw new Error(result.reason);
    expect(result.page).toMatchObject({ rows: [], complete: true });
  });
});
