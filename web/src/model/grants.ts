import type { AgentScope } from "../../../src/keys/scopes.ts";
import { authorized } from "../session/session.ts";

/** A program that asks for access, or has it. Its texts are its own. */
export interface AgentClient {
  name: string;
  /** Publishes the client's metadata; `null`: it has registered itself. */
  host: string | null;
  /** A host, `this computer`, or the scheme of a program. */
  receiver: string;
}

/** What the service says of an authorization request. */
export interface OpenedRequest {
  valid: boolean;
  message: string | null;
  client: (AgentClient & { id: string }) | null;
  scopes: AgentScope[];
  /** Takes a refusal to the client; `null` if its receiver is unknown. */
  refuseUrl: string | null;
}

/** Access that the user has given to an agent. */
export interface Grant {
  id: string;
  workspaceId: string;
  workspaceName: string;
  client: AgentClient;
  scopes: AgentScope[];
  projects: { id: string; name: string }[] | null;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string;
}

/** What scopes let an agent do. */
export const SCOPE_WORDS: Readonly<Record<AgentScope, string>> = {
  "logs:read": "Read logs",
  "views:write": "Save views",
  "alerts:write": "Create alerts",
};

export async function openRequest(request: string, signal: AbortSignal): Promise<OpenedRequest> {
  return (await authorized<OpenedRequest>("/oauth/requests", { body: { request }, signal })).data;
}

export interface Consent {
  request: string;
  scopes: readonly AgentScope[];
  projectIds: readonly string[] | null;
}

/** Gives access. @returns where the browser continues */
export async function giveGrant(workspaceId: string, body: Consent): Promise<string> {
  return (await authorized<{ redirectTo: string }>(`/workspaces/${workspaceId}/grants`, { body })).data.redirectTo;
}

export async function loadGrants(signal: AbortSignal): Promise<Grant[]> {
  return (await authorized<{ items: Grant[] }>("/oauth/grants", { signal })).data.items;
}

/** A grant in the list of its workspace. */
export interface MemberGrant extends Omit<Grant, "workspaceName"> {
  email: string | null;
}

/** Loads the grants of a workspace that the user may see. */
export async function loadGrantsIn(workspaceId: string, signal: AbortSignal): Promise<MemberGrant[]> {
  const path = `/workspaces/${workspaceId}/grants`;
  return (await authorized<{ items: MemberGrant[] }>(path, { signal })).data.items;
}

export async function endGrant({ workspaceId, id }: Pick<Grant, "workspaceId" | "id">): Promise<void> {
  await authorized(`/workspaces/${workspaceId}/grants/${id}`, { method: "DELETE" });
}
