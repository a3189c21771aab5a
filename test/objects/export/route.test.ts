import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queryPageSchema } from "../../../src/logs/entry-view.ts";
import { app } from "../../../src/routes/app.ts";
import { answerOf, bearer, call, requestOf } from "../accounts/support.ts";
import { loggedEvents } from "../events.ts";
import { clock, flushAll, sendBatches, watermark } from "../flush/support.ts";
import { addKey, newTenant, numbered, receiptOf, send, type Tenant, workspace } from "../ingest/support.ts";

beforeAll(clock.start);
afterAll(clock.stop);

function get(tenant: Tenant, query = "", init: { method?: string; headers?: Record<string, string> } = {}) {
  const headers = { ...bearer(tenant.secret), ...init.headers };
  return exports.default.fetch(requestOf(`/logger/${tenant.projectId}/export${query}`, { ...init, headers }));
}

interface Exported {
  lines: string[];
  manifest: Record<string, unknown>;
}

async function read(answer: Response): Promise<Exported> {
  expect(answer.status).toBe(200);
  const text = Buffer.from(await answer.arrayBuffer()).toString();
  const at = text.lastIndexOf('{"manifest":');
  const { manifest } = JSON.parse(text.slice(at));
  expect(manifest.sha256).toBe(createHash("sha256").update(text.slice(0, at)).digest("hex"));
  return { lines: text.slice(0, at).split("\n").slice(0, -1), manifest };
}

/** All entries as a query returns them, in order of `seq`. */
async function queried(tenant: Tenant): Promise<string[]> {
  const body = { order: "asc", pagination: { limit: 1000 } };
  const answer = await call("/logger/query", { body, headers: bearer(tenant.secret) });
  const { logs } = queryPageSchema.parse(answer.data);
  return logs.sort((a, b) => a.seq - b.seq).map((entry) => JSON.stringify(entry));
}

describe("GET /logger/:projectId/export", () => {
  it("returns the entries of both tiers as queries do, with their count, range and SHA-256", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 200, 1, 99);
    await flushAll(tenant);
    await sendBatches(tenant, 100, 100);
    expect(await watermark(tenant)).toBe(300);
    const answer = await get(tenant);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/x-ndjson",
      "content-disposition": `attachment; filename="${tenant.projectId}.ndjson"`,
      "cache-control": "private, no-cache",
      "x-ratelimit-remaining": "997",
    });
    const { lines, manifest } = await read(answer);
    expect(lines.map((line) => JSON.stringify(JSON.parse(line)))).toEqual(await queried(tenant));
    expect(manifest).toMatchObject({ count: 500, firstSeq: 1, lastSeq: 500, through: 500, complete: true });
    const { lines: rest, manifest: own } = await read(await get(tenant, "?afterSeq=299&format=ndjson"));
    expect(rest).toEqual(lines.slice(299));
    expect(own).toMatchObject({ afterSeq: 299, count: 201, firstSeq: 300 });
    const later = await get(tenant, `?from=${Date.now() + 60_000}&to=2100-01-01`);
    expect((await read(later)).manifest).toMatchObject({ count: 0, firstSeq: null, complete: true });
  });

  it("returns a Parquet file", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 50);
    await flushAll(tenant);
    await sendBatches(tenant, 50);
    const answer = await get(tenant, "?format=parquet&afterSeq=10");
    expect(answer.headers.get("Content-Type")).toBe("application/vnd.apache.parquet");
    expect(answer.headers.get("Content-Disposition")).toBe(
      `attachment; filename="${tenant.projectId}-after-10.parquet"`,
    );
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([bytes.toString("latin1", 0, 4), bytes.toString("latin1", bytes.length - 4)]).toEqual(["PAR1", "PAR1"]);
    expect(bytes.toString("latin1")).toContain('"count":90,"firstSeq":11,"lastSeq":100,"through":100,"complete":true');
  });

  it("answers HEAD without a body, and If-None-Match with 304 while nothing has changed", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 20);
    const query = `?from=${Date.now() - 3_600_000}`;
    const head = await get(tenant, query, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const tag = head.headers.get("ETag") ?? "";
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    const unchanged = await get(tenant, query, { headers: { "If-None-Match": `"other", ${tag}` } });
    expect([unchanged.status, await unchanged.text(), unchanged.headers.get("ETag")]).toEqual([304, "", tag]);
    await sendBatches(tenant, 1);
    const any = await get(tenant, query, { headers: { "If-None-Match": "*" } });
    expect([any.status, await any.text()]).toEqual([304, ""]);
    expect(any.headers.get("ETag")).not.toBe(tag);
    const changed = await get(tenant, query, { headers: { "If-None-Match": tag } });
    expect((await read(changed)).manifest).toMatchObject({ count: 21 });
  });

  it("refuses what a query refuses, and what no export can be, with a JSON error", async () => {
    const tenant = await newTenant();
    await sendBatches(tenant, 3);
    const { secret: writeOnly } = await addKey(tenant, ["logs:write"]);
    const other = await newTenant();
    for (const [answer, status, code] of [
      [get({ ...tenant, secret: writeOnly }), 403, "INSUFFICIENT_SCOPE"],
      [get({ ...tenant, secret: other.secret }), 404, "NOT_FOUND"],
      [get({ ...tenant, projectId: "proj_unknown" }), 404, "NOT_FOUND"],
      [get(tenant, "?format=csv"), 400, "VALIDATION_ERROR"],
      [get(tenant, "?limit=5"), 400, "VALIDATION_ERROR"],
      [get(tenant, "?from=yesterday"), 400, "VALIDATION_ERROR"],
      [get(tenant, "?afterSeq=4"), 400, "VALIDATION_ERROR"],
    ] as const) {
      const { status: given, code: named } = await answerOf(await answer);
      expect([given, named]).toEqual([status, code]);
    }
    const none = await call(`/logger/${tenant.projectId}/export`);
    expect([none.status, none.code]).toEqual([401, "UNAUTHORIZED"]);
  });

  it("answers 503 in JSON if D1 fails before the first byte, and ends without a manifest if it fails later", async () => {
    const tenant = await newTenant();
    // Two segments that are read one after the other.
    for (let at = 0; at < 2; at++) {
      receiptOf(await send(tenant, numbered(10)));
      await flushAll(tenant);
    }
    let reads = 0;
    const failing = (from: number) => {
      reads = 0;
      const prepare = (sql: string) => {
        if (sql.includes("substr(body") && ++reads >= from) throw new Error("D1_ERROR: network connection lost");
        return env.COLD_DB.prepare(sql);
      };
      const COLD_DB = new Proxy(env.COLD_DB, {
        get: (db, name) => (name === "prepare" ? prepare : Reflect.get(db, name)),
      });
      const request = requestOf(`/logger/${tenant.projectId}/export`, { headers: bearer(tenant.secret) });
      return app.fetch(request, { ...env, COLD_DB }, createExecutionContext());
    };
    const refused = await answerOf(await failing(1));
    expect([refused.status, refused.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    // Nothing was sent before the failure: the first 64 KiB were not full.
    const early = await answerOf(await failing(2));
    expect([early.status, early.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    receiptOf(await send(tenant, [{ message: "x".repeat(150_000) }]));
    await flushAll(tenant);
    receiptOf(await send(tenant, numbered(1)));
    await flushAll(tenant);
    const lines = loggedEvents();
    const cut = await failing(4);
    expect(cut.status).toBe(200);
    const chunks: string[] = [];
    const ended = (async () => {
      for await (const chunk of cut.body ?? []) chunks.push(new TextDecoder().decode(chunk));
    })();
    await expect(ended).rejects.toThrow();
    expect(chunks.length).toBeGreaterThan(0);
    expect(chunks.join("")).not.toContain("manifest");
    expect(lines.of("workspace.export.end")).toMatchObject([{ outcome: "failed", complete: false, rows: 21 }]);
  });

  it("ends without a manifest once its key is revoked", async () => {
    const tenant = await newTenant();
    // More than a page of the object, also compressed.
    const random = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64");
    for (let at = 0; at < 24; at++) receiptOf(await send(tenant, [{ message: random(60_000) }]));
    const answer = await get(tenant);
    const reader = answer.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await workspace(tenant.workspaceId).revokeKey(tenant.ownerId, tenant.projectId, tenant.keyId);
    const drained = (async () => {
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read());
    })();
    await expect(drained).rejects.toThrow();
  });
});
