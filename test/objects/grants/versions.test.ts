import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { GRANT_SCHEMA } from "../../../src/grants/store.ts";
import { WorkspaceObject } from "../../../src/objects/workspace/workspace.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { bearer, call, workspaceStub } from "../accounts/support.ts";
import { callTool, rpc } from "../mcp/support.ts";
import { takeBack } from "../older-version.ts";
import { newOwner, type Owner, refresh, signIn, type Tokens, tokensIn } from "./support.ts";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
let owner: Owner;
let tokens: Tokens;

beforeAll(async () => {
  owner = await newOwner();
  tokens = await signIn(owner, { scopes: ["logs:read", "views:write", "alerts:write"] });
});

const removed: (() => void)[] = [];

/** Simulates an object of a version without the method. */
function without(method: string): void {
  for (let on: object = WorkspaceObject.prototype; method in on; on = Object.getPrototypeOf(on)) {
    const own = Object.getOwnPropertyDescriptor(on, method);
    if (!own) continue;
    Reflect.deleteProperty(on, method);
    removed.push(() => Object.defineProperty(on, method, own));
  }
}

afterEach(() => {
  vi.restoreAllMocks();
  for (const restore of removed.splice(0)) restore();
});

describe("a router that is newer than the object it calls", () => {
  it("21.3: has a retryable error for a refresh, and the token is not used up", async () => {
    without("exchangeGrant");
    const answer = await refresh(tokens.refresh);
    expect([answer.status, answer.body.error, answer.headers.get("Retry-After")]).toEqual([
      503,
      "temporarily_unavailable",
      "1",
    ]);
    for (const restore of removed.splice(0)) restore();
    tokens = tokensIn(await refresh(tokens.refresh));
  });

  it("21.3: lists no grants, and says that a tool cannot answer now", async () => {
    for (const method of ["grantsOf", "alertsForAgent", "changeForAgent"]) without(method);
    const own = await call("/oauth/grants", { headers: bearer(owner.accessToken) });
    expect([own.status, own.data]).toEqual([200, { items: [] }]);
    for (const [name, args] of [
      ["alerts", {}],
      ["save_view", { name: "x", query: "*" }],
    ] as const) {
      expect([name, (await callTool(tokens.access, name, args)).isError]).toEqual([name, true]);
    }
  });

  it("21.3: a version without grants takes the caller for no member, and has no fault", async () => {
    const whole = WorkspaceObject.prototype.admitAgent;
    vi.spyOn(WorkspaceObject.prototype, "admitAgent").mockImplementation(function (this: WorkspaceObject, asked) {
      // That version knows keys and users.
      const { caller } = asked;
      return whole.call(
        this,
        caller.kind === "grant" ? { ...asked, caller: { kind: "user", userId: caller.userId } } : asked,
      );
    });
    expect((await rpc(tokens.access, list)).status).toBe(404);
  });
});

it("21.3: a workspace of the version before gets its tables when it starts", async () => {
  const own = await newOwner();
  const stub = workspaceStub(own.workspaceId);
  await runInDurableObject(stub, (_, { storage }) =>
    takeBack(storage.sql, WORKSPACE_SCHEMA, GRANT_SCHEMA, ["workspace", "members", "projects"]),
  );
  await evictDurableObject(stub);
  expect((await rpc((await signIn(own)).access, list)).status).toBe(200);
});
