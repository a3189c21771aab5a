import { findGrantByToken } from "../grants/store.ts";
import type { AgentScope } from "../keys/scopes.ts";
import type { ChargedCall } from "../limits/state.ts";
import { chargeOf } from "../limits/state.ts";
import type { Origin } from "../platform/origin.ts";
import { ok, type Result } from "../rpc/result.ts";
import { type AdmissionContext, admit } from "./admission.ts";
import { recordAudit } from "./audit.ts";
import { writeFrequent } from "./ledger.ts";
import { type LedgerItem, readLedger } from "./ledger-page.ts";
import { type Caller, roleFor, SCOPE_ACTIONS } from "./permissions.ts";
import { readableProjects } from "./projects.ts";
import type { WorkspaceRow } from "./settings.ts";
import { readUsage, type Usage } from "./usage.ts";

// Plain data only. These shapes cross versions during a deploy: add optional members only.

/** A request of an agent. */
export interface AgentCall extends ChargedCall {
  caller: Caller;
  origin: Origin;
  /** What the tool requires; absent: `logs:read`. An object of an older version requires that. */
  scope?: AgentScope;
  /** The tool that it calls; `null` for a request that calls none. */
  tool: string | null;
  /** What it asks of the tool, as the audit shows it: at most 300 characters. */
  question: string | null;
  /** Whether `health` is wanted. */
  wantsHealth: boolean;
}

/** A project that an agent may read. */
export interface AgentProject {
  id: string;
  name: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** The `seq` of its newest entry; 0 while it has none. */
  lastSeq: number;
  unflushedEntries: number;
}

/** Entries that never arrived. */
export interface AgentGap {
  projectId: string;
  /** When the gap was noticed, epoch milliseconds. */
  at: number;
  entries: number;
}

/** What an agent may read, and what is missing of it. */
export interface AgentAccess {
  workspace: { id: string; name: string; retentionDays: number };
  /** What the agent may do; absent from objects of an older version: `logs:read`. */
  scopes?: readonly AgentScope[];
  /** In order of creation, at most `MAX_AGENT_PROJECTS`. */
  projects: AgentProject[];
  /** The newest gaps of the last 30 days, at most `MAX_AGENT_GAPS` of a project. */
  gaps: AgentGap[];
  health: { usage: Usage; missing: (LedgerItem & { projectId: string })[] } | null;
}

/** Projects of one answer. A token for more names the project of each question. */
export const MAX_AGENT_PROJECTS = 100;
const MAX_AGENT_GAPS = 200;
const MISSING_ROWS = 50;

const DAY_MS = 24 * 60 * 60 * 1000;
const GAP_DAYS = 30;

/**
 * Admits a request of an agent, counts it, and records a call of a tool in the audit, in the caller's transaction. A refused request
 * has no item in the audit.
 */
export function admitAgent(
  admission: AdmissionContext,
  row: WorkspaceRow,
  { caller, origin, scope = "logs:read", tool, question, wantsHealth, ...charged }: AgentCall,
  now: number,
): Result<AgentAccess> {
  const requirement = { scope, role: roleFor(SCOPE_ACTIONS[scope]), projectId: null };
  const admitted = admit(admission, caller, requirement, chargeOf(charged), now);
  if (!admitted.ok) return admitted;
  const { sql, frequent } = admission;
  const { project, limit } = admitted;
  if (tool !== null) {
    const actor = actorOf(admission, caller);
    const after = { tool, ...(question === null ? {} : { question }) };
    recordAudit(sql, { actor, action: "agent.call", target: project?.id ?? row.id, after }, origin, now);
  }
  const projects = readableProjects(sql, admitted).slice(0, MAX_AGENT_PROJECTS);
  if (wantsHealth) writeFrequent(sql, frequent, now);
  const since = (days: number) => ({ from: now - days * DAY_MS, to: now + 1 });
  const access: AgentAccess = {
    workspace: { id: row.id, name: row.name, retentionDays: row.retentionDays },
    scopes: (caller.kind === "grant" && findGrantByToken(sql, caller.hash)?.grant.scopes) || ["logs:read"],
    projects: projects.map(({ id, name, createdAt, lastSeq, unflushedEntries }) => {
      return { id, name, createdAt, lastSeq, unflushedEntries };
    }),
    gaps: projects.flatMap(({ id, num }) => {
      const page = readLedger(sql, num, { ...since(GAP_DAYS), kind: "gap" }, null, MAX_AGENT_GAPS);
      return (page?.items ?? []).map(({ at, entries }) => ({ projectId: id, at, entries }));
    }),
    health: wantsHealth
      ? {
          usage: readUsage(sql, now),
          missing: projects.flatMap(({ id, num }) => {
            const page = readLedger(sql, num, since(1), null, MISSING_ROWS);
            return (page?.items ?? []).map((item) => ({ ...item, projectId: id }));
          }),
        }
      : null,
  };
  return { ...ok(access), limit };
}

/** Returns the id of the key or the grant of an agent, or of the user. */
function actorOf({ sql, keyProjectCache }: AdmissionContext, caller: Caller): string {
  switch (caller.kind) {
    case "key":
      return keyProjectCache.key(caller.hash)?.id ?? "";
    case "grant":
      return findGrantByToken(sql, caller.hash)?.grant.id ?? "";
    case "user":
      return caller.userId;
  }
}
