import type { MadeKey, Project } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";

/** Creates the key of the first entry, which sends and reads. */
export async function createKey(workspaceId: string, project: Pick<Project, "id">): Promise<MadeKey> {
  const body = { name: "First key", scopes: ["logs:write", "logs:read"] };
  return (await authorized<MadeKey>(`/projects/${project.id}/keys`, { workspaceId, body })).data;
}
