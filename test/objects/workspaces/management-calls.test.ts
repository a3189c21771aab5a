import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { COUNTED } from "../../../src/limits/state.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import type { InviteRequest } from "../../../src/workspace/invitations.ts";
import { type Answer, bearer, type Call, callWith, workspaceStub } from "../accounts/support.ts";
import { newMember, newUser, newWorkspace, type User } from "./support.ts";

/** Bindings with which a router calls objects, and the names of the methods that it calls. */
function recorded(renamed: (method: string) => string = (method) => method) {
  const calls: string[] = [];
  const through = (namespace: { idFromName(name: string): DurableObjectId; get(id: DurableObjectId): object }) => ({
    idFromName: (name: string) => namespace.idFromName(name),
    get: (id: DurableObjectId) => {
      const stub = namespace.get(id);
      return new Proxy(stub, {
        get:
          (_, method) =>
          (...args: unknown[]) => {
            calls.push(String(method));
            return Reflect.get(stub, renamed(String(method)))(...args);
          },
      });
    },
  });
  return { calls, bindings: { WORKSPACES: through(env.WORKSPACES), USERS: through(env.USERS) } };
}

let owner: User;
let workspaceId: string;
let projectId: string;
let keyId: string;
let viewId: string;
let destinationId: string;
let alertId: string;

const idOf = ({ data }: Answer) => String(Reflect.get(Object(data), "id"));
const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

interface Request {
  name: string;
  path: () => string;
  options?: Call;
  status: number;
  /** Calls of user and workspace objects, if not the usual two. */
  calls?: string[];
  /** Takes what later requests need. */
  take?: (answer: Answer) => void;
}

const inWorkspace = (rest = "") => `/workspaces/${workspaceId}${rest}`;
const inProject = (rest = "") => `/projects/${projectId}${rest}`;
const keyBody = { name: "k", scopes: ["logs:read"] };
/** The session is checked again before a secret is shown. */
const WITH_SECRET = ["authenticate", "manage", "authenticate"];

/** One request of each method of `Management`, in an order in which each finds what it needs. */
const REQUESTS: Request[] = [
  {
    name: "createProject",
    path: () => "/projects",
    options: { body: { name: "p" } },
    status: 201,
    take: (answer) => {
      projectId = idOf(answer);
    },
  },
  { name: "listProjects", path: () => "/projects", status: 200 },
  { name: "getProject", path: inProject, status: 200 },
  { name: "renameProject", path: inProject, options: { method: "PATCH", body: { name: "q" } }, status: 200 },
  {
    name: "createKey",
    path: () => inProject("/keys"),
    options: { body: keyBody },
    status: 201,
    calls: WITH_SECRET,
    take: (answer) => {
      keyId = idOf(answer);
    },
  },
  { name: "listKeys", path: () => inProject("/keys"), status: 200 },
  { name: "listWorkspaceKeys", path: () => inWorkspace("/keys"), status: 200 },
  {
    name: "rotateKey",
    path: () => inProject(`/keys/${keyId}/rotate`),
    options: { body: {} },
    status: 201,
    calls: WITH_SECRET,
  },
  { name: "revokeKey", path: () => inProject(`/keys/${keyId}`), options: { method: "DELETE" }, status: 200 },
  { name: "ledger", path: () => inProject("/ledger"), status: 200 },
  {
    name: "createSaved",
    path: () => inWorkspace("/views"),
    options: { body: { name: "v", query: "*" } },
    status: 201,
    take: (answer) => {
      viewId = idOf(answer);
    },
  },
  { name: "listSaved", path: () => inWorkspace("/boards"), status: 200 },
  { name: "getSaved", path: () => inWorkspace(`/views/${viewId}`), status: 200 },
  {
    name: "changeSaved",
    path: () => inWorkspace(`/views/${viewId}`),
    options: { method: "PATCH", body: { name: "w" } },
    status: 200,
  },
  { name: "deleteSaved", path: () => inWorkspace(`/views/${viewId}`), options: { method: "DELETE" }, status: 200 },
  {
    name: "createAlert",
    path: () => inProject("/alerts"),
    options: {
      body: { name: "a", query: "level:error", condition: { kind: "threshold", value: 1 }, window: "1m" },
    },
    status: 201,
    take: (answer) => {
      alertId = idOf(answer);
    },
  },
  { name: "listAlerts", path: () => inProject("/alerts"), status: 200 },
  { name: "getAlert", path: () => inProject(`/alerts/${alertId}`), status: 200 },
  {
    name: "changeAlert",
    path: () => inProject(`/alerts/${alertId}`),
    options: { method: "PATCH", body: { version: 1, window: "2m" } },
    status: 200,
    calls: ["authenticate", "manage", "manage"],
  },
  { name: "allAlerts", path: () => inWorkspace("/alerts"), status: 200 },
  { name: "planAlerts", path: () => inProject("/alert-plan"), options: { body: { alerts: [] } }, status: 200 },
  {
    name: "applyAlerts",
    path: () => inProject("/alerts"),
    options: { method: "PUT", body: { alerts: [] } },
    status: 200,
    calls: ["authenticate", "admit", "manage"],
  },
  {
    name: "applyAlertsAt",
    path: () => inProject("/alerts"),
    options: { method: "PUT", body: { alerts: [], revision: "another" } },
    status: 409,
    calls: ["authenticate", "admit", "manage"],
  },
  { name: "alertDestinations", path: () => inProject("/alert-destinations"), status: 200 },
  { name: "alertVersions", path: () => inProject(`/alerts/${alertId}/versions`), status: 200 },
  { name: "alertDecisions", path: () => inProject(`/alerts/${alertId}/decisions`), status: 200 },
  {
    name: "deleteAlert",
    path: () => inProject(`/alerts/${alertId}`),
    options: { method: "DELETE" },
    status: 200,
  },
  {
    name: "createDestination",
    path: () => inWorkspace("/destinations"),
    options: { body: { kind: "webhook", name: "d", url: "https://hooks.example.com/" } },
    status: 201,
    calls: ["authenticate", "admit", "manage"],
    take: (answer) => {
      destinationId = idOf(answer);
    },
  },
  { name: "listDestinations", path: () => inWorkspace("/destinations"), status: 200 },
  { name: "getDestination", path: () => inWorkspace(`/destinations/${destinationId}`), status: 200 },
  {
    name: "changeDestination",
    path: () => inWorkspace(`/destinations/${destinationId}`),
    options: { method: "PATCH", body: { version: 1, name: "e" } },
    status: 200,
  },
  {
    name: "rotateDestination",
    path: () => inWorkspace(`/destinations/${destinationId}/rotate`),
    options: { body: {} },
    status: 201,
  },
  {
    name: "testDestination",
    path: () => inWorkspace(`/destinations/${destinationId}/test`),
    options: { method: "POST" },
    status: 200,
  },
  {
    name: "deleteDestination",
    path: () => inWorkspace(`/destinations/${destinationId}`),
    options: { method: "DELETE" },
    status: 200,
  },
  { name: "listNotifications", path: () => inWorkspace("/notifications"), status: 200 },
  {
    name: "redeliver",
    path: () => inWorkspace("/deliveries/dlv_000000000000/redeliver"),
    options: { method: "POST" },
    status: 404,
  },
  { name: "rateLimits", path: () => inWorkspace("/rate-limits"), status: 200 },
  {
    name: "setLimits",
    path: () => inWorkspace("/rate-limits"),
    options: { method: "PUT", body: { rules: [] } },
    status: 200,
    calls: ["authenticate", "manage", "manage"],
  },
  { name: "getWorkspaceInfo", path: inWorkspace, status: 200 },
  { name: "changeSettings", path: inWorkspace, options: { method: "PATCH", body: { name: "Two" } }, status: 200 },
  { name: "audit", path: () => inWorkspace("/audit"), status: 200 },
  { name: "usage", path: () => inWorkspace("/usage"), status: 200 },
  { name: "violations", path: () => inWorkspace("/violations"), status: 200, calls: ["authenticate", "admit"] },
  { name: "listMembers", path: () => inWorkspace("/members"), status: 200 },
  {
    name: "changeRole",
    path: () => inWorkspace(`/members/${owner.userId}`),
    options: { method: "PATCH", body: { role: "admin" } },
    status: 409,
  },
  {
    name: "changeRole to owner",
    path: () => inWorkspace(`/members/${owner.userId}`),
    options: { method: "PATCH", body: { role: "owner" } },
    status: 200,
    calls: [
      // `manage` returns the caller's role: only an owner may go on.
      ...["authenticate", "manage", "getWorkspaceInfo", "beginOwnership"],
      // The other workspaces that the new owner may own.
      ...["isOwnedBy", "manage", "endOwnershipAttempt"],
    ],
  },
  {
    name: "removeMember",
    path: () => inWorkspace(`/members/${owner.userId}`),
    options: { method: "DELETE" },
    status: 409,
  },
  {
    name: "invite",
    path: () => inWorkspace("/members"),
    options: { body: { email: "new@example.com", role: "viewer" } },
    status: 201,
    calls: ["authenticate", "admit", "me", "admitInvitation", "manage"],
  },
  { name: "listInvitations", path: () => inWorkspace("/invitations"), status: 200 },
  {
    name: "revokeInvitation",
    path: () => inWorkspace("/invitations/inv_000000000000"),
    options: { method: "DELETE" },
    status: 404,
  },
  { name: "deleteProject", path: inProject, options: { method: "DELETE" }, status: 200 },
  { name: "deleteWorkspace", path: inWorkspace, options: { method: "DELETE" }, status: 200 },
];

async function setUp(): Promise<void> {
  owner = await newUser();
  workspaceId = await newWorkspace(owner);
}

function ask(bindings: object, user: User, { path, options = {} }: Pick<Request, "path" | "options">): Promise<Answer> {
  const headers = { ...bearer(user.accessToken), "X-Workspace-Id": workspaceId };
  return callWith(bindings, path(), { ...options, headers });
}

/** Sends all requests and checks that each is counted once. */
async function sendAll(bindings: object, check: (request: Request) => void, requests = REQUESTS): Promise<void> {
  let left = 1000;
  for (const request of requests) {
    const answer = await ask(bindings, owner, request);
    expect([request.name, answer.status, remaining(answer)]).toEqual([request.name, request.status, --left]);
    request.take?.(answer);
    check(request);
  }
}

describe("a management request", () => {
  beforeAll(setUp);

  it("takes two calls: one checks the session, one admits the request, counts it and does its work", async () => {
    const { calls, bindings } = recorded();
    await sendAll(bindings, ({ name, calls: expected = ["authenticate", "manage"] }) =>
      expect([name, ...calls.splice(0)]).toEqual([name, ...expected]),
    );
  });
});

describe("a management request that is refused before its call", () => {
  let viewer: User;
  let stranger: User;

  beforeAll(async () => {
    await setUp();
    viewer = await newMember(workspaceId, "viewer");
    stranger = await newUser();
  });

  const invalid = { path: () => "/projects", options: { body: { name: 7 } } };
  const badCursor = { path: () => "/projects?cursor=x" };
  const unparsable = { path: inWorkspace, options: { method: "PATCH", body: "{" } };

  it.each([
    ["body", invalid, "VALIDATION_ERROR"],
    ["cursor", badCursor, "VALIDATION_ERROR"],
    ["JSON", unparsable, "VALIDATION_ERROR"],
  ] as const)("for its %s is admitted and counted first, once", async (_, request, code) => {
    const before = remaining(await ask({}, owner, { path: () => "/projects" }));
    const { calls, bindings } = recorded();
    const answer = await ask(bindings, owner, request);
    expect([answer.code, remaining(answer), ...calls]).toEqual([code, before - 1, "authenticate", "admit"]);
  });

  it("reports a missing role before an invalid body, and counts once", async () => {
    const before = remaining(await ask({}, viewer, { path: () => "/projects" }));
    const answer = await ask({}, viewer, invalid);
    expect([answer.code, remaining(answer)]).toEqual(["FORBIDDEN", before - 1]);
  });

  it("reports an unknown workspace before an invalid body, and counts once, in the user object", async () => {
    const before = remaining(await ask({}, stranger, { path: () => "/workspaces" }));
    const answer = await ask({}, stranger, invalid);
    expect([answer.code, remaining(answer)]).toEqual(["NOT_FOUND", before - 1]);
  });
});

describe("during a deploy", () => {
  it("a router calls an object of the version before by its methods, and each request counts once", async () => {
    await setUp();
    const { bindings } = recorded((method) => (method === "manage" ? "manageOfALaterVersion" : method));
    // Methods that came after `manage` have no older form: the router answers 503 with `Retry-After`.
    const later =
      /^ledger$|^listWorkspaceKeys$|Saved$|Destinations?$|^(?:list|get|create|change|delete|all|plan|apply)Alerts?(?:At)?$|^alert[VD]|^listNotifications$|^redeliver$/;
    const known = REQUESTS.filter(({ name }) => !later.test(name));
    await sendAll(bindings, () => {}, known);
  });

  it("an object answers routers of the version before in the shapes that they read", async () => {
    await setUp();
    const stub = workspaceStub(workspaceId);
    const made = await stub.createProject(owner.userId, "p", { requestId: "r", address: null });
    expect(made).toMatchObject({ ok: true, value: { name: "p" } });
    expect(await stub.listProjects(owner.userId, 0, 10)).toMatchObject({ ok: true, value: [{ name: "p" }] });
    expect(await stub.describe(owner.userId)).toMatchObject({ ok: true, value: { id: workspaceId, role: "owner" } });
    // A router of that version reads `value.ok` of these five.
    expect(await stub.changeRole(owner.userId, owner.userId, "admin")).toMatchObject({
      ok: true,
      value: { ok: false, code: "CONFLICT" },
    });
    expect(await stub.removeMember(owner.userId, owner.userId)).toMatchObject({ ok: true, value: { ok: false } });
    expect(await stub.revokeInvitation(owner.userId, "inv_000000000000")).toMatchObject({
      ok: true,
      value: { ok: false, code: "NOT_FOUND" },
    });
    const invitation: InviteRequest = {
      id: "inv_000000000001",
      email: "new@example.com",
      role: "viewer",
      inviteeId: null,
      inviter: owner.email,
      seed: new Uint8Array(32),
      isMailed: false,
    };
    expect(await stub.invite(owner.userId, invitation)).toMatchObject({ ok: true, value: { ok: true } });
    expect(await stub.deleteWorkspace(owner.userId)).toEqual({ ok: true, value: { ok: true, value: true } });
  });

  it("an object without a method that a newer router calls asks for a retry", async () => {
    await setUp();
    const method = "methodOfALaterVersion";
    const by = { caller: { kind: "user", userId: owner.userId }, charge: COUNTED, origin: newAlarmOrigin() };
    await runInDurableObject(workspaceStub(workspaceId), (instance) => {
      // SAFETY: a call that the types of this version do not have.
      expect(() => instance.manage({ ...by, method, args: [] } as never)).toThrow(
        expect.objectContaining({ overloaded: true }),
      );
    });
  });
});
