import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { logId } from "../../../src/logs/entry-view.ts";
import { beginCompaction } from "../../../src/workspace/flush/compactions.ts";
import { hasFiles } from "../../../src/workspace/flush/segment-files.ts";
import { type Answer, bearer, callWith } from "../accounts/support.ts";
import { newTenant, onSql, type Tenant } from "../ingest/support.ts";
import { storeAsEarlier } from "./earlier.ts";
import { clock, flushAll, flushLines, sendBatches } from "./support.ts";

beforeEach(() => {
  clock.start();
  flushLines();
});
afterEach(() => clock.stop());

/** Bindings of a router of an older version, whose calls do not state what it can read. */
const without = (...left: readonly string[]) => ({
  WORKSPACES: {
    idFromName: (name: string) => env.WORKSPACES.idFromName(name),
    get: (id: DurableObjectId) => {
      const stub = env.WORKSPACES.get(id);
      return new Proxy(stub, {
        get: (_, method) => (call: object) => {
          const known = Object.entries(call).filter(([name]) => !left.includes(name));
          return Reflect.get(stub, method)(Object.fromEntries(known));
        },
      });
    },
  },
});
const OLDER = without("readsColdDb", "readsFiles");
const BEFORE_FILES = without("readsFiles");

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

  it("D26: that reads no segment files gets the same error once entries may be in them, and not before", async () => {
    const other = await newTenant();
    const read = (bindings: object) => callWith(bindings, "/logger/query", { headers: bearer(other.secret), body: {} });
    await sendBatches(other, 5);
    expect((await read(BEFORE_FILES)).status).toBe(200);
    await flushAll(other);
    expect([(await read({})).status, (await read(BEFORE_FILES)).status]).toEqual([200, 503]);
    // What an earlier version has moved is in blocks of lines until a compaction begins.
    await onSql(other.workspaceId, (sql) => {
      sql.exec("UPDATE workspace SET has_files = 0");
      expect(hasFiles(sql)).toBe(false);
      beginCompaction(sql, 1, Date.now());
      expect(hasFiles(sql)).toBe(true);
    });
  });

  it("D25: reads the entries that were moved to DB", async () => {
    const earlier = await newTenant();
    await sendBatches(earlier, 5);
    await flushAll(earlier);
    await storeAsEarlier(earlier.workspaceId);
    // That version did not record the ranges that it moved.
    await onSql(earlier.workspaceId, (sql) => {
      sql.exec("DELETE FROM flushed_ranges");
      sql.exec("UPDATE workspace SET has_files = 0");
    });
    for (const { status } of await reads(earlier, OLDER)) expect(status).toBe(200);
  });
});
