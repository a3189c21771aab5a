import { exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { INGEST_LIMITS } from "../../../src/logs/entry.ts";
import { LEDGER_SCHEMA } from "../../../src/workspace/ledger.ts";
import { type LedgerSpan, readLedger } from "../../../src/workspace/ledger-page.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { MAX_OPEN_GAPS, STREAM_IDLE_MS } from "../../../src/workspace/stream-state.ts";
import { GAP_KEPT_MS, MAX_GAPS, MAX_STREAMS, STREAM_SCHEMA } from "../../../src/workspace/streams.ts";
import { evict, newTenant, onSql, receiptOf, send, type Tenant } from "./support.ts";

let tenant: Tenant;
beforeEach(async () => {
  tenant = await newTenant();
});

const HOUR_MS = 3_600_000;
const NAME = "5f2c7a3e-1b7d-4f0a-9d55-0a1b2c3d4e5f";

function header(first: number, count: number, drops = "", stream = NAME): Record<string, string> {
  return { "Taffrail-Stream": `${stream};epoch=${Date.now()};first=${first};count=${count}${drops}` };
}

/** Sends entries under their numbers. */
async function sendNumbered(first: number, count: number, drops = "", stream = NAME) {
  const body = Array.from({ length: count }, (_, at) => ({ message: `${first + at}` }));
  const idempotencyKey = `${stream} ${first} ${count}`;
  return receiptOf(await send(tenant, body, { headers: header(first, count, drops, stream), idempotencyKey }));
}

const SPAN = { from: Date.now() - HOUR_MS, to: Date.now() + HOUR_MS };

function page(cursor: string | null = null, limit = 100, span: LedgerSpan = SPAN) {
  return onSql(tenant.workspaceId, (sql) => {
    const answer = readLedger(sql, 1, span, cursor, limit);
    if (answer === null) throw new Error("The cursor is refused.");
    return answer;
  });
}

const items = async () =>
  (await page()).items.map(({ reason, entries, requests, gap }) => [reason, entries, requests ?? gap?.beforeSeq]);

const rows = (table: string) => onSql(tenant.workspaceId, (sql) => sql.exec(`SELECT * FROM ${table}`).toArray());

describe("18.5: the ledger", () => {
  it("has no row for a client whose entries all arrive, whatever the order and repetitions", async () => {
    await sendNumbered(0, 3);
    await sendNumbered(5, 2);
    await evict(tenant.workspaceId);
    await sendNumbered(3, 2);
    expect((await sendNumbered(3, 2)).duplicate).toBe(true);
    expect(await items()).toEqual([]);
    expect(await rows("streams")).toMatchObject([{ next: 7, state: null, key: tenant.keyId }]);
  });

  it("shows entries that never arrived between those that did, with the cause that the client gives", async () => {
    await sendNumbered(0, 2);
    await sendNumbered(39, 1, ";retries=30;queue-full=4");
    expect(await items()).toEqual([
      ["retries", 30, 3],
      ["unknown", 7, 3],
      ["queue-full", 4, 1],
    ]);
    // Counts are of the client: the same count again adds nothing.
    await sendNumbered(40, 1, ";retries=30;queue-full=5");
    expect(await items()).toEqual([
      ["retries", 30, 3],
      ["unknown", 7, 3],
      ["queue-full", 5, 2],
    ]);
    // The client's spool sends what was missing.
    await sendNumbered(2, 37);
    expect(await items()).toEqual([["queue-full", 5, 2]]);
  });

  it("counts rejected entries by key in the same list, in pages", async () => {
    await sendNumbered(1, 1);
    await sendNumbered(3, 1, ";queue-full=2");
    const body = [{ message: "" }, { message: "a" }];
    receiptOf(await send(tenant, body));
    const all = (await page()).items;
    expect(all.map(({ reason }) => reason)).toEqual(["unknown", "unknown", "queue-full", "rejected"]);
    expect(all.every(({ keyId }) => keyId === tenant.keyId)).toBe(true);
    const listed = [];
    for (let cursor: string | null = null; ; ) {
      const { items: some, next }: Awaited<ReturnType<typeof page>> = await page(cursor, 1);
      listed.push(...some);
      if (next === null) break;
      cursor = next;
    }
    expect(listed).toEqual(all);
    for (const kind of ["count", "gap"] as const) {
      const some = (await page(null, 10, { ...SPAN, kind })).items;
      expect(some).toEqual(all.filter(({ gap }) => (gap === null) === (kind === "count")));
    }
    expect((await page(null, 10, { from: 0, to: HOUR_MS })).items).toEqual([]);
    expect(await onSql(tenant.workspaceId, (sql) => readLedger(sql, 1, SPAN, "x", 10))).toBeNull();
  });

  it("keeps some open gaps of a stream, and closes the others", async () => {
    for (let n = 0; n < MAX_OPEN_GAPS + 3; n++) await sendNumbered(n * 2 + 1, 1);
    expect(await rows("gaps")).toMatchObject([{ first: 0 }, { first: 2 }, { first: 4 }]);
    await sendNumbered(0, 7);
    expect((await items()).length).toBe(MAX_OPEN_GAPS + 2);
  });

  it("has a bounded number of streams; an idle one is forgotten with its gaps closed, and old gaps are deleted", async () => {
    await sendNumbered(1, 1);
    await onSql(tenant.workspaceId, (sql) => {
      sql.exec("UPDATE streams SET last_at = last_at - ?", STREAM_IDLE_MS + 1000);
      sql.exec(
        "INSERT INTO gaps (project, at, stream, first, count, key, reason, before_seq) VALUES (1, ?, 'old', 0, 1, 'k', 'unknown', 1)",
        Date.now() - GAP_KEPT_MS - 1000,
      );
    });
    await sendNumbered(0, 1, "", "another-stream");
    expect((await rows("streams")).map(({ stream }) => stream)).toEqual(["another-stream"]);
    expect(await rows("gaps")).toMatchObject([{ stream: NAME, first: 0, count: 1, reason: "unknown" }]);
    await onSql(tenant.workspaceId, (sql) => {
      for (let n = 1; n < MAX_STREAMS; n++) {
        sql.exec("INSERT INTO streams VALUES (1, ?, 'k', 1, NULL, ?)", `stream-${n}`, Date.now());
      }
    });
    await sendNumbered(5, 1, ";queue-full=3", "one-too-many");
    expect(await items()).toEqual([["unknown", 1, 1]]);
  });

  it("keeps a bounded number of gaps: the oldest are merged, with the sum of their entries", async () => {
    await onSql(tenant.workspaceId, (sql) =>
      sql.exec(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MAX_GAPS})
         INSERT INTO gaps (project, at, stream, first, count, key, reason, before_seq)
         SELECT 1, ?1 + i, 'stream-' || i, i, 2, 'k', 'unknown', i FROM n`,
        Date.now() - HOUR_MS,
      ),
    );
    for (let n = 0; n < MAX_OPEN_GAPS + 1; n++) await sendNumbered(n * 2 + 1, 1);
    const gaps = await rows("gaps");
    expect(gaps.length).toBe(MAX_GAPS + 1 - 499);
    expect(gaps[0]).toMatchObject({ stream: "stream-500", first: 500, count: 1000, key: "k", before_seq: 500 });
    expect(gaps.reduce((sum, { count }) => sum + Number(count), 0)).toBe(2 * MAX_GAPS + 1);
  });

  it("takes any number that a client claims as at most 1e9 entries", async () => {
    await sendNumbered(999_999_999_999_999, 1, ";queue-full=999999999999999");
    expect(await items()).toEqual([
      ["unknown", 1_000_000_000, 1],
      ["queue-full", 1_000_000_000, 1],
    ]);
  });

  it("counts requests of a valid key that are refused as a whole", async () => {
    const post = async (path: string, body: BodyInit, key = tenant.secret) => {
      const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
      const url = `http://taffrail.test${path}`;
      return (await exports.default.fetch(new Request(url, { method: "POST", headers, body }))).status;
    };
    expect(await post("/ingest", '{"message":')).toBe(400);
    expect(await post("/ingest", new Uint8Array(INGEST_LIMITS.linesBodyBytes + 1))).toBe(413);
    expect(await post(`/logger/${tenant.projectId}/log`, "{")).toBe(400);
    expect(await post("/ingest", '{"message":', "sk_no")).toBe(401);
    expect(await items()).toEqual([["rejected", 0, 3]]);
  });

  it("takes no header that it cannot read, and stores the entries", async () => {
    for (const text of ["x", `${NAME};first=1`, `${NAME};epoch=1;first=5;count=1;=`, "x".repeat(3000)]) {
      receiptOf(await send(tenant, { message: "a" }, { headers: { "Taffrail-Stream": text } }));
    }
    expect([await items(), await rows("streams")]).toEqual([[], []]);
  });

  it("begins with tables that the version before has", () => {
    const at = WORKSPACE_SCHEMA.indexOf(STREAM_SCHEMA);
    expect(at).toBeGreaterThan(0);
    expect(WORKSPACE_SCHEMA[at - 1]).toEqual(expect.arrayContaining([...LEDGER_SCHEMA]));
  });
});
