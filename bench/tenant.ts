import { call, createKey, createProject, register } from "../test/support/api.ts";

/** The largest limit that a workspace can set, per 60 s: checked on every request, and never reached. */
const LIMIT = 1_000_000;

export interface BenchProject {
  id: string;
  /** Secret of a key with both scopes. */
  key: string;
}

export interface BenchTenant {
  userId: string;
  workspaceId: string;
  accessToken: string;
  projects: readonly BenchProject[];
}

/** A new account with its workspace, and so a new and empty database, with limits on and set to the maximum. */
export async function newTenant(url: string, projectCount: number): Promise<BenchTenant> {
  const account = await register(url);
  const { userId, workspaceId, accessToken } = account;
  const set = await call(url, `/workspaces/${workspaceId}/rate-limits`, {
    method: "PUT",
    token: accessToken,
    body: { default: { limit: LIMIT } },
  });
  if (set.status !== 200) throw new Error(`The limit could not be set: ${set.status} ${JSON.stringify(set.body)}`);
  const projects: BenchProject[] = [];
  for (let number = 0; number < projectCount; number++) {
    const id = await createProject(url, account, `bench ${number}`);
    projects.push({ id, key: (await createKey(url, account, id)).secret });
  }
  return { userId, workspaceId, accessToken, projects };
}

/** The number of stored entries by the project: its `seq` has no gap, so the last one is the count. */
export async function storedEntries(url: string, tenant: BenchTenant, projectId: string): Promise<number> {
  const { accessToken: token, workspaceId } = tenant;
  const answer = await call<{ lastSeq: number }>(url, `/projects/${projectId}`, { token, workspaceId });
  if (answer.status !== 200) throw new Error(`The project could not be read: ${answer.status}`);
  return answer.body.data.lastSeq;
}
