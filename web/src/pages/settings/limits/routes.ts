/**
 * Routes that a workspace's limits can apply to, as in the OpenAPI document. A test compares both, because the document
 * is too large to load here.
 */
export interface ApiRoute {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  pattern: string;
  /** Short description. */
  what: string;
}

export const ROUTES: readonly ApiRoute[] = [
  { method: "POST", pattern: "/logger/:projectId/log", what: "send entries" },
  { method: "POST", pattern: "/logger/search", what: "search with the query language" },
  { method: "POST", pattern: "/logger/search/batch", what: "several searches at once" },
  { method: "POST", pattern: "/logger/search/suggest", what: "suggestions while typing" },
  { method: "POST", pattern: "/logger/query", what: "query entries" },
  { method: "POST", pattern: "/logger/stats", what: "histogram" },
  { method: "GET", pattern: "/logger/:projectId/log/:logId", what: "one entry and its neighbours" },
  { method: "GET", pattern: "/logger/:projectId/export", what: "export" },
  { method: "GET", pattern: "/logger/:projectId/tail", what: "live tail" },
  { method: "POST", pattern: "/logger/:projectId/tail/ticket", what: "ticket for a live tail" },
  { method: "GET", pattern: "/projects", what: "list projects" },
  { method: "POST", pattern: "/projects", what: "create a project" },
  { method: "GET", pattern: "/projects/:projectId", what: "one project" },
  { method: "PATCH", pattern: "/projects/:projectId", what: "rename a project" },
  { method: "DELETE", pattern: "/projects/:projectId", what: "delete a project" },
  { method: "GET", pattern: "/projects/:projectId/keys", what: "list keys" },
  { method: "POST", pattern: "/projects/:projectId/keys", what: "create a key" },
  { method: "PATCH", pattern: "/projects/:projectId/keys/:keyId", what: "change a key" },
  { method: "POST", pattern: "/projects/:projectId/keys/:keyId/rotate", what: "rotate a key" },
  { method: "DELETE", pattern: "/projects/:projectId/keys/:keyId", what: "delete a key" },
  { method: "GET", pattern: "/projects/:projectId/ledger", what: "missing entries" },
  { method: "GET", pattern: "/projects/:projectId/alerts", what: "list alerts" },
  { method: "POST", pattern: "/projects/:projectId/alerts", what: "create an alert" },
  { method: "PUT", pattern: "/projects/:projectId/alerts", what: "apply a list of alerts" },
  { method: "POST", pattern: "/projects/:projectId/alert-plan", what: "what a list of alerts would change" },
  { method: "GET", pattern: "/projects/:projectId/alert-destinations", what: "destinations for alerts" },
  { method: "POST", pattern: "/projects/:projectId/alert-preview", what: "replay an alert" },
  { method: "GET", pattern: "/projects/:projectId/alerts/:alertId", what: "one alert" },
  { method: "PATCH", pattern: "/projects/:projectId/alerts/:alertId", what: "change an alert" },
  { method: "DELETE", pattern: "/projects/:projectId/alerts/:alertId", what: "delete an alert" },
  { method: "GET", pattern: "/projects/:projectId/alerts/:alertId/versions", what: "versions of an alert" },
  { method: "GET", pattern: "/projects/:projectId/alerts/:alertId/decisions", what: "decisions of an alert" },
  { method: "GET", pattern: "/workspaces", what: "list workspaces" },
  { method: "POST", pattern: "/workspaces", what: "create a workspace" },
  { method: "GET", pattern: "/workspaces/:workspaceId", what: "the workspace" },
  { method: "PATCH", pattern: "/workspaces/:workspaceId", what: "rename, change retention" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId", what: "delete the workspace" },
  { method: "GET", pattern: "/workspaces/:workspaceId/members", what: "list members" },
  { method: "POST", pattern: "/workspaces/:workspaceId/members", what: "invite" },
  { method: "PATCH", pattern: "/workspaces/:workspaceId/members/:userId", what: "change a role" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/members/:userId", what: "remove a member, leave" },
  { method: "GET", pattern: "/workspaces/:workspaceId/invitations", what: "list invitations" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/invitations/:invitationId", what: "withdraw an invitation" },
  { method: "GET", pattern: "/workspaces/:workspaceId/rate-limits", what: "the limits" },
  { method: "PUT", pattern: "/workspaces/:workspaceId/rate-limits", what: "set limits" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/rate-limits", what: "reset limits" },
  { method: "GET", pattern: "/workspaces/:workspaceId/violations", what: "list refused requests" },
  { method: "GET", pattern: "/workspaces/:workspaceId/usage", what: "usage" },
  { method: "GET", pattern: "/workspaces/:workspaceId/usage/days", what: "usage by day" },
  { method: "GET", pattern: "/workspaces/:workspaceId/keys", what: "list keys of all projects" },
  { method: "GET", pattern: "/workspaces/:workspaceId/alerts", what: "list alerts of all projects" },
  { method: "GET", pattern: "/workspaces/:workspaceId/grants", what: "list agents" },
  { method: "POST", pattern: "/workspaces/:workspaceId/grants", what: "allow an agent" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/grants/:grantId", what: "end an agent's access" },
  { method: "GET", pattern: "/workspaces/:workspaceId/audit", what: "the audit" },
  { method: "GET", pattern: "/workspaces/:workspaceId/views", what: "list views" },
  { method: "POST", pattern: "/workspaces/:workspaceId/views", what: "save a view" },
  { method: "GET", pattern: "/workspaces/:workspaceId/views/:viewId", what: "one view" },
  { method: "PATCH", pattern: "/workspaces/:workspaceId/views/:viewId", what: "change a view" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/views/:viewId", what: "delete a view" },
  { method: "GET", pattern: "/workspaces/:workspaceId/boards", what: "list boards" },
  { method: "POST", pattern: "/workspaces/:workspaceId/boards", what: "create a board" },
  { method: "GET", pattern: "/workspaces/:workspaceId/boards/:boardId", what: "one board" },
  { method: "PATCH", pattern: "/workspaces/:workspaceId/boards/:boardId", what: "change a board" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/boards/:boardId", what: "delete a board" },
  { method: "GET", pattern: "/workspaces/:workspaceId/destinations", what: "list destinations" },
  { method: "POST", pattern: "/workspaces/:workspaceId/destinations", what: "create a destination" },
  { method: "GET", pattern: "/workspaces/:workspaceId/destinations/:destinationId", what: "one destination" },
  { method: "PATCH", pattern: "/workspaces/:workspaceId/destinations/:destinationId", what: "change a destination" },
  { method: "DELETE", pattern: "/workspaces/:workspaceId/destinations/:destinationId", what: "delete a destination" },
  {
    method: "POST",
    pattern: "/workspaces/:workspaceId/destinations/:destinationId/rotate",
    what: "rotate a signing secret",
  },
  {
    method: "POST",
    pattern: "/workspaces/:workspaceId/destinations/:destinationId/confirmation",
    what: "mail a confirmation again",
  },
  { method: "POST", pattern: "/workspaces/:workspaceId/destinations/:destinationId/test", what: "test a destination" },
  { method: "GET", pattern: "/workspaces/:workspaceId/notifications", what: "list notifications" },
  {
    method: "POST",
    pattern: "/workspaces/:workspaceId/deliveries/:deliveryId/redeliver",
    what: "deliver a notification again",
  },
];

/** The patterns that a rule may have, each once. */
export const PATTERNS: readonly string[] = [...new Set(ROUTES.map(({ pattern }) => pattern))];

/** Names of a pattern's parameters, in order. */
export function parametersOf(pattern: string): string[] {
  return [...pattern.matchAll(/:([^/]+)/g)].map(([, name = ""]) => name);
}

/** Fills in a pattern. A parameter without a value keeps its name. */
export function pathOf(pattern: string, values: Readonly<Record<string, string>>): string {
  return pattern.replace(/:([^/]+)/g, (whole, name: string) => values[name]?.trim() || whole);
}
