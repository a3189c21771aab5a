import type { Context } from "hono";
import { z } from "zod";
import { countedOf, type RuleDefinition } from "../../alerts/definition.ts";
import { problemsOf } from "../../alerts/problems.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import { KEPT_VERSIONS } from "../../alerts/rules.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuseFields } from "../../http/errors.ts";
import { numberCursor, pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { COUNTED } from "../../limits/state.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { callerOf } from "../guards/user.ts";
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

const TAG = "Alerts";

export const alerts = resource();

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
    tag: TAG,
    summary: "Create an alert",
    description: [
      `A rule that counts entries as they are received. A workspace has at most ${ALERT_LIMITS.rules} of them, with different names in a project (409). The rule`,
      "counts from its creation on, each entry once, in windows by time of receipt.",
    ].join("\n"),
    security: "accessToken",
    body: alertBody,
    example: {
      name: "Errors",
      query: "level:>=error | count by service",
      condition: { kind: "threshold", value: 10 },
      window: "5m",
    },
    status: 201,
    response: alertShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "alert.create", from: "header" })],
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
    tag: TAG,
    summary: "List the alerts",
    description: "In order of creation, with their state. All of them are on one page.",
    security: "accessToken",
    status: 200,
    response: z.object({ items: z.array(alertShape) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "alert.list", from: "header" })],
  async (c) => {
    const rules = await manage(c, "listAlerts", projectOf(c));
    return success({ items: rules.map((rule) => alertData(rule, projectOf(c))) }, c.get("requestId"));
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
});

alerts.route(
  {
    method: "POST",
    path: "/projects/:projectId/alert-preview",
    operation: "alert.preview",
    tag: TAG,
    summary: "Replay an alert over the last 7 days",
    description:
      "Decides as a rule created 7 days ago would have decided, without its mutes. Stores nothing. Entries that have expired are not counted.",
    security: "accessToken",
    body: previewBody,
    example: { query: "level:>=error", condition: { kind: "threshold", value: 10 }, window: "5m" },
    status: 200,
    response: previewShape,
    errors: [...WORKSPACE_ERRORS, "SERVICE_UNAVAILABLE"],
  },
  [workspaceGuard({ action: "alert.preview", from: "header", admits: "first" })],
  async (c, { body }) => {
    const texts = { name: "", labels: {}, message: "", destinations: [], mutes: [] };
    const definition = checked(definitionOf({ ...body, ...texts }));
    const query = countedOf(definition);
    const reader = { caller: callerOf(c), workspaceId: c.get("workspaceId"), charge: COUNTED };
    const result = await previewAlert(c, reader, projectOf(c), definition, query);
    const { decisions, firings, from, through, complete, entries, overflow, late } = result;
    const data = {
      firings,
      decisions: decisions.map((decision) => replayedData(decision, query)),
      from: new Date(from).toISOString(),
      through: new Date(through).toISOString(),
      ...{ complete, entries, notCounted: overflow, late },
    };
    return success(data, c.get("requestId"));
  },
);

alerts.route(
  {
    method: "GET",
    path: "/projects/:projectId/alerts/:alertId",
    operation: "alert.get",
    tag: TAG,
    summary: "Get an alert",
    security: "accessToken",
    status: 200,
    response: alertShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "alert.get", from: "header" })],
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
    tag: TAG,
    summary: "Change an alert",
    description: [
      "Members that are absent stay as they are. Of two changes of one version the second is refused (409). A change of the query, the condition, the",
      "window, the delay, `for` or the recovery begins the count again, and firing groups are resolved.",
    ].join("\n"),
    security: "accessToken",
    body: alertChange,
    example: { version: 1, window: "10m" },
    status: 200,
    response: alertShape,
    errors: [...WORKSPACE_ERRORS, "CONFLICT"],
  },
  [workspaceGuard({ action: "alert.update", from: "header" })],
  async (c, { body }) => {
    const { definition } = await manage(c, "getAlert", projectOf(c), alertOf(c));
    const changed = checked(changedDefinition(definition, body));
    const rule = await manage(c, "changeAlert", projectOf(c), alertOf(c), changed, body.version);
    return success(alertData(rule, projectOf(c)), c.get("requestId"));
  },
);

alerts.route(
  {
    method: "DELETE",
    path: "/projects/:projectId/alerts/:alertId",
    operation: "alert.delete",
    tag: TAG,
    summary: "Delete an alert",
    description: "Its firing groups are resolved.",
    security: "accessToken",
    status: 200,
    response: z.object({ deleted: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "alert.delete", from: "header" })],
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
    tag: TAG,
    summary: "List the versions of an alert",
    description: `The newest ${KEPT_VERSIONS}, newest first.`,
    security: "accessToken",
    status: 200,
    response: z.object({ items: z.array(versionShape) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "alert.get", from: "header" })],
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
    tag: TAG,
    summary: "List what an alert has decided",
    description: "Newest first, for 30 days.",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(decisionShape),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "alert.get", from: "header" })],
  async (c, { query: { cursor, limit } }) => {
    const before = numberCursor(cursor) ?? Number.MAX_SAFE_INTEGER;
    const decisions = await manage(c, "alertDecisions", projectOf(c), alertOf(c), before, limit + 1);
    const page = decisions.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = decisions.length > limit && last ? String(last.num) : null;
    return success({ items: page.map(decisionData), nextCursor }, c.get("requestId"));
  },
);
