import { beforeEach, describe, expect, it } from "vitest";
import {
  addKey,
  addProject,
  evict,
  gzip,
  messagesOf,
  newTenant,
  numbered,
  onSql,
  receiptOf,
  send,
  type Tenant,
} from "./support.ts";

let tenant: Tenant;
beforeEach(async () => {
  tenant = await newTenant();
});

const DAY_MS = 86_400_000;
const again = { idempotencyKey: "key 1" };
const age = (ms: number) =>
  onSql(tenant.workspaceId, (sql) => void sql.exec("UPDATE receipts SET created_at = created_at - ?", ms));
const receipts = () => onSql(tenant.workspaceId, (sql) => sql.exec("SELECT * FROM receipts").toArray().length);

describe("a repeated Idempotency-Key", () => {
  it("returns the first receipt, rejections included, and stores nothing", async () => {
    const body = [{ message: "a" }, { message: "" }, { message: "b" }];
    const first = receiptOf(await send(tenant, body, again));
    expect(first).toMatchObject({ accepted: 2, rejectedCount: 1, firstSeq: 1, lastSeq: 2, duplicate: false });
    receiptOf(await send(tenant, { message: "between" }));
    for (const _ of [1, 2]) {
      expect(receiptOf(await send(tenant, body, again))).toEqual({ ...first, duplicate: true });
      await evict(tenant.workspaceId);
    }
    expect(await messagesOf(tenant)).toEqual(["a", "b", "between"]);
  });

  it("counts as a request", async () => {
    const remaining = async () =>
      Number((await send(tenant, { message: "a" }, again)).headers.get("X-RateLimit-Remaining"));
    const before = await remaining();
    expect(await remaining()).toBe(before - 1);
  });

  it("identifies the body by its decompressed bytes", async () => {
    receiptOf(await send(tenant, '{"message":"a"}', again));
    const headers = { "Content-Encoding": "gzip" };
    const zipped = receiptOf(await send(tenant, await gzip('{"message":"a"}'), { ...again, headers }));
    expect(zipped.duplicate).toBe(true);
  });

  it("with another body or media type is a conflict, and stores nothing", async () => {
    receiptOf(await send(tenant, '{"message":"a"}', again));
    for (const [body, type] of [
      ['{"message":"b"}', "application/json"],
      ['{"message":"a"} ', "application/json"],
      ['{"message":"a"}', "application/x-ndjson"],
      ["not json", "application/json"],
      ["[]", "application/json"],
    ] as const) {
      const answer = await send(tenant, body, { ...again, type });
      expect([answer.status, answer.code]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
      expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    }
    // Parameters of a media type do not make it another one.
    const answer = await send(tenant, '{"message":"a"}', { ...again, type: "application/json; charset=utf-8" });
    expect(receiptOf(answer).duplicate).toBe(true);
    expect(await messagesOf(tenant)).toEqual(["a"]);
  });

  it("belongs to its project, and to every key of it", async () => {
    receiptOf(await send(tenant, { message: "a" }, again));
    const projectId = await addProject(tenant);
    const other = { ...tenant, projectId, ...(await addKey({ ...tenant, projectId })) };
    expect(receiptOf(await send(other, { message: "b" }, again))).toMatchObject({ duplicate: false, firstSeq: 1 });
    const sibling = { ...tenant, ...(await addKey(tenant)) };
    expect(receiptOf(await send(sibling, { message: "a" }, again)).duplicate).toBe(true);
    const stranger = await newTenant();
    expect(receiptOf(await send(stranger, { message: "c" }, again)).duplicate).toBe(false);
  });

  it("expires after 24 hours, and not before", async () => {
    receiptOf(await send(tenant, { message: "a" }, again));
    await age(DAY_MS - 60_000);
    expect(receiptOf(await send(tenant, { message: "a" }, again)).duplicate).toBe(true);
    await age(60_000);
    expect(receiptOf(await send(tenant, { message: "b" }, again))).toMatchObject({ duplicate: false, firstSeq: 2 });
    expect(receiptOf(await send(tenant, { message: "b" }, again))).toMatchObject({ duplicate: true, firstSeq: 2 });
    expect(await receipts()).toBe(1);
  });

  it("can be used again after a 400, which leaves no receipt", async () => {
    for (const body of ["{", "[]", [{ message: "" }], '{"logs":1}'])
      expect((await send(tenant, body, again)).status).toBe(400);
    expect((await send(tenant, "x".repeat(6 * 1024 * 1024), again)).status).toBe(413);
    expect(await receipts()).toBe(0);
    expect(receiptOf(await send(tenant, { message: "a" }, again)).duplicate).toBe(false);
  });

  it("still gets its receipt after the entries have expired", async () => {
    const timestamp = Date.now() - 30 * DAY_MS + 4000;
    const body = [{ message: "old", timestamp }, { message: "new" }];
    const first = receiptOf(await send(tenant, body, again));
    expect(first.accepted).toBe(2);
    // As if the retention had been shortened or the retry were later.
    await onSql(tenant.workspaceId, (sql) => void sql.exec("UPDATE workspace SET retention_days = 1"));
    await evict(tenant.workspaceId);
    expect(receiptOf(await send(tenant, body, again))).toEqual({ ...first, duplicate: true });
    expect((await send(tenant, [{ message: "other", timestamp }], again)).code).toBe("IDEMPOTENCY_CONFLICT");
    expect(await messagesOf(tenant)).toEqual(["old", "new"]);
  });

  it("is safe under concurrency: of 50 equal batches one is stored, and all get the same receipt", async () => {
    const body = [...numbered(20), { message: "" }];
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(tenant, body, again)));
    const all = answers.map(receiptOf);
    expect(all.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    for (const receipt of all) expect({ ...receipt, duplicate: false }).toEqual({ ...all[0], duplicate: false });
    expect(await messagesOf(tenant)).toHaveLength(20);
    expect(await receipts()).toBe(1);
  });

  it("is safe under concurrency with another body: one body wins, all others conflict", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => send(tenant, { message: `m${i % 4}` }, again)),
    );
    const stored = await messagesOf(tenant);
    expect(stored).toHaveLength(1);
    const expected = answers.map((_, i) => (`m${i % 4}` === stored[0] ? 201 : 409));
    expect(answers.map(({ status }) => status)).toEqual(expected);
  });
});
