import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { enqueueNotification } from "../../../src/alerts/notifications/enqueue.ts";
import { canaryOf } from "../../../src/alerts/notifications/probes.ts";
import { clientIdOf } from "../../../src/grants/registered-client.ts";
import { newId } from "../../../src/ids.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { loki } from "../../../src/routes/app.ts";
import { ROLES, type Role } from "../../../src/workspace/permissions.ts";
import { type Answer, bearer, type Call, call, settings } from "../accounts/support.ts";
import { numbered, onSql, receiptOf, send } from "../ingest/support.ts";
import { newKey, newProject } from "../projects/support.ts";
import { addMember, invitationOf, invite, newMember, newUser, newWorkspace, type User } from "./support.ts";

/** What a cell is tested with. Targets are created for each cell that may use one up. */
interface World {
  workspaceId: string;
  projectId: string;
  project(): Promise<string>;
  key(): Promise<string>;
  member(): Promise<string>;
  /** A view or a board. */
  saved(kind: "views" | "boards"): Promise<string>;
  destination(): Promise<string>;
  alert(): Promise<string>;
  /** A delivery to a destination of its own. */
  delivery(): Promise<string>;
  invitation(): Promise<string>;
}

interface Row {
  method: string;
  /** As documented; parameters are filled in by `path`. */
  route: string;
  /** The contract: "viewer reads logs and settings; member also projects; admin also keys, limits, members; owner also deletion." */
  least: Role;
  path(world: World, caller: User): Promise<string> | string;
  body?: object;
  status: number;
}

interface Document {
  paths: Record<string, Record<string, { security: Record<string, unknown>[] }>>;
}

const W = "/workspaces/{workspaceId}";
const own =
  (rest = "") =>
  (world: World) =>
    `/workspaces/${world.workspaceId}${rest}`;
/** The request of an agent that has registered itself. */
const AGENT_REQUEST = new URLSearchParams({
  response_type: "code",
  client_id: clientIdOf({ name: "Agent", redirectUris: ["http://127.0.0.1/cb"] }, settings.REFRESH_PEPPER) ?? "",
  redirect_uri: "http://127.0.0.1/cb",
  code_challenge: "x".repeat(43),
  code_challenge_method: "S256",
}).toString();
const rule = { rules: [], default: { limit: 100_000, windowSeconds: 60 } };

const PREVIEW = { query: "level:error", condition: { kind: "threshold", value: 1 }, window: "1m" };

/** An alert whose name is another one each time. */
const namedAlert = () => ({
  ...PREVIEW,
  get name() {
    return crypto.randomUUID();
  },
});

const MATRIX: Row[] = [
  { method: "GET", route: W, least: "viewer", path: own(), status: 200 },
  { method: "PATCH", route: W, least: "admin", path: own(), body: { name: "x" }, status: 200 },
  { method: "GET", route: `${W}/usage`, least: "viewer", path: own("/usage"), status: 200 },
  { method: "GET", route: `${W}/usage/days`, least: "viewer", path: own("/usage/days"), status: 200 },
  { method: "GET", route: `${W}/keys`, least: "viewer", path: own("/keys"), status: 200 },
  { method: "GET", route: `${W}/audit`, least: "admin", path: own("/audit"), status: 200 },
  { method: "GET", route: `${W}/violations`, least: "viewer", path: own("/violations"), status: 200 },
  { method: "GET", route: `${W}/rate-limits`, least: "viewer", path: own("/rate-limits"), status: 200 },
  { method: "PUT", route: `${W}/rate-limits`, least: "admin", path: own("/rate-limits"), body: rule, status: 200 },
  { method: "DELETE", route: `${W}/rate-limits`, least: "admin", path: own("/rate-limits"), status: 200 },
  { method: "GET", route: `${W}/members`, least: "viewer", path: own("/members"), status: 200 },
  {
    method: "POST",
    route: `${W}/members`,
    least: "admin",
    path: own("/members"),
    body: { email: "guest@example.com", role: "viewer" },
    status: 201,
  },
  {
    method: "PATCH",
    route: `${W}/members/{userId}`,
    least: "admin",
    path: async (world) => own(`/members/${await world.member()}`)(world),
    body: { role: "member" },
    status: 200,
  },
  {
    method: "DELETE",
    route: `${W}/members/{userId}`,
    least: "admin",
    path: async (world) => own(`/members/${await world.member()}`)(world),
    status: 200,
  },
  { method: "GET", route: `${W}/invitations`, least: "viewer", path: own("/invitations"), status: 200 },
  {
    method: "DELETE",
    route: `${W}/invitations/{invitationId}`,
    least: "admin",
    path: async (world) => own(`/invitations/${await world.invitation()}`)(world),
    status: 200,
  },
  ...(["views", "boards"] as const).flatMap((kind): Row[] => {
    const [list, one] = [`${W}/${kind}`, `${W}/${kind}/{${kind.slice(0, -1)}Id}`];
    const path: Row["path"] = async (world) => own(`/${kind}/${await world.saved(kind)}`)(world);
    const content = kind === "views" ? { query: "*" } : { panels: [] };
    return [
      { method: "GET", route: list, least: "viewer", path: own(`/${kind}`), status: 200 },
      {
        method: "POST",
        route: list,
        least: "member",
        path: own(`/${kind}`),
        // Names are unique.
        body: {
          ...content,
          get name() {
            return crypto.randomUUID();
          },
        },
        status: 201,
      },
      { method: "GET", route: one, least: "viewer", path, status: 200 },
      { method: "PATCH", route: one, least: "member", path, body: { version: 1, projectId: null }, status: 200 },
      { method: "DELETE", route: one, least: "member", path, status: 200 },
    ];
  }),
  { method: "GET", route: `${W}/grants`, least: "viewer", path: own("/grants"), status: 200 },
  {
    method: "POST",
    route: `${W}/grants`,
    least: "viewer",
    path: own("/grants"),
    body: { request: AGENT_REQUEST, scopes: ["logs:read"], projectIds: null },
    status: 201,
  },
  { method: "GET", route: `${W}/notifications`, least: "viewer", path: own("/notifications"), status: 200 },
  {
    method: "POST",
    route: `${W}/deliveries/{deliveryId}/redeliver`,
    least: "member",
    path: async (world) => own(`/deliveries/${await world.delivery()}/redeliver`)(world),
    status: 200,
  },
  { method: "GET", route: `${W}/destinations`, least: "viewer", path: own("/destinations"), status: 200 },
  {
    method: "POST",
    route: `${W}/destinations`,
    least: "admin",
    path: own("/destinations"),
    body: {
      kind: "webhook",
      url: "https://hooks.example.com/",
      get name() {
        return crypto.randomUUID();
      },
    },
    status: 201,
  },
  ...(
    [
      ["GET", "", "viewer", undefined, 200],
      ["PATCH", "", "admin", { version: 1, enabled: false }, 200],
      ["DELETE", "", "admin", undefined, 200],
      ["POST", "/rotate", "admin", {}, 201],
      ["POST", "/test", "member", undefined, 200],
    ] as const
  ).map(([method, rest, least, body, status]): Row => {
    return {
      method,
      route: `${W}/destinations/{destinationId}${rest}`,
      least,
      path: async (world) => own(`/destinations/${await world.destination()}${rest}`)(world),
      ...(body === undefined ? {} : { body }),
      status,
    };
  }),
  { method: "GET", route: "/projects", least: "viewer", path: () => "/projects", status: 200 },
  { method: "POST", route: "/projects", least: "member", path: () => "/projects", body: { name: "x" }, status: 201 },
  {
    method: "GET",
    route: "/projects/{projectId}",
    least: "viewer",
    path: ({ projectId }) => `/projects/${projectId}`,
    status: 200,
  },
  {
    method: "PATCH",
    route: "/projects/{projectId}",
    least: "member",
    path: ({ projectId }) => `/projects/${projectId}`,
    body: { name: "y" },
    status: 200,
  },
  {
    method: "DELETE",
    route: "/projects/{projectId}",
    least: "member",
    path: async (world) => `/projects/${await world.project()}`,
    status: 200,
  },
  {
    method: "GET",
    route: "/projects/{projectId}/ledger",
    least: "viewer",
    path: ({ projectId }) => `/projects/${projectId}/ledger`,
    status: 200,
  },
  {
    method: "GET",
    route: `${W}/alerts`,
    least: "viewer",
    path: own("/alerts"),
    status: 200,
  },
  ...(
    [
      ["GET", "alerts", "viewer", undefined, 200],
      ["GET", "alert-destinations", "viewer", undefined, 200],
      ["POST", "alert-plan", "viewer", { alerts: [] }, 200],
      ["PUT", "alerts", "member", { alerts: [] }, 200],
      ["POST", "alerts", "member", "alert", 201],
      ["POST", "alert-preview", "viewer", PREVIEW, 200],
    ] as const
  ).map(([method, last, least, body, status]): Row => {
    const path = ({ projectId }: World) => `/projects/${projectId}/${last}`;
    const row = { method, route: `/projects/{projectId}/${last}`, least, path, status };
    if (body === undefined) return row;
    return { ...row, body: body === "alert" ? namedAlert() : body };
  }),
  ...(
    [
      ["GET", "", "viewer", undefined],
      ["PATCH", "", "member", { version: 1, for: "1m" }],
      ["DELETE", "", "member", undefined],
      ["GET", "/versions", "viewer", undefined],
      ["GET", "/decisions", "viewer", undefined],
    ] as const
  ).map(([method, rest, least, body]): Row => {
    return {
      ...{ method, route: `/projects/{projectId}/alerts/{alertId}${rest}`, least, status: 200 },
      path: async (world) => `/projects/${world.projectId}/alerts/${await world.alert()}${rest}`,
      ...(body === undefined ? {} : { body }),
    };
  }),
  {
    method: "GET",
    route: "/projects/{projectId}/keys",
    least: "viewer",
    path: ({ projectId }) => `/projects/${projectId}/keys`,
    status: 200,
  },
  {
    method: "POST",
    route: "/projects/{projectId}/keys",
    least: "admin",
    path: ({ projectId }) => `/projects/${projectId}/keys`,
    body: { name: "k", scopes: ["logs:read"] },
    status: 201,
  },
  {
    method: "PATCH",
    route: "/projects/{projectId}/keys/{keyId}",
    least: "admin",
    path: async (world) => `/projects/${world.projectId}/keys/${await world.key()}`,
    body: { dedupe: "never" },
    status: 200,
  },
  {
    method: "POST",
    route: "/projects/{projectId}/keys/{keyId}/rotate",
    least: "admin",
    path: async (world) => `/projects/${world.projectId}/keys/${await world.key()}/rotate`,
    body: {},
    status: 201,
  },
  {
    method: "DELETE",
    route: "/projects/{projectId}/keys/{keyId}",
    least: "admin",
    path: async (world) => `/projects/${world.projectId}/keys/${await world.key()}`,
    status: 200,
  },
  {
    method: "POST",
    route: "/logger/stats",
    least: "viewer",
    path: () => "/logger/stats",
    body: { interval: "1h" },
    status: 200,
  },
  {
    method: "GET",
    route: "/logger/{projectId}/log/{logId}",
    least: "viewer",
    path: ({ projectId }) => `/logger/${projectId}/log/${logId(projectId, 1)}`,
    status: 200,
  },
  {
    method: "POST",
    route: "/logger/{projectId}/tail/ticket",
    least: "viewer",
    path: ({ projectId }) => `/logger/${projectId}/tail/ticket`,
    status: 201,
  },
  { method: "POST", route: "/logger/query", least: "viewer", path: () => "/logger/query", body: {}, status: 200 },
  {
    method: "POST",
    route: "/logger/search/batch",
    least: "viewer",
    path: () => "/logger/search/batch",
    body: { queries: [{ query: "* | count" }] },
    status: 200,
  },
  ...["/logger/search", "/logger/search/suggest"].map(
    (route): Row => ({ method: "POST", route, least: "viewer", path: () => route, body: { query: "*" }, status: 200 }),
  ),
];

/**
 * Cells that end the caller's membership or have no envelope are tested separately below, and a WebSocket with the other
 * tails.
 */
const LOKI = loki.specs.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
const APART = [
  `DELETE ${W}`,
  // Of the caller's own, by every member: `test/objects/grants`.
  `DELETE ${W}/grants/{grantId}`,
  // Mails an address, at most once a minute; needs the role of a change.
  `POST ${W}/destinations/{destinationId}/confirmation`,
  "GET /logger/{projectId}/tail",
  "GET /logger/{projectId}/export",
  ...LOKI,
];
/** Not part of a workspace: they count in the user object, and a user who is not a member creates or lists own ones. */
const OF_NO_WORKSPACE = [
  "GET /workspaces",
  "POST /workspaces",
  "POST /invitations/accept",
  "POST /oauth/requests",
  "GET /oauth/grants",
];
/** API keys only. */
const KEYS_ONLY = ["POST /logger/{projectId}/log"];

const nameOf = ({ method, route }: Pick<Row, "method" | "route">) => `${method} ${route}`;

describe("the role matrix", () => {
  let world: World;
  let owner: User;
  const callers = new Map<Role, User>();
  let stranger: User;

  beforeAll(async () => {
    [owner, stranger] = [await newUser(), await newUser()];
    const workspaceId = await newWorkspace(owner);
    callers.set("owner", owner);
    for (const role of ROLES) if (role !== "owner") callers.set(role, await newMember(workspaceId, role));
    const headers = { ...bearer(owner.accessToken), "X-Workspace-Id": workspaceId };
    const asOwner = { userId: owner.userId, workspaceId, headers };
    const projectId = await newProject(asOwner);
    const key = await newKey(asOwner, projectId);
    receiptOf(await send(key, numbered(1)));
    const spare = await newUser();
    const destination = async (): Promise<string> => {
      const body = { kind: "webhook", name: crypto.randomUUID(), url: "https://hooks.example.com/" };
      const answer = await call(`/workspaces/${workspaceId}/destinations`, { body, headers });
      return String(Reflect.get(Object(answer.data), "id"));
    };
    world = {
      workspaceId,
      projectId,
      project: () => newProject(asOwner),
      key: async () => (await newKey(asOwner, projectId)).keyId,
      member: async () => {
        await addMember(workspaceId, spare, "viewer");
        return spare.userId;
      },
      saved: async (kind) => {
        const content = kind === "views" ? { query: "*" } : { panels: [] };
        const body = { name: crypto.randomUUID(), ...content };
        const answer = await call(`/workspaces/${workspaceId}/${kind}`, { body, headers });
        return String(Reflect.get(Object(answer.data), "id"));
      },
      destination: () => destination(),
      alert: async () => {
        const answer = await call(`/projects/${projectId}/alerts`, { body: namedAlert(), headers: asOwner.headers });
        return String(Reflect.get(Object(answer.data), "id"));
      },
      delivery: async () => {
        const id = await destination();
        return onSql(workspaceId, (sql) => {
          const probe = canaryOf({ id, name: "d", dueAt: 0 }, "http://127.0.0.1", Date.now());
          enqueueNotification(sql, probe, Date.now());
          return String(sql.exec("SELECT id FROM deliveries WHERE destination = ?", id).one().id);
        });
      },
      invitation: async () =>
        invitationOf(await invite(owner, workspaceId, `${crypto.randomUUID()}@example.com`, "viewer")).id,
    };
  });

  async function attempt(row: Row, caller: User | null): Promise<Answer> {
    const path = await row.path(world, caller ?? owner);
    const named = path.startsWith("/workspaces/") ? {} : { "X-Workspace-Id": world.workspaceId };
    const headers = { ...(caller ? bearer(caller.accessToken) : {}), ...named };
    const options: Call = { method: row.method, headers, ...(row.body ? { body: row.body } : {}) };
    return call(path, options);
  }

  it("covers every route that accepts an access token and belongs to a workspace", async () => {
    const response = await exports.default.fetch("http://taffrail.test/openapi.json");
    const document = await response.json<Document>();
    const documented = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { security }]) => security.some((scheme) => "accessToken" in scheme))
        .map(([method]) => `${method.toUpperCase()} ${path}`)
        .filter((name) => !name.includes(" /auth/")),
    );
    const tried = [...MATRIX.map(nameOf), ...APART, ...OF_NO_WORKSPACE];
    expect(documented.filter((name) => !KEYS_ONLY.includes(name)).sort()).toEqual(tried.sort());
  });

  for (const row of MATRIX) {
    for (const role of ROLES) {
      const allowed = ROLES.indexOf(role) >= ROLES.indexOf(row.least);
      it(`${nameOf(row)} by ${role}: ${allowed ? row.status : "403"}`, async () => {
        const answer = await attempt(row, callers.get(role) ?? null);
        expect([answer.status, answer.code]).toEqual(allowed ? [row.status, null] : [403, "FORBIDDEN"]);
      });
    }
    it(`${nameOf(row)} by a user who is not a member: 404`, async () => {
      const answer = await attempt(row, stranger);
      expect([answer.status, answer.code]).toEqual([404, "NOT_FOUND"]);
    });
    it(`${nameOf(row)} by an unauthenticated caller: 401`, async () => {
      const answer = await attempt(row, null);
      expect([answer.status, answer.code]).toEqual([401, "UNAUTHORIZED"]);
    });
  }

  it.each(["viewer", "member", "admin"] as const)("leaving is permitted to every role: %s", async (role) => {
    const member = await newMember(world.workspaceId, role);
    const path = `/workspaces/${world.workspaceId}/members/${member.userId}`;
    expect((await call(path, { method: "DELETE", headers: bearer(member.accessToken) })).status).toBe(200);
  });

  it(`DELETE ${W} is permitted to owners only`, async () => {
    const id = await newWorkspace(owner);
    const path = `/workspaces/${id}`;
    for (const role of ["viewer", "member", "admin"] as const) {
      const member = await newMember(id, role);
      const answer = await call(path, { method: "DELETE", headers: bearer(member.accessToken) });
      expect([role, answer.status, answer.code]).toEqual([role, 403, "FORBIDDEN"]);
    }
    const foreign = await call(path, { method: "DELETE", headers: bearer(stranger.accessToken) });
    expect([foreign.status, foreign.code]).toEqual([404, "NOT_FOUND"]);
    expect((await call(path, { method: "DELETE" })).status).toBe(401);
    expect((await call(path, { method: "DELETE", headers: bearer(owner.accessToken) })).status).toBe(200);
  });

  it("GET /logger/{projectId}/export is permitted to every member, and to no other caller", async () => {
    const statusFor = async (headers: Record<string, string>) => {
      const url = `http://taffrail.test/logger/${world.projectId}/export`;
      const response = await exports.default.fetch(url, {
        headers: { ...headers, "X-Workspace-Id": world.workspaceId },
      });
      await response.text();
      return response.status;
    };
    for (const { accessToken } of callers.values()) expect(await statusFor(bearer(accessToken))).toBe(200);
    expect(await statusFor(bearer(stranger.accessToken))).toBe(404);
    expect(await statusFor({})).toBe(401);
  });

  it("Loki's API is permitted to every member, and to no other caller", async () => {
    const statusFor = async (path: string, headers: Record<string, string>) => {
      const response = await exports.default.fetch(`http://taffrail.test${path}?query=vector(1)&match[]=%7B%7D`, {
        headers: { ...headers, "X-Workspace-Id": world.workspaceId },
      });
      await response.text();
      return response.status;
    };
    for (const path of ["/loki/api/v1/query", "/loki/api/v1/series", "/loki/api/v1/status/buildinfo"]) {
      for (const { accessToken } of callers.values()) expect(await statusFor(path, bearer(accessToken))).toBe(200);
      expect(await statusFor(path, bearer(stranger.accessToken))).toBe(404);
      expect(await statusFor(path, {})).toBe(401);
    }
  });

  it("an unknown workspace is refused like another user's", async () => {
    const headers = bearer(owner.accessToken);
    const answer = await call(`/workspaces/${newId("ws")}`, { headers });
    expect([answer.status, answer.code]).toEqual([404, "NOT_FOUND"]);
  });
});
