import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { logId } from "../../../src/logs/entry-view.ts";
import { type Answer, bearer, callWith } from "../accounts/support.ts";
import { newTenant, receiptOf, send, type Tenant, workspace } from "../ingest/support.ts";
import { EVERYTHING } from "../query/support.ts";

let tenant: Tenant;

beforeAll(async () => {
  tenant = await newTenant();
  receiptOf(await send(tenant, { level: "info", message: "m" }));
});

/** Bindings with which a router calls workspace objects through `change`. */
function objectsSeenThrough(change: (stub: object, method: string, args: unknown[]) => unknown) {
  return {
    WORKSPACES: {
      idFromName: (name: string) => env.WORKSPACES.idFromName(name),
      get: (id: DurableObjectId) => {
        const stub = env.WORKSPACES.get(id);
        return new Proxy(stub, {
          get:
            (_, method) =>
            (...args: unknown[]) =>
              change(stub, String(method), args),
        });
      },
    },
  };
}

/** An object of the version before, without the newer members of calls and responses. */
const OLDER_OBJECT = objectsSeenThrough(async (stub, method, [first, ...more]) => {
  const { charge: _new, ...known } = Object(first);
  const answer = await Reflect.get(stub, method)(typeof first === "object" ? known : first, ...more);
  if (method !== "recent" && method !== "recentCounts" && method !== "readBySeq") return answer;
  const { value: _value, ...earlier } = answer;
  return earlier;
});

/** A router of the version before: its calls lack the newer members. */
const OLDER_ROUTER = objectsSeenThrough((stub, method, [first, ...more]) => {
  const { charge: _new, ...known } = Object(first);
  return Reflect.get(stub, method)(typeof first === "object" ? known : first, ...more);
});

const requests = ({ projectId, secret }: Tenant, bindings: object): [string, () => Promise<Answer>][] => {
  const headers = bearer(secret);
  return [
    [
      "ingest",
      () => callWith(bindings, `/logger/${projectId}/log`, { headers, body: { level: "info", message: "n" } }),
    ],
    ["query", () => callWith(bindings, "/logger/query", { headers, body: {} })],
    ["stats", () => callWith(bindings, "/logger/stats", { headers, body: { interval: "1d" } })],
    ["context", () => callWith(bindings, `/logger/${projectId}/log/${logId(projectId, 1)}?after=1`, { headers })],
    ["ticket", () => callWith(bindings, `/logger/${projectId}/tail/ticket`, { method: "POST", headers })],
  ];
};

const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

describe.each([
  ["a router that is newer than the object it calls", OLDER_OBJECT],
  ["a router that is older than the object it calls", OLDER_ROUTER],
] as const)("%s", (_, bindings) => {
  it("counts each request with an API key once", async () => {
    const [[, first]] = requests(tenant, {}) as [[string, () => Promise<Answer>]];
    let left = remaining(await first());
    for (const [name, ask] of requests(tenant, bindings)) {
      const answer = await ask();
      expect([name, answer.code, remaining(answer)]).toEqual([name, null, left - 1]);
      left--;
    }
  });
});

it("a page of logs has both names of its value, for routers of both versions", async () => {
  const caller = { kind: "user", userId: tenant.ownerId } as const;
  const call = { caller, route: null, projectId: null, readsColdDb: true, readsFiles: true };
  const result = await workspace(tenant.workspaceId).recent({ ...call, scan: EVERYTHING });
  if (!result.ok) throw new Error(result.message);
  expect(result.value.batches.length).toBeGreaterThan(0);
  expect(result.page).toEqual(result.value);
});
