import { AUDIT_ACTIONS, type AuditAction } from "../../../../../src/workspace/audit-actions.ts";
import type { AuditItem } from "../../../model/types.ts";

/** Labels of the actions, by group, in the order of the filter. */
const WORDS: Record<AuditAction, string> = {
  "session.start": "Signed in",
  "workspace.create": "Workspace created",
  "workspace.update": "Settings changed",
  "member.change": "Role changed",
  "member.remove": "Member removed",
  "member.leave": "Member left",
  "invitation.create": "Invited",
  "invitation.revoke": "Invitation withdrawn",
  "invitation.accept": "Invitation accepted",
  "project.create": "Project created",
  "project.rename": "Project renamed",
  "project.delete": "Project deleted",
  "key.create": "API key created",
  "key.update": "API key changed",
  "key.rotate": "API key rotated",
  "key.revoke": "API key deleted",
  "view.create": "View saved",
  "view.update": "View changed",
  "view.delete": "View deleted",
  "board.create": "Board created",
  "board.update": "Board changed",
  "board.delete": "Board deleted",
  "destination.create": "Destination created",
  "destination.update": "Destination changed",
  "destination.delete": "Destination deleted",
  "destination.rotate": "Signing secret rotated",
  "delivery.redeliver": "Delivered again",
  "alert.create": "Alert created",
  "alert.update": "Alert changed",
  "alert.delete": "Alert deleted",
  "limits.set": "Limits changed",
  "grant.create": "Agent allowed",
  "grant.revoke": "Agent's access ended",
  "grant.end": "Agent's access ended by the service",
  "agent.call": "Agent asked",
  "sandbox.reset": "Sandbox reset",
};

const GROUPS: Readonly<Record<string, string>> = {
  session: "Sign-ins",
  workspace: "Workspace",
  member: "Members",
  invitation: "Invitations",
  project: "Projects",
  key: "API keys",
  view: "Views",
  board: "Boards",
  destination: "Destinations",
  delivery: "Deliveries",
  alert: "Alerts",
  grant: "Access of agents",
};

/** Label of an action. An action that only a newer service has is shown by its name. */
export function actionInWords(action: string): string {
  return AUDIT_ACTIONS.some((known) => known === action) ? WORDS[action as AuditAction] : action;
}

/** What the IDs with a prefix identify. */
const KINDS: Readonly<Record<string, string>> = {
  usr: "user",
  key: "API key",
  inv: "invitation",
  proj: "project",
  ws: "workspace",
  fam: "session",
  view: "view",
  board: "board",
  dest: "destination",
  dlv: "delivery",
  alert: "alert",
  grant: "grant",
};

/** What a target without a name is; `null` if the label of its action says it. */
export function kindBeside(action: string, target: string): string | null {
  const kind = KINDS[target.slice(0, target.indexOf("_"))] ?? null;
  const isSaid = kind !== null && actionInWords(action).toLowerCase().includes(kind.toLowerCase());
  return isSaid ? null : kind;
}

export interface Choice {
  value: string;
  label: string;
  /** Whether the option before it that is not nested includes it. */
  isNested?: boolean;
}

/** Options of the filter: groups, and their actions if there are several. */
export const CHOICES: readonly Choice[] = [
  ...Object.entries(GROUPS).flatMap(([group, label]) => {
    const actions = AUDIT_ACTIONS.filter((action) => action.startsWith(`${group}.`));
    const single = actions.map((action) => ({ value: action, label: WORDS[action], isNested: true }));
    return [{ value: group, label }, ...(single.length > 1 ? single : [])];
  }),
  { value: "limits.set", label: WORDS["limits.set"] },
  { value: "agent.call", label: WORDS["agent.call"] },
];

/** Labels of members that differ from their names. */
const NAMES: Readonly<Record<string, string>> = {
  retentionDays: "retention in days",
  keysRevoked: "API keys deleted",
  grantsEnded: "grants ended",
  replacedBy: "replaced by",
  overlapSeconds: "overlap in seconds",
  expiresAt: "ends",
  projectId: "project",
  email: "e-mail",
  default: "default limit",
};

/** A member that changed, or of which only a number is recorded, before and after. `null` if it did not exist or is not recorded. */
export interface Difference {
  name: string;
  before: string | null;
  after: string | null;
}

export function differences({ before = {}, after = {} }: Pick<AuditItem, "before" | "after">): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !isSame(before[name], after[name]))
    .map((name) => {
      return { name: NAMES[name] ?? name, before: spelled(name, before[name]), after: spelled(name, after[name]) };
    });
}

/** Whether a list or an object, which is recorded whole, is the same before and after. */
function isSame(before: unknown, after: unknown): boolean {
  return typeof before === "object" && typeof after === "object" && JSON.stringify(before) === JSON.stringify(after);
}

function spelled(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (value === null) return name === "expiresAt" ? "never" : "none";
  if (name === "expiresAt" && typeof value === "number") return new Date(value).toISOString();
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((item) => spelled("", item)).join("; ");
  if (typeof value !== "object") return String(value);
  return name === "range" ? rangeInWords(value) : limitInWords(value);
}

function rangeInWords(range: object): string {
  const { last, from, to } = range as Record<string, unknown>;
  return last === undefined ? `${from ?? "the beginning"} to ${to ?? "now"}` : `last ${last}`;
}

/** Text of the default limit or of a rule. */
function limitInWords(value: object): string {
  const { method, path, limit, windowSeconds } = value as Record<string, unknown>;
  const count = `${limit} in ${windowSeconds} s`;
  return path === undefined ? count : `${method === "*" ? "any method" : method} ${path}: ${count}`;
}
