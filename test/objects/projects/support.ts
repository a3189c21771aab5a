import { expect } from "vitest";
import { z } from "zod";
import { type Answer, bearer, type Call, call, registered } from "../accounts/support.ts";

const madeKeyShape = z.object({ id: z.string(), secret: z.string() });
const projectShape = z.object({
  id: z.string(),
  name: z.string(),
  workspaceId: z.string(),
  createdAt: z.iso.datetime(),
  lastSeq: z.number(),
});

export type Project = z.output<typeof projectShape>;

/** A signed-in account with its personal workspace. */
export interface Owner {
  userId: string;
  workspaceId: string;
  headers: { Authorization: string; "X-Workspace-Id": string };
}

export async function newOwner(): Promise<Owner> {
  const { user, personalWorkspace, accessToken } = await registered(`${crypto.randomUUID()}@example.com`);
  const workspaceId = personalWorkspace.id;
  return { userId: user.id, workspaceId, headers: { ...bearer(accessToken), "X-Workspace-Id": workspaceId } };
}

/** Sends one request as an owner, in the owner's workspace. */
export function as({ headers }: Pick<Owner, "headers">, path: string, options: Call = {}): Promise<Answer> {
  return call(path, { ...options, headers: { ...headers, ...options.headers } });
}

export function projectOf(answer: Answer): Project {
  return projectShape.strict().parse(answer.data);
}

export async function newProject(owner: Owner, name = "test"): Promise<string> {
  const answer = await as(owner, "/projects", { body: { name } });
  expect([answer.status, answer.code]).toEqual([201, null]);
  return projectOf(answer).id;
}

export interface KeyOf {
  projectId: string;
  keyId: string;
  secret: string;
}

/** Creates a key of a project, by default with both scopes. */
export async function newKey(owner: Owner, projectId: string, body: Record<string, unknown> = {}): Promise<KeyOf> {
  const answer = await as(owner, `/projects/${projectId}/keys`, {
    body: { name: "test", scopes: ["logs:write", "logs:read"], ...body },
  });
  return keyOf(answer, projectId);
}

export function keyOf(answer: Answer, projectId: string): KeyOf {
  expect([answer.status, answer.code]).toEqual([201, null]);
  const { id, secret } = madeKeyShape.parse(answer.data);
  return { projectId, keyId: id, secret };
}

/** Status and code of a refused request. */
export const refusal = ({ status, code }: Answer) => [status, code];
