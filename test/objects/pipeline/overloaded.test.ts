import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { UserObject } from "../../../src/objects/user/user.ts";
import { answerOf, bearer, callWith, requestOf } from "../accounts/support.ts";
import { newTenant, numbered, send, type Tenant } from "../ingest/support.ts";
import { newOwner, newProject } from "../projects/support.ts";

const RESET = { overloaded: true, durableObjectReset: true };
const BUSY = { overloaded: true };

/** A binding of the workspaces on which the first calls fail as the platform makes them fail. */
function failing(flags: object, times: number) {
  const made = { stubs: 0 };
  const WORKSPACES = {
    idFromName: (name: string) => env.WORKSPACES.idFromName(name),
    get: (id: DurableObjectId) => {
      if (made.stubs++ >= times) return env.WORKSPACES.get(id);
      return new Proxy({}, { get: () => () => Promise.reject(Object.assign(new Error("failed"), flags)) });
    },
  };
  return { made, bindings: { WORKSPACES } };
}

describe("D19: a workspace object that was reset under load", () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await newTenant();
    await send(tenant, numbered(3));
  });
  const log = (bindings: object, headers: Record<string, string> = {}) =>
    callWith(bindings, `/logger/${tenant.projectId}/log`, {
      body: { message: "m" },
      headers: { ...bearer(tenant.secret), ...headers },
    });

  it("D19: stores entries with an Idempotency-Key at the second attempt, by a new stub, once", async () => {
    const { made, bindings } = failing(RESET, 1);
    const first = await log(bindings, { "Idempotency-Key": "d19" });
    expect([first.status, first.data]).toMatchObject([201, { accepted: 1, duplicate: false }]);
    expect(made.stubs).toBe(2);
    expect((await log({}, { "Idempotency-Key": "d19" })).data).toMatchObject({ duplicate: true });
  });

  it("D19: gets entries without one only once, because they might be stored twice", async () => {
    const { made, bindings } = failing(RESET, 1);
    const answer = await log(bindings);
    expect([answer.status, answer.code, answer.headers.get("Retry-After")]).toEqual([503, "SERVICE_UNAVAILABLE", "1"]);
    expect(made.stubs).toBe(1);
  });

  it("D19: is called once if it is overloaded and was not reset, and three times if it is unreachable", async () => {
    const busy = failing(BUSY, 1);
    expect((await log(busy.bindings, { "Idempotency-Key": "d19-busy" })).status).toBe(503);
    expect(busy.made.stubs).toBe(1);
    const away = failing(RESET, 9);
    expect((await log(away.bindings, { "Idempotency-Key": "d19-away" })).status).toBe(503);
    expect(away.made.stubs).toBe(3);
  });
});

describe("D19: a user object that cannot answer a workspace object", () => {
  const own = Object.getOwnPropertyDescriptor(UserObject.prototype, "subscribeToSessionEnd");
  afterEach(() => {
    if (own) Object.defineProperty(UserObject.prototype, "subscribeToSessionEnd", own);
  });

  it("D19: makes the opening of a tail a 503 with the limit headers, not a 500", async () => {
    const owner = await newOwner();
    const projectId = await newProject(owner);
    // A user object of an older version, without the method that the workspace object calls.
    Reflect.deleteProperty(UserObject.prototype, "subscribeToSessionEnd");
    const headers = { ...owner.headers, Upgrade: "websocket" };
    const answer = await answerOf(await exports.default.fetch(requestOf(`/logger/${projectId}/tail`, { headers })));
    expect([answer.status, answer.code, answer.headers.get("Retry-After")]).toEqual([503, "SERVICE_UNAVAILABLE", "1"]);
    expect(answer.headers.get("X-RateLimit-Limit")).toBe("1000");
  });
});

describe("C: a directory that cannot be read", () => {
  const login = (error: Error) => {
    const first = () => Promise.reject(error);
    const DB = { prepare: () => ({ bind: () => ({ first }) }) };
    const body = { email: "somebody@example.com", password: "correct horse battery" };
    return callWith({ DB }, "/auth/login", { body });
  };

  it.each([{ durableObjectReset: true }, { retryable: true }, { overloaded: true }])(
    "C: as the call to D1 failed with %j, is a login's 503",
    async (flags) => {
      const answer = await login(Object.assign(new Error("failed"), flags));
      expect([answer.status, answer.code, answer.headers.get("Retry-After")]).toEqual([
        503,
        "SERVICE_UNAVAILABLE",
        "1",
      ]);
    },
  );

  it("C: makes a login a 503 if a read ends with EIO; a wrong statement stays a 500", async () => {
    const failed = await login(new Error("D1_ERROR: database disk image is malformed: SQLITE_CORRUPT"));
    expect([failed.status, failed.headers.get("Retry-After")]).toEqual([503, "30"]);
    expect((await login(new Error("D1_ERROR: no such table: users: SQLITE_ERROR"))).status).toBe(500);
  });
});
