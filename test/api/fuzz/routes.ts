/** One documented operation: what is fuzzed, and a body that it accepts. */
export interface Target {
  method: string;
  /** As documented: `/projects/{projectId}`. */
  path: string;
  body: object | null;
  credential: "none" | "accessToken" | "apiKey";
  /** Whether it ends or changes something that other requests need: sessions, keys, projects, limits. */
  destructive: boolean;
  /** Whether it answers 201, which few operations do. */
  creates: boolean;
}

const entry = {
  message: "m",
  level: "warn",
  category: "http",
  type: "request",
  timestamp: Date.now(),
  data: { a: [1, { b: "c" }] },
};
const account = { email: "fuzz@example.com", password: "correct horse", name: "F" };

const listedAlert = { name: "b", query: "level:error", condition: { kind: "rate", value: 0.5 }, window: "1h" };

/** Bodies that the operations accept, so that a mutated one passes the first check. */
const BODIES: Record<string, object> = {
  "POST /auth/register": account,
  "POST /auth/login": { email: account.email, password: account.password },
  "POST /auth/refresh": { refreshToken: "rt_x" },
  "POST /auth/logout": { refreshToken: "rt_x" },
  "POST /auth/magic-link": { email: account.email },
  "POST /auth/forgot-password": { email: account.email },
  "POST /auth/reset-password": { token: "x", password: account.password },
  "POST /workspaces": { name: "w" },
  "PATCH /workspaces/{workspaceId}": { name: "w", retentionDays: 30 },
  "POST /workspaces/{workspaceId}/members": { email: "guest@example.com", role: "viewer" },
  "PATCH /workspaces/{workspaceId}/members/{userId}": { role: "member" },
  "POST /workspaces/{workspaceId}/views": { name: "v", query: "level:error", range: { last: "1h" }, columns: ["a"] },
  "PATCH /workspaces/{workspaceId}/views/{viewId}": { query: "a:b | count", range: { from: 0, to: null }, version: 1 },
  "POST /workspaces/{workspaceId}/boards": {
    name: "b",
    panels: [{ id: "a", title: "A", query: "* | count", kind: "number", x: 0, y: 0, w: 3, h: 2 }],
  },
  "PATCH /workspaces/{workspaceId}/boards/{boardId}": { version: 1, panels: [] },
  "POST /workspaces/{workspaceId}/destinations": { kind: "webhook", name: "d", url: "https://hooks.example.com/" },
  "PATCH /workspaces/{workspaceId}/destinations/{destinationId}": { version: 1, name: "d" },
  "POST /workspaces/{workspaceId}/destinations/{destinationId}/rotate": { overlapSeconds: 60 },
  "POST /projects/{projectId}/alerts": {
    name: "a",
    query: "level:error | count by service",
    condition: { kind: "threshold", value: 1 },
    window: "5m",
  },
  "POST /projects/{projectId}/alert-preview": {
    query: "level:error",
    condition: { kind: "change", direction: "rise", percent: 50 },
    window: "1h",
  },
  "PATCH /projects/{projectId}/alerts/{alertId}": { version: 1, window: "10m" },
  "POST /projects/{projectId}/alert-plan": { alerts: [listedAlert], prune: true },
  "PUT /projects/{projectId}/alerts": { alerts: [listedAlert] },
  "POST /projects": { name: "p" },
  "PATCH /projects/{projectId}": { name: "p" },
  "POST /projects/{projectId}/keys": { name: "k", scopes: ["logs:write"], expiresAt: "2027-01-01T00:00:00Z" },
  "POST /projects/{projectId}/keys/{keyId}/rotate": { overlapSeconds: 60 },
  "PUT /workspaces/{workspaceId}/rate-limits": { default: { limit: 1000, windowSeconds: 60 } },
  "POST /logger/{projectId}/log": { logs: [entry, entry] },
  "POST /logger/search": {
    query: "level:info (a OR b:1) | stats count() by a, bin(5m) | sort time",
    from: 0,
    limit: 10,
  },
  "POST /logger/search/batch": { queries: [{ query: "* | count" }, { query: "a:", from: 0 }], asOf: "1" },
  "POST /logger/search/suggest": { query: "level:info st", position: 13, to: 1 },
  "POST /logger/search/parse": { query: "a:b | count" },
  "POST /logger/stats": { q: "-level:info a:*", interval: "1h", groupBy: "level" },
  "POST /logger/query": {
    filters: { level: ["error", "warn"], from: 0, search: "m", data: { "a.b": { gt: 1 } } },
    q: "level:info OR a:(b OR >5)",
    order: "asc",
    pagination: { offset: 0, limit: 10, includeTotal: true },
  },
};

interface Operation {
  requestBody?: unknown;
  security?: Record<string, unknown>[];
  responses: Record<string, unknown>;
}

/** All operations of the server's OpenAPI document. */
export async function targets(url: string): Promise<Target[]> {
  const response = await fetch(`${url}/openapi.json`);
  // SAFETY: the types name only the members of the document that are read here.
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, Operation>> };
  const found: Target[] = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const [name, operation] of Object.entries(item)) {
      const method = name.toUpperCase();
      if (!["GET", "POST", "PUT", "PATCH", "DELETE"].includes(method)) continue;
      const valid = BODIES[`${method} ${path}`] ?? (operation.requestBody ? { token: "x" } : null);
      const schemes = (operation.security ?? []).flatMap((each) => Object.keys(each));
      const credential = schemes.includes("apiKey")
        ? "apiKey"
        : schemes.includes("accessToken")
          ? "accessToken"
          : "none";
      const destructive =
        method === "DELETE" || method === "PUT" || path.startsWith("/auth/") || path.endsWith("/rotate");
      found.push({ method, path, body: valid, credential, destructive, creates: "201" in operation.responses });
    }
  }
  return found;
}
