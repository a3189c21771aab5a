import type { Context } from "hono";
import { z } from "zod";
import { DESTINATION_KINDS } from "../../alerts/notifications/destination.ts";
import { unknownDestination } from "../../alerts/notifications/destinations.ts";
import { problemsOf } from "../../alerts/problems.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import type { ListedRule, RuleChange, RulePlan, RuleSet } from "../../alerts/rule-set.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorDetail, refuse, refuseFields } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { pause } from "../../platform/turns.ts";
import { manage, memberOrKeyGuard } from "../guards/member.ts";
import { alertBody, definitionOf } from "./alert-body.ts";
import { definitionData, definitionShape } from "./alert-shapes.ts";
import { ALERT_ERRORS, ALERTS_TAG, unknownDestinations } from "./alerts.ts";

/** All alerts of a project together, as a file under review has them. */

const setBody = z.strictObject({
  alerts: z
    .array(alertBody.extend({ mutes: alertBody.shape.mutes.unwrap().optional() }))
    .max(ALERT_LIMITS.rules)
    .describe("Their names identify them. An alert without `mutes` keeps those that it has."),
  prune: z.boolean().default(false).describe("Whether alerts that are not in the list are deleted."),
});

const guardedBody = setBody.extend({
  revision: z
    .string()
    .max(64)
    .optional()
    .describe(
      "The revision that the list was made from: of a plan or of the alerts. 409 if they have another one by now.",
    ),
});

/** Rules of a list that are checked in one turn. */
const RULES_A_TURN = 20;

/** @throws ApiError with all that is wrong: 409 if it is unknown destinations alone */
async function setOf(c: Context<AppEnv>, { alerts, prune }: z.output<typeof setBody>): Promise<RuleSet> {
  const problems: ErrorDetail[] = [];
  const ids = [...new Set(alerts.flatMap(({ destinations }) => destinations))];
  const unknown = new Set(await unknownDestinations(c, ids));
  const unknownPlaces = alerts.flatMap(({ destinations }, at): ErrorDetail[] =>
    destinations.flatMap((id, place) => {
      const path = `alerts.${at}.destinations.${place}`;
      return unknown.has(id) ? [{ path, code: "custom", message: unknownDestination(id) }] : [];
    }),
  );
  const names = new Set<string>();
  const rules: ListedRule[] = [];
  for (const [at, { mutes, ...rest }] of alerts.entries()) {
    if (at % RULES_A_TURN === 0) await pause();
    const { mutes: all, ...listed } = definitionOf({ ...rest, mutes: mutes ?? [] });
    for (const problem of problemsOf({ ...listed, mutes: all })) {
      problems.push({ ...problem, path: `alerts.${at}.${problem.path}` });
    }
    if (names.has(listed.name)) {
      const message = "Another alert of the list has this name.";
      problems.push({ path: `alerts.${at}.name`, code: "custom", message });
    }
    names.add(listed.name);
    rules.push(mutes === undefined ? listed : { ...listed, mutes: all });
  }
  if (problems.length > 0) return refuseFields([...problems, ...unknownPlaces]);
  const [first] = unknownPlaces;
  return first === undefined ? { rules, prune } : refuse("CONFLICT", first.message, { details: unknownPlaces });
}

const definition = z.object(definitionShape).nullable();
const planShape = z.object({
  changes: z
    .array(
      z.object({
        kind: z.enum(["create", "change", "delete"]),
        id: z.string().nullable().describe("`null` of an alert to be created."),
        name: z.string(),
        before: definition.describe("`null` of an alert to be created."),
        after: definition.describe("`null` of an alert to be deleted."),
      }),
    )
    .describe("Deletions, then the others in the order of the list."),
  unchanged: z.int(),
  others: z.array(z.string()).describe("Names of alerts that are not in the list and stay."),
  revision: z
    .string()
    .nullable()
    .describe("Of the alerts of the project: after the changes of `PUT`. `null` while the service is updated."),
});

function changeData(change: RuleChange): z.output<typeof planShape>["changes"][number] {
  const before = change.kind === "create" ? null : definitionData(change.before);
  const after = change.kind === "delete" ? null : definitionData(change.after);
  const name = (after ?? before)?.name ?? "";
  return { kind: change.kind, id: change.kind === "create" ? null : change.id, name, before, after };
}

function planData({ changes, unchanged, others, revision }: RulePlan): z.output<typeof planShape> {
  return { changes: changes.map(changeData), unchanged, others, revision: revision ?? null };
}

const EXAMPLE = {
  alerts: [
    {
      name: "Errors",
      query: "level:>=error | count by service",
      condition: { kind: "threshold", value: 10 },
      window: "5m",
    },
  ],
};

export const alertSets = resource();

alertSets.route(
  {
    method: "POST",
    path: "/projects/:projectId/alert-plan",
    operation: "alert.plan",
    tag: ALERTS_TAG,
    summary: "Compare the alerts with a list",
    description: "Says what `PUT /projects/{projectId}/alerts` with the same body would change, and changes nothing.",
    security: "either",
    body: setBody,
    example: EXAMPLE,
    status: 200,
    response: planShape,
    errors: [...ALERT_ERRORS, "CONFLICT"],
  },
  [memberOrKeyGuard("alert.list")],
  async (c, { body }) => {
    const plan = await manage(c, "planAlerts", c.req.param("projectId") ?? "", await setOf(c, body));
    return success(planData(plan), c.get("requestId"));
  },
);

alertSets.route(
  {
    method: "PUT",
    path: "/projects/:projectId/alerts",
    operation: "alert.apply",
    tag: ALERTS_TAG,
    summary: "Make the alerts those of a list",
    description: [
      "Creates the alerts whose names the project does not have, changes those that differ, and with `prune` deletes the others: all of it, or nothing.",
      "An alert that is as the list has it keeps its version and what it has counted. Of two changes of one `revision` the second is refused (409).",
    ].join("\n"),
    security: "either",
    body: guardedBody,
    example: EXAMPLE,
    status: 200,
    response: planShape,
    errors: [...ALERT_ERRORS, "CONFLICT"],
  },
  // A refused change rolls the transaction of the call back, and the request counts all the same.
  [memberOrKeyGuard("alert.update", { admits: "first" })],
  async (c, { body: { revision, ...body } }) => {
    const project = c.req.param("projectId") ?? "";
    const set = await setOf(c, body);
    const plan =
      revision === undefined
        ? await manage(c, "applyAlerts", project, set)
        : await manage(c, "applyAlertsAt", project, set, revision);
    return success(planData(plan), c.get("requestId"));
  },
);

const namedDestinationShape = z.object({
  id: z.string(),
  kind: z.enum(DESTINATION_KINDS),
  name: z.string(),
  enabled: z.boolean().describe("`false`: deliveries wait."),
});

alertSets.route(
  {
    method: "GET",
    path: "/projects/:projectId/alert-destinations",
    operation: "alert.destinations",
    tag: ALERTS_TAG,
    summary: "List the destinations that alerts may name",
    description: "Those of the workspace, in order of creation, without their addresses. All of them are on one page.",
    security: "either",
    status: 200,
    response: z.object({ items: z.array(namedDestinationShape) }),
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.list")],
  async (c) => {
    const named = await manage(c, "alertDestinations", c.req.param("projectId") ?? "");
    const items = named.map(({ disabled, ...rest }) => ({ ...rest, enabled: disabled === null }));
    return success({ items }, c.get("requestId"));
  },
);
