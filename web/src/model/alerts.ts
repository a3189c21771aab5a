import type { Plan, Rule } from "../../../sdk/src/cli/alerts/rule.ts";
import type { Condition } from "../../../src/alerts/condition.ts";
import type { Weekday } from "../../../src/alerts/mutes.ts";
import type { SaidGroup } from "../../../src/alerts/template.ts";
import { authorized } from "../session/session.ts";

export type { Condition, Plan, Rule };

/** Alerts as the API has them. Times are ISO 8601 in UTC, durations are texts such as `5m`. */

/** A time without notifications. */
export interface MutedSpan {
  from: string;
  to: string;
}

/** Hours of days of the week without notifications. `start` and `end` are times of a clock: `22:00`. */
export interface MutedHours {
  days: readonly Weekday[];
  start: string;
  end: string;
  timeZone: string;
}

export type Mute = MutedSpan | MutedHours;

/** Members of a rule on which its decisions depend. */
export interface Deciding {
  query: string;
  condition: Condition;
  window: string;
  /** `null`: windows by time of receipt. */
  delay: string | null;
  for: string;
  recovery: number | null;
}

export interface AlertDefinition extends Deciding {
  name: string;
  labels: Readonly<Record<string, string>>;
  message: string;
  destinations: readonly string[];
  mutes: readonly Mute[];
}

export interface Alert extends AlertDefinition {
  id: string;
  projectId: string;
  version: number;
  /** A user id, or the id of a key. */
  createdBy: string;
  /** Destinations that were deleted. */
  missingDestinations: readonly string[];
  createdAt: string;
  updatedAt: string;
  lastFiredAt: string | null;
  state: "ok" | "pending" | "firing";
  groups: { live: number; pending: number; firing: number };
  notCounted: number;
  late: number;
  missing: number;
  since: { seq: number; receivedAt: string };
  position: { seq: number; through: string; behind: number };
}

export interface AlertVersion extends AlertDefinition {
  version: number;
  createdBy: string;
  createdAt: string;
}

/** A decision that would have been made. */
export interface ReplayedDecision extends SaidGroup {
  kind: "firing" | "resolved";
  at: string;
  value: number | null;
  /** `false`: an estimate. */
  exact: boolean;
  seqRange: { from: number; to: number } | null;
}

export interface Decision extends ReplayedDecision {
  id: string;
  version: number;
  decidedAt: string;
  reported: boolean;
  late: boolean;
  ended: boolean;
  link: string | null;
}

/** What a rule would have decided in the last 7 days. */
export interface Preview {
  firings: number;
  decisions: readonly ReplayedDecision[];
  from: string;
  through: string;
  complete: boolean;
  entries: number;
  notCounted: number;
  /** Entries that were received after a window with their time was decided. */
  late: number;
  notes: readonly string[];
}

/** An alert by its project and id. */
export type AlertRef = Pick<Alert, "projectId" | "id">;

export function alertsPath(projectId: string, id?: string): string {
  return `/projects/${projectId}/alerts${id === undefined ? "" : `/${id}`}`;
}

export async function loadAlerts(workspaceId: string, signal?: AbortSignal): Promise<Alert[]> {
  const options = signal === undefined ? {} : { signal };
  return (await authorized<{ items: Alert[] }>(`/workspaces/${workspaceId}/alerts`, options)).data.items;
}

export async function loadAlert(workspaceId: string, { projectId, id }: AlertRef, signal: AbortSignal): Promise<Alert> {
  return (await authorized<Alert>(alertsPath(projectId, id), { workspaceId, signal })).data;
}

export async function loadVersions(
  workspaceId: string,
  { projectId, id }: AlertRef,
  signal: AbortSignal,
): Promise<AlertVersion[]> {
  const path = `${alertsPath(projectId, id)}/versions`;
  return (await authorized<{ items: AlertVersion[] }>(path, { workspaceId, signal })).data.items;
}

export async function previewAlert(
  workspaceId: string,
  projectId: string,
  body: Deciding,
  signal: AbortSignal,
): Promise<Preview> {
  return (await authorized<Preview>(`/projects/${projectId}/alert-preview`, { workspaceId, body, signal })).data;
}

export async function createAlert(workspaceId: string, projectId: string, body: AlertDefinition): Promise<Alert> {
  return (await authorized<Alert>(alertsPath(projectId), { workspaceId, body })).data;
}

/** Changes members of an alert. 409 if it has another version by now. */
export async function changeAlert(
  workspaceId: string,
  { projectId, id, version }: Pick<Alert, "projectId" | "id" | "version">,
  change: Partial<AlertDefinition>,
): Promise<Alert> {
  const body = { version, ...change };
  return (await authorized<Alert>(alertsPath(projectId, id), { method: "PATCH", workspaceId, body })).data;
}

export async function deleteAlert(workspaceId: string, { projectId, id }: AlertRef): Promise<void> {
  await authorized(alertsPath(projectId, id), { method: "DELETE", workspaceId });
}

/**
 * Compares the alerts of a project with a list.
 * @param prune whether those that are not in the list are to be deleted
 */
export async function planAlerts(
  workspaceId: string,
  projectId: string,
  alerts: readonly Rule[],
  prune: boolean,
  signal?: AbortSignal,
): Promise<Plan> {
  const body = { alerts, prune };
  const path = `/projects/${projectId}/alert-plan`;
  return (await authorized<Plan>(path, { workspaceId, body, ...(signal === undefined ? {} : { signal }) })).data;
}

/**
 * Makes the alerts of a project those of a list: all changes, or none.
 * @param revision of the plan that was shown; 409 if the alerts have another one by now
 */
export async function applyAlerts(
  workspaceId: string,
  projectId: string,
  alerts: readonly Rule[],
  { prune, revision }: { prune: boolean; revision: string | null },
): Promise<Plan> {
  const body = { alerts, prune, ...(revision === null ? {} : { revision }) };
  return (await authorized<Plan>(alertsPath(projectId), { method: "PUT", workspaceId, body })).data;
}

/** Loads all rules of a project, without state: what an empty list would delete. */
export async function loadRules(workspaceId: string, projectId: string): Promise<Rule[]> {
  const { changes } = await planAlerts(workspaceId, projectId, [], true);
  return changes.flatMap(({ before }) => (before === null ? [] : [before]));
}
