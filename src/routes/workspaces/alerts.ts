import type { Context } from "hono";
import { z } from "zod";
import { countedOf, type RuleDefinition } from "../../alerts/definition.ts";
import { unknownDestination } from "../../alerts/notifications/destinations.ts";
import { problemsOf } from "../../alerts/problems.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import { revisionOf } from "../../alerts/rule-set.ts";
import { KEPT_VERSIONS } from "../../alerts/rules.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorCode, refuse, refuseFields } from "../../http/errors.ts";
import { numberCursor, pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { COUNTED } from "../../limits/state.ts";
import { notesOf } from "../../logs/search/query-text.ts";
import { hintsOf } from "../../query-language/hints.ts";
import { manage, memberOrKeyGuard, memberOrKeyOf, workspaceGuard } from "../guards/member.ts";
import { alertBody, alertChange, changedDefinition, definitionOf, previewBody } from "./alert-body.ts";
import { previewAlert } from "./alert-preview.ts";
import {
  alertData,
  alertShape,
  decisionData,
  decisionShape,
  replayedData,
  replayedShape,
  versionData,
  versionShape,
} from "./alert-shapes.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

export const ALERTS_TAG = "Alerts";

/** Errors of routes that members and keys call. */
export const ALERT_ERRORS = [...WORKSPACE_ERRORS, "INSUFFICIENT_SCOPE"] as const satisfies readonly ErrorCode[];

export const alerts = resource();

/** Returns those of some ids that name no destination of the workspace. */
export async function unknownDestinations(c: Context<AppEnv>, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const known = new Set((await manage(c, "alertDestinations", projectOf(c))).map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}

const projectOf = (c: Context<AppEnv>) => c.req.param("projectId") ?? "";
const alertOf = (c: Context<AppEnv>) => c.req.param("alertId") ?? "";

function checked(definition: RuleDefinition): RuleDefinition {
  const problems = problemsOf(definition);
  return problems.length > 0 ? refuseFields(problems) : definition;
}

alerts.route(
  {
    method: "POST",
    path: "/projects/:projectId/alerts",
    operation: "alert.create",
    tag: ALERTS_TAG,
    summary: "Create an alert",
    description: [
      `A rule that counts entries as they are received. A workspace has at most ${ALERT_LIMITS.rules} of them, with different names in a project (409). The rule`,
      "counts from its creation on, each entry once, in windows by time of receipt.",
    ].join("\n"),
    security: "either",
    body: alertBody,
    example: {
      name: "Errors",
      query: "level:>=error | count by service",
      condition: { kind: "threshold", value: 10 },
      window: "5m",
    },
    status: 201,
    response: alertShape,
    errors: [...ALERT_ERRORS, "CONFLICT"],
  },
  [memberOrKeyGuard("alert.create")],
  async (c, { body }) => {
    const rule = await manage(c, "createAlert", projectOf(c), checked(definitionOf(body)));
    return success(alertData(rule, projectOf(c)), c.get("requestId"), 201);
  },
);

alerts.route(
  {
    method: "GET",
    path: "/projects/:projectId/alerts",
    operation: "alert.list",
    tag: ALERTS_TAG,
    summary: "List the alerts",
    description: "In order of creation, with their state. All of them are on one page.",
    security: "either",
    status: 200,
    response: z.object({
      items: z.array(alertShape),
      revision: z
        .string()
        .describe("The same as long as the project has the same alerts in the same versions: a guard of `PUT`."),
    }),
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.list")],
  async (c) => {
    const rules = await manage(c, "listAlerts", projectOf(c));
    const items = rules.map((rule) => alertData(rule, projectOf(c)));
    return success({ items, revision: revisionOf(rules) }, c.get("requestId"));
  },
);

alerts.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/alerts",
    operation: "alert.list-all",
    tag: ALERTS_TAG,
    summary: "List the alerts of all projects",
    description: "By project, then in order of creation. All of them are on one page.",
    security: "accessToken",
    status: 200,
    response: z.object({ items: z.array(alertShape) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "alert.list", from: "path" })],
  async (c) => {
    const rules = await manage(c, "allAlerts");
    return success({ items: rules.map((rule) => alertData(rule, rule.projectId ?? "")) }, c.get("requestId"));
  },
);

const previewShape = z.object({
  firings: z.int().describe("How often the rule would have fired."),
  decisions: z.array(replayedShape).describe("The first 1,000 decisions, in order."),
  from: z.iso.datetime(),
  through: z.iso.datetime().describe("The decisions of times after `from` and up to this one."),
  complete: z.boolean().describe("`false`: there are more entries than one request reads."),
  entries: z.int().describe("Entries that were read."),
  notCounted: z.int().describe("Entries whose group, or its values, had no room."),
  late: z.int().describe("Entries that were received after a window with their time was decided."),
  notes: z.array(z.string()).describe("What the query probably does not do as intended, as in a search."),
});

alerts.route(
  {
    method: "POST",
    path: "/projects/:projectId/alert-preview",
    operation: "alert.preview",
    tag: ALERTS_TAG,
    summary: "Replay an alert over the last 7 days",
    description:
      "Decides as a rule created 7 days ago would have decided, without its mutes. Stores nothing. Entries that have expired are not counted.",
    security: "either",
    body: previewBody,
    example: { query: "level:>=error", condition: { kind: "threshold", value: 10 }, window: "5m" },
    status: 200,
    response: previewShape,
    errors: [...ALERT_ERRORS, "SERVICE_UNAVAILABLE"],
  },
  [memberOrKeyGuard("alert.preview", { admits: "first" })],
  async (c, { body }) => {
    const texts = { name: "", labels: {}, message: "", destinations: [], mutes: [] };
    const definition = checked(definitionOf({ ...body, ...texts }));
    const query = countedOf(definition);
    const reader = { caller: memberOrKeyOf(c), workspaceId: c.get("workspaceId"), charge: COUNTED };
    const result = await previewAlert(c, reader, projectOf(c), definition, query);
    const { decisions, firings, from, through, complete, entries, overflow, matched, late } = result;
    const data = {
      firings,
      decisions: decisions.map((decision) => replayedData(decision, query)),
      from: new Date(from).toISOString(),
      through: new Date(through).toISOString(),
      ...{ complete, entries, notCounted: overflow, late, notes: notesOf(hintsOf(body.query), matched) },
    };
    return success(data, c.get("requestId"));
  },
);

alerts.route(
  {
    method: "GET",
    path: "/projects/:projectId/alerts/:alertId",
    operation: "alert.get",
    tag: ALERTS_TAG,
    summary: "Get an alert",
    security: "either",
    status: 200,
    response: alertShape,
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.get")],
  async (c) => {
    const rule = await manage(c, "getAlert", projectOf(c), alertOf(c));
    return success(alertData(rule, projectOf(c)), c.get("requestId"));
  },
);

alerts.route(
  {
    method: "PATCH",
    path: "/projects/:projectId/alerts/:alertId",
    operation: "alert.update",
    tag: ALERTS_TAG,
    summary: "Change an alert",
    description: [
      "Members that are absent stay as they are. Of two changes of one version the second is refused (409). A change of the query, the condition, the",
      "window, the delay, `for` or the recovery begins the count again, and firing groups are resolved.",
    ].join("\n"),
    security: "either",
    body: alertChange,
    example: { version: 1, window: "10m" },
    status: 200,
    response: alertShape,
    errors: [...ALERT_ERRORS, "CONFLICT"],
  },
  [memberOrKeyGuard("alert.update")],
  async (c, { body }) => {
    const { definition } = await manage(c, "getAlert", projectOf(c), alertOf(c));
    const changed = checked(changedDefinition(definition, body));
    const [unknown] = await unknownDestinations(c, body.destinations ?? []);
    if (unknown !== undefined) return refuse("CONFLICT", unknownDestination(unknown));
    const rule = await manage(c, "changeAlert", projectOf(c), alertOf(c), changed, body.version);
    return success(alertData(rule, projectOf(c)), c.get("requestId"));
  },
);

alerts.route(
  {
    method: "DELETE",
    path: "/projects/:projectId/alerts/:alertId",
    operation: "alert.delete",
    tag: ALERTS_TAG,
    summary: "Delete an alert",
    description: "Its firing groups are resolved.",
    security: "either",
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.delete")],
  async (c) => {
    await manage(c, "deleteAlert", projectOf(c), alertOf(c));
    return success({ deleted: true }, c.get("requestId"));
  },
);

alerts.route(
  {
    method: "GET",
    path: "/projects/:projectId/alerts/:alertId/versions",
    operation: "alert.versions",
    tag: ALERTS_TAG,
    summary: "List the versions of an alert",
    description: `The newest ${KEPT_VERSIONS}, newest first.`,
    security: "either",
    status: 200,
    response: z.object({ items: z.array(versionShape) }),
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.get")],
  async (c) => {
    const versions = await manage(c, "alertVersions", projectOf(c), alertOf(c));
    return success({ items: versions.map(versionData) }, c.get("requestId"));
  },
);

alerts.route(
  {
    method: "GET",
    path: "/projects/:projectId/alerts/:alertId/decisions",
    operation: "alert.decisions",
    tag: ALERTS_TAG,
    summary: "List what an alert has decided",
    description: "Newest first, for 30 days.",
    security: "either",
    query: pageQuery,
    status: 200,
    response: pageOf(decisionShape),
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.get")],
  async (c, { query: { cursor, limit } }) => {
    const before = numberCursor(cursor) ?? Number.MAX_SAFE_INTEGER;
    const decisions = await manage(c, "alertDecisions", projectOf(c), alertOf(c), before, limit + 1);
    const page = decisions.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = decisions.length > limit && last ? String(last.num) : null;
    return success({ items: page.map(decisionData), nextCursor }, c.get("requestId"));
  },
);
