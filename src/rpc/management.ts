import type { StoredDecision } from "../alerts/decisions.ts";
import type { RuleDefinition } from "../alerts/definition.ts";
import type { Confirmation } from "../alerts/notifications/confirmations.ts";
import type { Attempt } from "../alerts/notifications/destination.ts";
import type {
  CreatedDestination,
  Destination,
  DestinationChange,
  NewDestination,
} from "../alerts/notifications/destinations.ts";
import type { Delivery, HistoryFilter, HistoryPage } from "../alerts/notifications/history.ts";
import type { ReleasedRule, RulePlan, RuleSet } from "../alerts/rule-set.ts";
import type { AlertRule, RuleVersion } from "../alerts/rules.ts";
import type { Consent, GrantInfo } from "../grants/actions.ts";
import type { CreatedKey, KeyChange, KeyPage, KeyRequest, WorkspaceKey } from "../keys/actions.ts";
import type { AgentScope } from "../keys/scopes.ts";
import type { KeyInfo, WorkspaceKeyFilter } from "../keys/store.ts";
import type { LimitConfiguration } from "../limits/cascade.ts";
import type { Charge } from "../limits/state.ts";
import type { Origin } from "../platform/origin.ts";
import type { AuditFilter, AuditPage } from "../workspace/audit.ts";
import type { Invitation, InviteRequest } from "../workspace/invitations.ts";
import type { LedgerPage, LedgerSpan } from "../workspace/ledger-page.ts";
import type { LiveCounter } from "../workspace/live-counters.ts";
import type { Member } from "../workspace/members.ts";
import type { Caller, Role, UserCaller } from "../workspace/permissions.ts";
import type { ProjectRow } from "../workspace/projects.ts";
import type { NewSaved, SavedChange, SavedItem, SavedKind, SavedPage } from "../workspace/saved-items.ts";
import type { SettingsChange } from "../workspace/settings.ts";
import type { Usage } from "../workspace/usage.ts";
import type { Result } from "./result.ts";
import type { WorkspaceInfo } from "./workspace.ts";

// Plain data only. These shapes, with those that they name, cross versions during a deploy: add optional members and new
// methods only.

/** What members do in a workspace: arguments and value of each method of `WorkspaceRpc.manage`. */
export interface Management {
  createProject(name: string): ProjectRow;
  listProjects(cursor: number, limit: number): ProjectRow[];
  getProject(projectId: string): ProjectRow;
  renameProject(projectId: string, name: string): ProjectRow;
  /** Revokes the project's keys immediately. Queries no longer return its entries; the alarm deletes them in steps. */
  deleteProject(projectId: string): true;
  createKey(projectId: string, request: KeyRequest): CreatedKey;
  /** Returns `null` for a cursor that no page gave. */
  listKeys(projectId: string, cursor: string | null, limit: number): KeyPage | null;
  /** Returns valid keys of all projects. */
  listWorkspaceKeys(
    filter: WorkspaceKeyFilter,
    cursor: string | null,
    limit: number,
  ): { items: WorkspaceKey[]; nextCursor: string | null } | null;
  /** Returns `null` if the project has no such key. */
  changeKey(projectId: string, keyId: string, change: KeyChange): KeyInfo | null;
  /** Returns `null` if the project has no such key, or if the key is no longer valid. */
  rotateKey(projectId: string, keyId: string, overlapSeconds: number): CreatedKey | null;
  /** Returns `false` if the project has no such key. Revoking a revoked key changes nothing. */
  revokeKey(projectId: string, keyId: string): boolean;
  /** Returns a page of the ledger, newest first; `null` for a cursor that no page gave. */
  ledger(projectId: string, span: LedgerSpan, cursor: string | null, limit: number): LedgerPage | null;
  /** Returns the items after `cursor`: (createdAt, id). */
  listSaved(kind: SavedKind, cursor: readonly [number, string], limit: number): SavedPage;
  getSaved(kind: SavedKind, id: string): SavedItem;
  createSaved(kind: SavedKind, item: NewSaved): SavedItem;
  /** Changes an item of the given version; `null`: of any. */
  changeSaved(kind: SavedKind, id: string, change: SavedChange, version: number | null): SavedItem;
  deleteSaved(kind: SavedKind, id: string): true;
  /** Returns the destinations after `cursor`: (createdAt, id). */
  listDestinations(cursor: readonly [number, string], limit: number): Destination[];
  getDestination(id: string): Destination;
  createDestination(destination: NewDestination): CreatedDestination;
  /** Mails the link by which an address is confirmed again; `null`: only checks that this is possible. */
  confirmDestination(id: string, confirmation: Confirmation | null): Destination;
  /** Changes a destination of the given version; `null`: of any. */
  changeDestination(id: string, change: DestinationChange, version: number | null): Destination;
  /**
   * Deletes a destination. Alert rules that name it make it a failure, unless it is forced: then they are changed.
   * @returns the rules that were changed; `true` from an older object, which deletes it in any case
   */
  deleteDestination(id: string, isForced?: boolean): { alerts: ReleasedRule[] } | true;
  /** Gives a webhook a new signing secret. */
  rotateDestination(id: string, overlapSeconds: number): CreatedDestination;
  /** Sends a test and returns what the receiver answered, after 10 seconds at most. */
  testDestination(id: string): Attempt;
  /** Returns a page of notifications, newest first. `before` is the `next` of the previous page, or `null`. */
  listNotifications(filter: HistoryFilter, before: number | null, limit: number): HistoryPage;
  /** Starts the attempts of a delivery again. */
  redeliver(deliveryId: string): Delivery;
  /** Returns the alert rules of all projects. */
  allAlerts(): AlertRule[];
  /** Returns the alert rules of a project, in order of creation. */
  listAlerts(projectId: string): AlertRule[];
  getAlert(projectId: string, alertId: string): AlertRule;
  createAlert(projectId: string, definition: RuleDefinition): AlertRule;
  /** Changes an alert rule of the given version. */
  changeAlert(projectId: string, alertId: string, definition: RuleDefinition, version: number): AlertRule;
  deleteAlert(projectId: string, alertId: string): true;
  alertVersions(projectId: string, alertId: string): RuleVersion[];
  /** Returns what an alert rule has decided before `before` (a `num`), newest first. */
  alertDecisions(projectId: string, alertId: string, before: number, limit: number): StoredDecision[];
  /** Returns the valid grants of agents: the member's own, or an admin's view of all. The newest first, at most 500. */
  listGrants(all: boolean): GrantInfo[];
  /** Gives an agent access on behalf of the member. @returns the code that the client exchanges */
  giveGrant(consent: Consent): string;
  endGrant(grantId: string): true;
  /** Returns what `applyAlerts` would change. */
  planAlerts(projectId: string, set: RuleSet): RulePlan;
  /** Makes the alert rules of a project those of a set: all changes, or none. */
  applyAlerts(projectId: string, set: RuleSet): RulePlan;
  /** The same, if the rules have a revision. */
  applyAlertsAt(projectId: string, set: RuleSet, revision: string): RulePlan;
  /** Returns what the alerts of a project may name as their destinations, without addresses. */
  alertDestinations(projectId: string): Pick<Destination, "id" | "kind" | "name" | "disabled">[];
  rateLimits(): { limits: LimitConfiguration; live: LiveCounter[] };
  /** Replaces the configuration of limits. The next request is counted by the new one. */
  setLimits(limits: LimitConfiguration): true;
  /** Refused as unknown until the directory lists the workspace. */
  getWorkspaceInfo(): WorkspaceInfo;
  changeSettings(change: SettingsChange): WorkspaceInfo;
  /** Deletes the workspace in this turn, and removes it from the directory before the response if D1 is reachable. */
  deleteWorkspace(): true;
  /** Returns a page of the audit, newest first. `before` is the `next` of the previous page, or `null`. */
  audit(filter: AuditFilter, before: number | null, limit: number): AuditPage;
  usage(): Usage;
  /** Returns the members after `cursor`: (joinedAt, userId). */
  listMembers(cursor: readonly [number, string], limit: number): Member[];
  changeRole(memberId: string, role: Role): Member;
  /** Removes a member, who may be the caller. The member's keys are revoked in the same turn. */
  removeMember(memberId: string): true;
  invite(request: InviteRequest): Invitation;
  /** Returns the invitations after `cursor`: (createdAt, id). */
  listInvitations(cursor: readonly [number, string], limit: number): Invitation[];
  revokeInvitation(id: string): true;
}

export type ManagementMethod = keyof Management;

/** Methods that keys may call, too, with the scope of the action. */
export type KeyMethod =
  | "listAlerts"
  | "getAlert"
  | "createAlert"
  | "changeAlert"
  | "deleteAlert"
  | "alertVersions"
  | "alertDecisions"
  | "planAlerts"
  | "applyAlerts"
  | "applyAlertsAt"
  | "alertDestinations";

/** A caller on whose behalf a method runs, what the request counts under, and the cause of the change. */
export interface CallOf<C extends Caller> {
  caller: C;
  charge: Charge;
  origin: Origin;
}

export type MemberCall = CallOf<UserCaller>;

/** What a method gets from a call, besides its arguments. */
export type CallBy<M extends ManagementMethod> = CallOf<M extends KeyMethod ? Caller : UserCaller>;

export interface ManagementCall<M extends ManagementMethod = ManagementMethod> extends CallBy<M> {
  method: M;
  args: Parameters<Management[M]>;
}

/** What agents change. */
export type AgentChange = "createSaved" | "createAlert";

/** A change by an agent. */
export interface AgentChangeCall<M extends AgentChange = AgentChange> {
  caller: Caller;
  scope: AgentScope;
  /** The project of the change; `null`: the whole workspace. */
  projectId: string | null;
  origin: Origin;
  method: M;
  args: Parameters<Management[M]>;
}

/** What runs some methods in an object. */
export type Implementations<N extends ManagementMethod> = {
  [M in N]: (by: CallBy<M>, ...args: Parameters<Management[M]>) => Promise<Result<ReturnType<Management[M]>>>;
};
