import { runDurableObjectAlarm } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { INGEST_LIMITS } from "../../../src/logs/entry.ts";
import { largeBodies } from "../../../src/platform/isolate-memory.ts";
import { deleteBatches } from "../../../src/workspace/recent/batches.ts";
import { STAGING_SCHEMA } from "../../../src/workspace/recent/staged-batches.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { bearer } from "../accounts/support.ts";
import { batchOf } from "../query/support.ts";
import {
  evict,
  gzip,
  messagesOf,
  newTenant,
  onSql,
  receiptOf,
  send,
  storedEntries,
  type Tenant,
  workspace,
} from "./support.ts";

const NDJSON = "application/x-ndjson";
const type = NDJSON;
const LIMIT = INGEST_LIMITS.linesBodyBytes;

const bytesOf = (text: string) => new TextEncoder().encode(text);
const lineOf = (message: string) => `${JSON.stringify({ message })}\n`;

/** Text that hardly compresses. */
function noise(length: number): string {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  // 64 characters of one byte: 6 of 8 bits are random.
  return Array.from({ length: Math.ceil(length / 4096) }, (_, i) => {
    return String.fromCharCode(...bytes.subarray(i * 4096, (i + 1) * 4096).map((byte) => 0x30 + (byte & 63)));
  })
    .join("")
    .replaceAll("\\", "~");
}

/** A body that arrives in chunks, without a length. */
function chunked(bytes: Uint8Array, size = 100_000): ReadableStream {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

/** Entries of 200 KB that hardly compress: stored they are more than one call carries. */
function incompressible(size: number): string {
  const one = lineOf(noise(200_000));
  const lines = Array.from({ length: Math.floor(size / one.length) }, (_, i) => one.replace(/"\}\n$/, `${i % 10}"}\n`));
  const text = lines.join("").slice(0, size);
  const whole = text.lastIndexOf("\n") + 1;
  return text.slice(0, whole).padEnd(size, " ");
}

async function countRows(tenant: Tenant) {
  return onSql(tenant.workspaceId, (sql) => {
    const count = (table: string) => Number(sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n);
    return { batches: count("batches"), parts: count("batch_parts"), staged: count("staged_batches") };
  });
}

describe("issue 16, point 7: NDJSON", () => {
  it("may have 20,000 entries, in one run of seq, and not one more", async () => {
    const own = await newTenant();
    const lines = Array.from({ length: INGEST_LIMITS.linesEntries }, (_, i) => lineOf(`m${i}`)).join("");
    const more = await send(own, bytesOf(`${lines}{}`), { type });
    expect([more.status, more.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(await countRows(own)).toEqual({ batches: 0, parts: 0, staged: 0 });
    const before = receiptOf(await send(own, { message: "first" }));
    const receipt = receiptOf(await send(own, bytesOf(lines), { type }));
    expect(receipt).toMatchObject({
      accepted: 20_000,
      rejectedCount: 0,
      firstSeq: before.lastSeq + 1,
      lastSeq: 20_001,
    });
    const stored = await messagesOf(own);
    expect(stored[0]).toBe("first");
    expect(stored.slice(1)).toEqual(Array.from({ length: 20_000 }, (_, i) => `m${i}`));
    // Rows written are the bill: one for 1,000 entries.
    expect((await countRows(own)).batches).toBe(21);
  });

  it("may have up to 20,000 entries in a small body, too", async () => {
    const own = await newTenant();
    const lines = Array.from({ length: 3500 }, () => '{"message":"m"}').join("\n");
    expect(lines.length).toBeLessThan(65_536);
    expect(receiptOf(await send(own, lines, { type })).accepted).toBe(3500);
    expect(await messagesOf(own)).toHaveLength(3500);
  });

  it("may have exactly 20 MiB, with and without a length, before and after decompression", async () => {
    const own = await newTenant();
    const line = lineOf("x".repeat(100_000));
    const lines = line.repeat(Math.floor(LIMIT / line.length));
    const count = lines.length / line.length;
    const exact = bytesOf(lines.padEnd(LIMIT, " "));
    const over = bytesOf(lines.padEnd(LIMIT + 1, " "));
    const headers = { "Content-Encoding": "gzip" };
    const zip = async (bytes: Uint8Array) => gzip(new TextDecoder().decode(bytes));
    for (const [body, options] of [
      [over, {}],
      [chunked(over), {}],
      [await zip(over), { headers }],
    ] as const) {
      const answer = await send(own, body, { type, ...options });
      expect([answer.status, answer.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
      expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    }
    expect(await countRows(own)).toEqual({ batches: 0, parts: 0, staged: 0 });
    for (const [body, options] of [
      [exact, {}],
      [chunked(exact), {}],
      [await zip(exact), { headers }],
    ] as const) {
      expect(receiptOf(await send(own, body, { type, ...options })).accepted).toBe(count);
    }
    expect(await messagesOf(own)).toHaveLength(3 * count);
    expect(largeBodies.held).toBe(0);
  });

  it("that hardly compresses is stored in rows below 2 MB, whole, and read and deleted like other batches", async () => {
    const own = await newTenant();
    const text = incompressible(7 * 1024 * 1024);
    const again = { type, idempotencyKey: "large" };
    const receipt = receiptOf(await send(own, chunked(bytesOf(text)), again));
    const sent = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    expect(receipt).toMatchObject({ accepted: sent.length, firstSeq: 1, lastSeq: sent.length, duplicate: false });
    expect(await messagesOf(own)).toEqual(sent);
    const rows = await countRows(own);
    expect(rows.staged).toBe(0);
    expect(rows.parts).toBeGreaterThan(5);
    // A late retry of the whole body, and of another body.
    expect(receiptOf(await send(own, bytesOf(text), again))).toEqual({ ...receipt, duplicate: true });
    expect((await send(own, bytesOf(text.replace("0", "1")), again)).status).toBe(409);
    expect(await countRows(own)).toEqual(rows);
    await evict(own.workspaceId);
    expect(await messagesOf(own)).toEqual(sent);
    // After the flush the parts are gone.
    await onSql(own.workspaceId, (sql) => void sql.exec("UPDATE batches SET received_at = 0"));
    await evict(own.workspaceId);
    for (let runs = 0; runs < 40 && (await countRows(own)).batches > 0; runs++) {
      await runDurableObjectAlarm(workspace(own.workspaceId));
    }
    expect(await countRows(own)).toEqual({ batches: 0, parts: 0, staged: 0 });
    const query = await exports.default.fetch("http://taffrail.test/logger/query", {
      method: "POST",
      headers: { ...bearer(own.secret), "Content-Type": "application/json" },
      body: JSON.stringify({ pagination: { limit: 3 }, order: "asc" }),
    });
    const { data } = await query.json<{ data: { logs: { seq: number; message: string }[] } }>();
    expect(data.logs.map(({ seq, message }) => [seq, message])).toEqual(sent.slice(0, 3).map((m, i) => [i + 1, m]));
  });

  it("that is cut, or fails at its end, leaves nothing and counts once", async () => {
    const own = await newTenant();
    const text = incompressible(5 * 1024 * 1024);
    const remaining = async (body: Uint8Array<ArrayBuffer>, headers = {}) => {
      const answer = await send(own, body, { type, headers });
      expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
      return Number(answer.headers.get("X-RateLimit-Remaining"));
    };
    const first = await remaining(Uint8Array.from(bytesOf("nothing")));
    expect(await remaining(new Uint8Array([...bytesOf(text), 0xff]))).toBe(first - 1);
    const zipped = await gzip(text);
    expect(await remaining(Uint8Array.from(zipped.subarray(0, -100)), { "Content-Encoding": "gzip" })).toBe(first - 2);
    expect(await countRows(own)).toEqual({ batches: 0, parts: 0, staged: 0 });
    expect(await storedEntries(own.workspaceId)).toEqual([]);
    expect(largeBodies.held).toBe(0);
  });

  it("counts once when its batches arrive in several calls, and is refused as a whole by the limit", async () => {
    const own = await newTenant();
    const text = bytesOf(incompressible(8 * 1024 * 1024));
    const first = await send(own, { message: "m" });
    const second = await send(own, text, { type });
    expect(receiptOf(second).accepted).toBe(41);
    expect(Number(second.headers.get("X-RateLimit-Remaining"))).toBe(
      Number(first.headers.get("X-RateLimit-Remaining")) - 1,
    );
    await onSql(own.workspaceId, (sql) => {
      sql.exec("UPDATE workspace SET default_limit = 3, default_window_seconds = 60");
    });
    await evict(own.workspaceId);
    receiptOf(await send(own, { message: "m" }));
    const refused = await send(own, text, { type });
    expect([refused.status, refused.code]).toEqual([429, "RATE_LIMITED"]);
    expect(await countRows(own)).toMatchObject({ staged: 0 });
    expect(await messagesOf(own)).toHaveLength(43);
  });

  it("loses only the entries that are older than the retention", async () => {
    const own = await newTenant();
    await onSql(own.workspaceId, (sql) => void sql.exec("UPDATE workspace SET retention_days = 1"));
    await evict(own.workspaceId);
    const old = new Date(Date.now() - 3 * 86_400_000).toISOString();
    for (const pad of [10, 12_000]) {
      const lines = Array.from({ length: 1500 }, (_, i) => {
        const message = `${i} ${noise(pad)}`;
        return JSON.stringify(i % 10 === 3 ? { timestamp: old, message } : { message });
      });
      const receipt = receiptOf(await send(own, bytesOf(lines.join("\n")), { type }));
      expect(receipt).toMatchObject({ accepted: 1350, rejectedCount: 150 });
      expect(receipt.rejected).toHaveLength(100);
      receipt.rejected.forEach(({ index, code }, at) => {
        expect([index, code]).toEqual([at * 10 + 3, "TIMESTAMP_TOO_OLD"]);
      });
    }
    const kept = Array.from({ length: 1500 }, (_, i) => i).filter((i) => i % 10 !== 3);
    expect((await messagesOf(own)).map((message) => Number(message.split(" ")[0]))).toEqual([...kept, ...kept]);
  });

  it("with an unknown key is refused before it takes memory", async () => {
    const own = await newTenant();
    await onSql(own.workspaceId, (sql) => void sql.exec("UPDATE keys SET revoked_at = 1"));
    await evict(own.workspaceId);
    const answer = await send(own, bytesOf(incompressible(3_000_000)), { type });
    expect([answer.status, answer.code]).toEqual([401, "API_KEY_REVOKED"]);
    expect(await countRows(own)).toEqual({ batches: 0, parts: 0, staged: 0 });
  });
});

describe("staged batches", () => {
  it("that were abandoned are deleted after 15 minutes, and are never read", async () => {
    const own = await newTenant();
    const call = { keyHash: await hashOf(own), projectId: own.projectId, route: null, upload: "u", oldest: null };
    const batches = [batchOf([{ timestamp: Date.now(), message: "abandoned" }])];
    const stub = workspace(own.workspaceId);
    expect(await stub.stageBatches({ ...call, batches })).toMatchObject({ ok: true });
    receiptOf(await send(own, { message: "m" }));
    expect(await messagesOf(own)).toEqual(["m"]);
    expect(await countRows(own)).toEqual({ batches: 1, parts: 1, staged: 1 });
    await runDurableObjectAlarm(stub);
    expect(await countRows(own)).toMatchObject({ staged: 1 });
    await onSql(own.workspaceId, (sql) => void sql.exec("UPDATE staged_batches SET staged_at = staged_at - 900001"));
    await evict(own.workspaceId);
    await stub.getWorkspaceInfo(own.ownerId);
    await runDurableObjectAlarm(stub);
    expect(await countRows(own)).toEqual({ batches: 1, parts: 0, staged: 0 });
    // What has lost a batch is not committed.
    const rest = {
      idempotency: null,
      batch: null,
      rejected: [],
      rejectedCount: 0,
      staged: { upload: "u", batches: 1 },
    };
    expect(await stub.ingestBatches({ ...call, ...rest })).toMatchObject({ ok: false, code: "SERVICE_UNAVAILABLE" });
    expect(await messagesOf(own)).toEqual(["m"]);
  });
});

async function hashOf({ workspaceId, keyId }: Tenant): Promise<string> {
  return onSql(workspaceId, (sql) => String(sql.exec("SELECT hash FROM keys WHERE id = ?", keyId).one().hash));
}

it("batches with parts of the version before are read and deleted as before", async () => {
  const own = await newTenant();
  const messages = Array.from({ length: 12 }, () => noise(200_000));
  receiptOf(
    await send(
      own,
      messages.map((message) => ({ message })),
    ),
  );
  // No statement of the object may be open.
  await evict(own.workspaceId);
  await onSql(own.workspaceId, (sql) => {
    sql.exec("DROP TABLE staged_batches");
    sql.exec("ALTER TABLE batches DROP COLUMN parts_key");
    // Of later versions.
    sql.exec("DROP TABLE compactions");
    sql.exec("DROP TABLE cold_databases");
    sql.exec("ALTER TABLE workspace DROP COLUMN has_files");
    sql.exec("ALTER TABLE keys DROP COLUMN settings");
    sql.exec("ALTER TABLE keys DROP COLUMN settings_version");
    sql.exec("DROP TABLE ledger");
    sql.exec("DROP TABLE streams");
    sql.exec("DROP TABLE gaps");
    sql.exec("DROP TABLE saved_items");
    sql.exec("DROP TABLE record_ids");
    for (const table of ["destinations", "notifications", "deliveries"]) sql.exec(`DROP TABLE ${table}`);
    for (const table of ["rules", "versions", "runs", "positions", "groups", "gaps", "decisions", "buckets"]) {
      sql.exec(`DROP TABLE alert_${table}`);
    }
    for (const table of ["grant_tokens", "grants"]) sql.exec(`DROP TABLE ${table}`);
    sql.exec("ALTER TABLE workspace DROP COLUMN last_received_at");
    sql.exec("UPDATE schema_version SET version = ?", WORKSPACE_SCHEMA.indexOf(STAGING_SCHEMA));
  });
  await evict(own.workspaceId);
  expect(await messagesOf(own)).toEqual(messages);
  expect((await countRows(own)).parts).toBeGreaterThan(0);
  await onSql(own.workspaceId, (sql) => deleteBatches(sql, [1]));
  expect(await countRows(own)).toEqual({ batches: 0, parts: 0, staged: 0 });
});
