import type { NamedDestination } from "../../../../../sdk/src/cli/alerts/rule.ts";
import type { RulesFailure } from "../../../../../sdk/src/cli/alerts/rules-file.ts";
import { failureOf } from "../../../api/failure.ts";
import { applyAlerts, type Plan, planAlerts, type Rule } from "../../../model/alerts.ts";
import { authorized } from "../../../session/session.ts";

/** Text of the editor, for a project. */
export interface ProjectText {
  projectId: string;
  text: string;
}

/** What is asked about: a plan for another text is not shown. */
export interface Asked extends ProjectText {
  prune: boolean;
}

/** The difference that a file makes, or has made. */
export interface Shown extends Asked {
  plan: Plan;
  destinations: readonly NamedDestination[];
  isApplied: boolean;
  /** Whether it differs from the one that was to be applied, as the rules changed after the comparison. */
  isNewer: boolean;
}

/** Changes of the alerts between a comparison and its application after which it is given up. */
const MAX_RACES = 3;

/**
 * Compares rules with those of a project, and makes the changes if they are those that were shown.
 * @param unknown what is wrong with the rules besides what the service finds
 * @param applied the difference that is to be made; `null` to compare alone
 */
export async function planOrApply(
  workspaceId: string,
  { projectId, rules, prune }: Pick<Asked, "projectId" | "prune"> & { rules: readonly Rule[] },
  unknown: RulesFailure | null,
  applied: Plan | null,
): Promise<Pick<Shown, "plan" | "isApplied" | "isNewer">> {
  for (let race = 1; ; race++) {
    const plan = await planAlerts(workspaceId, projectId, rules, prune);
    if (unknown !== null) throw unknown;
    const isNewer = applied !== null && JSON.stringify(plan.changes) !== JSON.stringify(applied.changes);
    if (applied === null || isNewer) return { plan, isApplied: false, isNewer };
    try {
      const made = await applyAlerts(workspaceId, projectId, rules, { prune, revision: plan.revision });
      return { plan: made, isApplied: true, isNewer };
    } catch (error) {
      // The alerts changed since the comparison a moment ago.
      if (failureOf(error).status !== 409 || race === MAX_RACES) throw error;
    }
  }
}

export async function destinationsOf(workspaceId: string, projectId: string): Promise<NamedDestination[]> {
  const path = `/projects/${projectId}/alert-destinations`;
  return (await authorized<{ items: NamedDestination[] }>(path, { workspaceId })).data.items;
}
