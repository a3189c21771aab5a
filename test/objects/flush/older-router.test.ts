import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { logId } from "../../../src/logs/entry-view.ts";
import { type Answer, bearer, callWith } from "../accounts/support.ts";
import { newTenant, onSql, type Tenant } from "../ingest/support.ts";
import { storeAsEarlier } from "./earlier.ts";
import { clock, flushAll, flushLines, sendBatches } from "./support.ts";

beforeEach(() => {
  clock.start();
  flushLines();
});
afterEach(() => clock.stop());

/** Bindings of a router of the version before, whose calls do not state that it reads both databases. */
const OLDER = {
  WORKSPACES: {
    idFromName: (name: string) => env.WORKSPACES.idFromName(name),
    get: (id: DurableObjectId) => {
      const stub = env.WORKSPACES.get(id);
      return new Proxy(stub, {
        get: (_, method) => (call: object) => {
          const { readsColdDb: _left, ...known } = Object(call);
          return Reflect.get(stub, method)(known);
        },
      });
    },
  },
};

function reads({ projectId, secret }: Tenant, bindings: object): Promise<Answer[]> {
  const headers = bearer(secret);
  const requests: [path: string, body?: object][] = [
    ["/logger/query", {}],
    ["/logger/stats", { interval: "1h" }],
    ["/logger/stats", { interval: "1h", filters: { search: "m" } }],
    [`/logger/${projectId}/log/${logId(projectId, 1)}?after=3`],
  ];
  return Promise.all(requests.map(([path, body]) => callWith(bindings, path, { headers, ...(body ? { body } : {}) })));
}

describe("D25: a router of the version before, which reads only DB", () => {
  let tenant: Tenant;

  beforeAll(async () => {
    tenant = await newTenant();
  });

  it("D25: gets a retryable error after entries have moved to COLD_DB, and not before", async () => {
    await sendBatches(tenant, 5);
    for (const { status } of await reads(tenant, OLDER)) expect(status).toBe(200);
    await flushAll(tenant);
    for (const answer of await reads(tenant, OLDER)) {
      expect([answer.status, answer.code, answer.headers.get("Retry-After")]).toEqual([
        503,
        "SERVICE_UNAVAILABLE",
        "1",
      ]);
    }
    for (const { status } of await reads(tenant, {})) expect(status).toBe(200);
  });

  it("D25: reads the entries that were moved to DB", async () => {
    const earlier = await newTenant();
    await sendBatches(earlier, 5);
    await flushAll(earlier);
    await storeAsEarlier(earlier.workspaceId);
    // That version did not record the ranges that it moved.
    await onSql(earlier.workspaceId, (sql) => sql.exec("DELETE FROM flushed_ranges"));
    for (const { status } of await reads(earlier, OLDER)) expect(status).toBe(200);
  });
});
