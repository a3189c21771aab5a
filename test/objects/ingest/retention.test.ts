import { describe, expect, it } from "vitest";
import { RETENTION_DAYS } from "../../../src/logs/entry.ts";
import { evict, messagesOf, newTenant, onSql, receiptOf, send, type Tenant } from "./support.ts";

const DAY_MS = 86_400_000;

const keep = async ({ workspaceId }: Tenant, days: number) => {
  await onSql(workspaceId, (sql) => void sql.exec("UPDATE workspace SET retention_days = ?", days));
  await evict(workspaceId);
};

describe("entries older than the workspace's retention", () => {
  it("are listed, the valid ones are stored, and the request is counted once", async () => {
    const tenant = await newTenant();
    const old = (days: number) => ({ message: `${days} days`, timestamp: Date.now() - days * DAY_MS });
    const answer = await send(tenant, [old(1), old(31), { message: "" }, old(29), old(400), old(364)]);
    const receipt = receiptOf(answer);
    expect(receipt).toMatchObject({ accepted: 2, rejectedCount: 4, firstSeq: 1, lastSeq: 2 });
    expect(receipt.rejected.map(({ index, code }) => [index, code])).toEqual([
      [1, "TIMESTAMP_TOO_OLD"],
      [2, "INVALID_MESSAGE"],
      [4, "TIMESTAMP_TOO_OLD"],
      [5, "TIMESTAMP_TOO_OLD"],
    ]);
    expect(answer.headers.get("X-RateLimit-Remaining")).toBe("999");
    expect(await messagesOf(tenant)).toEqual(["1 days", "29 days"]);
  });

  it("alone are a 400, counted once", async () => {
    const tenant = await newTenant();
    const answer = await send(tenant, { message: "m", timestamp: Date.now() - 31 * DAY_MS });
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([{ index: 0, code: "TIMESTAMP_TOO_OLD" }]);
    expect(answer.headers.get("X-RateLimit-Remaining")).toBe("999");
  });

  it("are judged by the workspace's own retention", async () => {
    const tenant = await newTenant();
    const body = [2, 100, 364].map((days) => ({ message: `${days}`, timestamp: Date.now() - days * DAY_MS }));
    await keep(tenant, RETENTION_DAYS.max);
    expect(receiptOf(await send(tenant, body)).accepted).toBe(3);
    await keep(tenant, RETENTION_DAYS.min);
    expect((await send(tenant, body)).status).toBe(400);
  });

  it("reveal nothing to an unauthenticated caller", async () => {
    const tenant = await newTenant();
    const other = await newTenant();
    const old = [{ message: "m", timestamp: Date.now() - 31 * DAY_MS }];
    expect((await send({ ...tenant, projectId: other.projectId }, old)).code).toBe("NOT_FOUND");
    await onSql(tenant.workspaceId, (sql) => void sql.exec("UPDATE keys SET revoked_at = 1"));
    await evict(tenant.workspaceId);
    expect((await send(tenant, old)).code).toBe("API_KEY_REVOKED");
  });
});
