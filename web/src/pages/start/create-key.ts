import type { MadeKey, Project } from "../../model/types.ts";
import { authorized, user } from "../../session/session.ts";

/** Creates the key of the first entry, which sends and reads. */
export async function createKey(workspaceId: string, project: Pick<Project, "id">): Promise<MadeKey> {
  const body = { name: "First key", scopes: ["logs:write", "logs:read"] };
  return (await authorized<MadeKey>(`/projects/${project.id}/keys`, { workspaceId, body })).data;
}

/** Kept in memory only, so that the way to the outbox and back does not lose the key, and a reload does. */
let kept: { key: MadeKey; userId: string | undefined } | null = null;

export function keepKey(key: MadeKey | null): void {
  kept = key === null ? null : { key, userId: user.peek()?.id };
}

/** The key that this tab made last, if the same user is signed in. */
export function keptKey(): MadeKey | null {
  return kept !== null && kept.userId === user.peek()?.id ? kept.key : null;
}
