import { exports } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STAGING } from "../../../src/routes/logs/send-entries.ts";
import { RECORD_ID_BOUNDS, RECORD_IDS_SCHEMA, RecordIds, recordIdBytes } from "../../../src/workspace/record-ids.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { evict, messagesOf, newTenant, onSql, onStorage, type Tenant } from "../ingest/support.ts";
import { takeBack } from "../older-version.ts";

let tenant: Tenant;
beforeEach(async () => {
  tenant = await newTenant();
});
const { callBytes } = STAGING;
afterEach(() => {
  STAGING.callBytes = callBytes;
});

interface Answer {
  status: number;
  text: string;
}

async function post(path: string, body: string, type = "application/json", to = tenant): Promise<Answer> {
  const headers = { Authorization: `Bearer ${to.secret}`, "Content-Type": type };
  const request = new Request(`http://taffrail.test${path}`, { method: "POST", headers, body });
  const response = await exports.default.fetch(request);
  return { status: response.status, text: await response.text() };
}

interface Item {
  status: number;
  result?: string;
  error?: { type: string };
}

async function bulk(body: string): Promise<{ errors: boolean; items: Item[] }> {
  const { status, text } = await post("/es/_bulk", body, "application/x-ndjson");
  expect(status).toBe(200);
  const { errors, items } = JSON.parse(text) as { errors: boolean; items: Record<string, Item>[] };
  return { errors, items: items.flatMap((item) => Object.values(item)) };
}

const setDedupe = async (dedupe: string) => {
  const settings = JSON.stringify({ mapping: {}, dedupe });
  await onSql(tenant.workspaceId, (sql) => {
    sql.exec("UPDATE keys SET settings = ?, settings_version = settings_version + 1", settings);
  });
  await evict(tenant.workspaceId);
};
const ledger = () =>
  onSql(tenant.workspaceId, (sql) =>
    sql.exec("SELECT reason, entries, requests FROM ledger ORDER BY reason").toArray(),
  );
const blocks = () =>
  onSql(tenant.workspaceId, (sql) =>
    sql.exec("SELECT block, length(ids) / 16 AS ids FROM record_ids ORDER BY block").toArray(),
  );

interface Sent {
  number: number;
  ms: number;
}

const START = Date.now() - 60_000;
const timeOf = ({ ms }: Sent) => new Date(ms).toISOString();
const nanosOf = ({ ms, number }: Sent) => `${BigInt(ms) * 1_000_000n + BigInt(number)}`;

/** How a client writes records, and whether its key has to recognize them. */
const CLIENTS: { name: string; path: string; dedupe?: string; body: (records: readonly Sent[]) => string }[] = [
  ...(["create", "index"] as const).map((action) => ({
    name: `Elasticsearch, ${action} with _id`,
    path: "/es/_bulk",
    body: (records: readonly Sent[]) =>
      records
        .map(
          (record) =>
            `{"${action}":{"_id":"${record.number}"}}\n{"@timestamp":"${timeOf(record)}","message":"m${record.number}"}\n`,
        )
        .join(""),
  })),
  {
    name: "OTLP with log.record.uid",
    path: "/v1/logs",
    body: (records) =>
      JSON.stringify({
        resourceLogs: [
          {
            scopeLogs: [
              {
                logRecords: records.map((record) => ({
                  timeUnixNano: nanosOf(record),
                  body: { stringValue: `m${record.number}` },
                  attributes: [{ key: "log.record.uid", value: { stringValue: `u${record.number}` } }],
                })),
              },
            ],
          },
        ],
      }),
  },
  {
    name: "Loki, whose key recognizes records",
    path: "/loki/api/v1/push",
    dedupe: "record",
    body: (records) =>
      JSON.stringify({
        streams: [{ stream: { job: "j" }, values: records.map((record) => [nanosOf(record), `m${record.number}`]) }],
      }),
  },
  {
    name: "JSON lines, whose key recognizes records",
    path: "/ingest",
    dedupe: "record",
    body: (records) => records.map((record) => `{"time":${record.ms},"msg":"m${record.number}"}\n`).join(""),
  },
];

describe("a client that puts the records of a failed request into other requests", () => {
  it.each(CLIENTS)("$name: each record is stored once, whatever answers are lost", async ({ path, dedupe, body }) => {
    if (dedupe !== undefined) await setDedupe(dedupe);
    const attempt = fc.record({
      // Indexes of waiting records, modulo their number.
      picks: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
      isLost: fc.boolean(),
      isEvicted: fc.boolean(),
      isTwice: fc.boolean(),
    });
    let base = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(attempt, { minLength: 4, maxLength: 10 }), async (attempts) => {
        const first = base;
        base += 8;
        const before = (await ledger()).reduce((sum, { entries }) => sum + Number(entries), 0);
        const waiting = Array.from({ length: 8 }, (_, at) => ({ number: first + at, ms: START + 13 * (first + at) }));
        let sent = 0;
        const send = async (records: readonly Sent[]) => {
          sent += records.length;
          expect((await post(path, body(records))).status).toBeLessThan(300);
        };
        for (const { picks, isLost, isEvicted, isTwice } of attempts) {
          if (waiting.length === 0) break;
          const records = [...new Set(picks.map((pick) => waiting[pick % waiting.length]))].filter(
            (one) => one !== undefined,
          );
          await Promise.all(isTwice ? [send(records), send(records)] : [send(records)]);
          if (isEvicted) await evict(tenant.workspaceId);
          if (!isLost) for (const record of records) waiting.splice(waiting.indexOf(record), 1);
        }
        if (waiting.length > 0) await send(waiting);
        const stored = (await messagesOf(tenant)).filter((message) => Number(message.slice(1)) >= first);
        const expected = Array.from({ length: 8 }, (_, at) => `m${first + at}`);
        expect(stored.toSorted()).toEqual(expected.toSorted());
        const merged = (await ledger()).reduce((sum, { entries }) => sum + Number(entries), 0) - before;
        expect(merged).toBe(sent - 8);
      }),
      { numRuns: 5 },
    );
    expect(new Set((await ledger()).map(({ reason }) => reason))).toEqual(new Set(["merged"]));
  });
});

const doc = (action: string, id: string, message: string) =>
  `{"${action}":{"_index":"i","_id":"${id}"}}\n{"@timestamp":"2026-11-23T08:00:00Z","message":"${message}"}\n`;

describe("records with an id", () => {
  it("are answered as Elasticsearch does: a conflict for create, an update for index", async () => {
    expect(await bulk(doc("create", "a", "one") + doc("index", "b", "two"))).toMatchObject({
      errors: false,
      items: [{ status: 201 }, { status: 201 }],
    });
    const again = await bulk(doc("create", "c", "new") + doc("create", "a", "one") + doc("index", "b", "two"));
    expect(again.errors).toBe(true);
    expect(again.items).toMatchObject([
      { status: 201 },
      { status: 409, error: { type: "version_conflict_engine_exception" } },
      { status: 200, result: "updated" },
    ]);
    // Another document replaces the one of the id there; here both are stored.
    expect(await bulk(doc("index", "b", "three"))).toMatchObject({ items: [{ status: 201 }] });
    expect(await messagesOf(tenant)).toEqual(["one", "two", "new", "three"]);
    expect(await ledger()).toEqual([{ reason: "merged", entries: 2, requests: 1 }]);
  });

  it("are stored each time if the key's dedupe is never, and keys of other projects have records of their own", async () => {
    const other = await newTenant();
    for (const to of [tenant, other, tenant])
      await post("/es/_bulk", doc("create", "a", "one"), "application/json", to);
    expect([await messagesOf(tenant), await messagesOf(other)]).toEqual([["one"], ["one"]]);
    await setDedupe("never");
    await bulk(doc("create", "a", "one"));
    expect(await messagesOf(tenant)).toEqual(["one", "one"]);
  });

  it("write one row for many requests, and none without ids or if nothing is new", async () => {
    await bulk('{"create":{}}\n{"message":"x"}\n');
    expect(await blocks()).toEqual([]);
    for (let number = 0; number < 5; number++) await bulk(doc("create", `a${number}`, "x") + doc("index", "b", "x"));
    expect(await blocks()).toEqual([{ block: 1, ids: 6 }]);
    await bulk(doc("index", "b", "x") + doc("create", "a1", "x"));
    expect(await blocks()).toEqual([{ block: 1, ids: 6 }]);
  });

  it("are recognized in a large body whose first part is staged, before and after", async () => {
    STAGING.callBytes = 64 * 1024;
    const pairs = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) =>
        doc("create", `n${from + at}`, `${from + at} ${"x".repeat(60)}`),
      ).join("");
    await bulk(pairs(500, 520) + pairs(5_900, 5_905));
    await bulk(doc("create", "warm", "the key is known"));
    const { items } = await bulk(pairs(0, 6_000));
    expect(items.filter(({ status }) => status === 409)).toHaveLength(25);
    expect(items[500]?.status).toBe(409);
    expect(items[5_904]?.status).toBe(409);
    const again = await bulk(pairs(3_000, 6_010));
    expect(again.items.filter(({ status }) => status === 201)).toHaveLength(10);
    const stored = (await messagesOf(tenant)).map((message) => Number(message.split(" ")[0]));
    expect(new Set(stored).size).toBe(stored.length);
    expect(stored).toHaveLength(6_011);
  });
});

describe("the ids of a project", () => {
  const ids = (from: number, to: number) => {
    const words = new Uint32Array(4 * (to - from));
    for (let at = 0; at < to - from; at++) words.set([from + at, 1, 2, 3], 4 * at);
    return new Uint8Array(words.buffer);
  };
  const now = Date.now();

  it("are bounded: the oldest are forgotten", async () => {
    const { most, kept } = RECORD_ID_BOUNDS;
    await onSql(tenant.workspaceId, (sql) => {
      const stored = new RecordIds(sql);
      for (let from = 0; from < most + 1; from += 2_000) {
        stored.add(1, ids(from, from + 2_000), now);
        stored.write(now);
      }
      const last = Math.ceil((most + 1) / 2_000) * 2_000;
      expect(stored.known(1, ids(0, 1_000), now)).toEqual([]);
      expect(stored.known(1, ids(last - kept, last), now)).toHaveLength(kept);
      const again = new RecordIds(sql);
      expect(again.known(1, ids(0, last), now).length).toBeLessThan(kept + 4_096);
      expect(again.known(2, ids(0, last), now)).toEqual([]);
    });
  });

  it("are searched even if those of one transaction need more memory than is kept", async () => {
    await onSql(tenant.workspaceId, (sql) => {
      const stored = new RecordIds(sql);
      // More than three quarters of the slots that fit into the memory.
      for (let from = 0; from < 220_000; from += 20_000) stored.add(1, ids(from, from + 20_000), now);
      expect(recordIdBytes()).toBe(0);
      expect(stored.known(1, ids(199_990, 220_010), now)).toHaveLength(20_010);
      stored.write(now);
    });
  });

  it("are forgotten after a day, and by a rollback", async () => {
    await onStorage(tenant.workspaceId, (storage) => {
      const stored = new RecordIds(storage.sql);
      expect(() =>
        storage.transactionSync(() => {
          stored.add(1, ids(1, 2), now);
          stored.write(now);
          throw new Error("rolled back");
        }),
      ).toThrow("rolled back");
      stored.forget();
      expect(stored.known(1, ids(1, 3), now)).toEqual([]);
      stored.add(1, ids(2, 3), now);
      stored.write(now);
      expect(stored.known(1, ids(1, 3), now)).toEqual([1]);
      const { ageMs, openMs } = RECORD_ID_BOUNDS;
      stored.sweep(now + ageMs);
      expect(stored.known(1, ids(1, 3), now + ageMs)).toEqual([1]);
      stored.sweep(now + ageMs + openMs);
      expect(stored.known(1, ids(1, 3), now + ageMs + openMs)).toEqual([]);
    });
    expect(await blocks()).toEqual([]);
  });

  it("begin with the version that has the table", async () => {
    await bulk(doc("create", "a", "one"));
    await onStorage(tenant.workspaceId, (storage) =>
      storage.transactionSync(() => {
        takeBack(storage.sql, WORKSPACE_SCHEMA, RECORD_IDS_SCHEMA, [
          "workspace",
          "members",
          "projects",
          "keys",
          "batches",
        ]);
      }),
    );
    await evict(tenant.workspaceId);
    await bulk(doc("create", "b", "two") + doc("create", "c", "three"));
    await bulk(doc("create", "c", "three"));
    expect(await messagesOf(tenant)).toEqual(["one", "two", "three"]);
  });
});
