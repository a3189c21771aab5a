import { newId } from "../ids.ts";
import type { AgentScope } from "../keys/scopes.ts";
import { fail, ok, type Result } from "../rpc/result.ts";
import type { AuditNote } from "../workspace/audit.ts";
import { may, type Role, SCOPE_ACTIONS } from "../workspace/permissions.ts";
import { findProject, findProjectByNum } from "../workspace/projects.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import type { AgentClient } from "./client.ts";
import { receiverOf } from "./redirect-uri.ts";
import { deleteGrant, findGrant, GRANT_LIMITS, type GrantRow, grantEnd, insertGrant, listGrants } from "./store.ts";
import { newCode } from "./tokens.ts";

/** What members do with grants: give, list and end them. */

/** The consent of a member: what the client asked for, and what it gets of that. A router has checked the request. */
export interface Consent {
  request: Omit<AuthorizationRequest, "scopes" | "state">;
  client: Pick<AgentClient, "name" | "host">;
  scopes: readonly AgentScope[];
  /** Ids; `null`: all projects, also later ones. */
  projectIds: readonly string[] | null;
}

/** A grant as lists show it. Times are epoch milliseconds. */
export interface GrantInfo {
  id: string;
  userId: string;
  client: { name: string; host: string | null; receiver: string };
  scopes: AgentScope[];
  /** `null`: all projects of the workspace. */
  projects: { id: string; name: string }[] | null;
  createdAt: number;
  lastUsedAt: number | null;
  /** If it is not used again. */
  expiresAt: number;
}

/** A member's grants in one workspace. */
export interface OwnGrants {
  workspaceName: string;
  grants: GrantInfo[];
}

/** Grants of one list. */
const LIST_MAX = 500;

/** Gives a grant. @returns the code that the client exchanges */
export function giveGrant(
  sql: SqlStorage,
  workspaceId: string,
  by: { userId: string; role: Role },
  { request, client, scopes, projectIds }: Consent,
  note: AuditNote,
  now: number,
): Result<string> {
  const refused = scopes.find((scope) => !may(by.role, SCOPE_ACTIONS[scope]));
  if (refused !== undefined) return fail("FORBIDDEN", `Your role does not allow the scope ${refused}.`);
  const projects = projectIds?.map((id) => findProject(sql, id)?.num ?? null) ?? null;
  if (projects?.includes(null)) return fail("NOT_FOUND", "Project not found.");
  const code = newCode(workspaceId);
  const id = newId("grant");
  const grant = {
    id,
    userId: by.userId,
    clientId: request.clientId,
    clientName: client.name,
    clientHost: client.host,
    redirectUri: request.redirectUri,
    resource: request.resource,
    scopes: [...scopes],
    projects: projects && [...new Set(projects.filter((num) => num !== null))],
    key: crypto.getRandomValues(new Uint8Array(32)),
    codeHash: code.hash,
    codeChallenge: request.challenge,
    codeExpiresAt: now + GRANT_LIMITS.codeMs,
  };
  insertGrant(sql, grant, now);
  const shown = projectIds === null ? "all" : projectIds.slice(0, 20);
  note(id, { after: { client: client.name, host: client.host, scopes, projects: shown } });
  return ok(code.secret);
}

/** Lists the valid grants of a member, or of all members. */
export function grantsOf(sql: SqlStorage, userId: string | null, now: number): GrantInfo[] {
  return listGrants(sql, userId, now, LIST_MAX).map((grant) => grantInfo(sql, grant));
}

function grantInfo(sql: SqlStorage, grant: GrantRow): GrantInfo {
  const { id, userId, clientName, clientHost, redirectUri, scopes, createdAt, lastUsedAt } = grant;
  const projects = grant.projects?.flatMap((num) => {
    const project = findProjectByNum(sql, num);
    return project ? [{ id: project.id, name: project.name }] : [];
  });
  return {
    id,
    userId,
    client: { name: clientName, host: clientHost, receiver: receiverOf(redirectUri) },
    scopes,
    projects: projects ?? null,
    createdAt,
    lastUsedAt,
    expiresAt: grantEnd(grant),
  };
}

/** Ends a grant: the member's own, or any if the role may remove members. */
export function endGrant(
  sql: SqlStorage,
  by: { userId: string; role: Role },
  id: string,
  note: AuditNote,
): Result<true> {
  const grant = findGrant(sql, id);
  const isVisible = grant !== null && (grant.userId === by.userId || may(by.role, "member.remove"));
  if (!isVisible) return fail("NOT_FOUND", "Grant not found.");
  deleteGrant(sql, id);
  note(id, { before: { client: grant.clientName, user: grant.userId, scopes: grant.scopes } });
  return ok(true);
}
