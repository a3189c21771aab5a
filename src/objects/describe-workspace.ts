import { type Role, unknownCaller } from "../workspace/caller.ts";
import { readWorkspace } from "../workspace/settings.ts";
import type { Answer, WorkspaceCore } from "./workspace-core.ts";

/** A workspace as one of its members sees it. */
export interface WorkspaceInfo {
  id: string;
  slug: string;
  name: string;
  personal: boolean;
  role: Role;
  retentionDays: number;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** Unknown as long as the directory does not list it: its slug is decided there. */
export async function readWorkspaceInfo(core: WorkspaceCore, userId: string): Promise<Answer<WorkspaceInfo>> {
  const slug = await core.slug();
  const answer = core.as(userId, "workspace.get", null, ({ sql }, role): WorkspaceInfo => {
    const { id, name, personal, retentionDays, createdAt } = readWorkspace(sql);
    return { id, slug: slug ?? "", name, personal, role, retentionDays, createdAt };
  });
  return answer.ok && slug === null ? unknownCaller({ kind: "user", userId }) : answer;
}
