import { z } from "zod";
import { DESTINATION_KINDS } from "../../alerts/notifications/destination.ts";
import { problemsOf } from "../../alerts/problems.ts";
import { ALERT_LIMITS } from "../../alerts/rule.ts";
import type { ListedRule, RuleChange, RulePlan, RuleSet } from "../../alerts/rule-set.ts";
import { success } from "../../http/envelope.ts";
import { type ErrorDetail, refuseFields } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { pause } from "../../platform/turns.ts";
import { manage, memberOrKeyGuard } from "../guards/member.ts";
import { alertBody, definitionOf } from "./alert-body.ts";
import { definitionData, definitionShape } from "./alert-shapes.ts";
import { ALERT_ERRORS, ALERTS_TAG } from "./alerts.ts";

/** All alerts of a project together, as a file under review has them. */

const setBody = z.strictObject({
  alerts: z
    .array(alertBody.extend({ mutes: alertBody.shape.mutes.unwrap().optional() }))
    .max(ALERT_LIMITS.rules)
    .describe("Their names identify them. An alert without `mutes` keeps those that it has."),
  prune: z.boolean().default(false).describe("Whether alerts that are not in the list are deleted."),
});

/** Rules of a list that are checked in one turn. */
const RULES_A_TURN = 20;

async function setOf({ alerts, prune }: z.output<typeof setBody>): Promise<RuleSet> {
  const problems: ErrorDetail[] = [];
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
  return problems.length > 0 ? refuseFields(problems) : { rules, prune };
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
});

function changeData(change: RuleChange): z.output<typeof planShape>["changes"][number] {
  const before = change.kind === "create" ? null : definitionData(change.before);
  const after = change.kind === "delete" ? null : definitionData(change.after);
  const name = (after ?? before)?.name ?? "";
  return { kind: change.kind, id: change.kind === "create" ? null : change.id, name, before, after };
}

function planData({ changes, unchanged, others }: RulePlan): z.output<typeof planShape> {
  return { changes: changes.map(changeData), unchanged, others };
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
    errors: ALERT_ERRORS,
  },
  [memberOrKeyGuard("alert.list")],
  async (c, { body }) => {
    const plan = await manage(c, "planAlerts", c.req.param("projectId") ?? "", await setOf(body));
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
      "An alert that is as the list has it keeps its version and what it has counted.",
    ].join("\n"),
    security: "either",
    body: setBody,
    example: EXAMPLE,
    status: 200,
    response: planShape,
    errors: [...ALERT_ERRORS, "CONFLICT"],
  },
  // A refused change rolls the transaction of the call back, and the request counts all the same.
  [memberOrKeyGuard("alert.update", { admits: "first" })],
  async (c, { body }) => {
    const plan = await manage(c, "applyAlerts", c.req.param("projectId") ?? "", await setOf(body));
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
