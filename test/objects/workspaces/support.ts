import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { z } from "zod";
import { roleSchema, workspaceShape } from "../../../src/routes/workspaces/shared.ts";
import type { Role } from "../../../src/workspace/permissions.ts";
import { consume, emailStub, mailsTo } from "../accounts/mail-support.ts";
import { type Answer, bearer, type Call, call, registered, userStub } from "../accounts/support.ts";
import { onSql } from "../ingest/support.ts";

export interface User {
  userId: string;
  email: string;
  accessToken: string;
  /** The personal workspace. */
  workspaceId: string;
}

/** Creates an account, by default with a confirmed address. */
export async function newUser({ isVerified = true, email = `${crypto.randomUUID()}@example.com` } = {}): Promise<User> {
  const { user, personalWorkspace, accessToken } = await registered(email);
  const made = { userId: user.id, email, accessToken, workspaceId: personalWorkspace.id };
  if (isVerified) await verify(made);
  return made;
}

export function verify({ userId }: Pick<User, "userId">): Promise<unknown> {
  return runInDurableObject(userStub(userId), (_, { storage }) =>
    storage.sql.exec("UPDATE account SET email_verified = 1").toArray(),
  );
}

/** Sends one request as a user. */
export function by({ accessToken }: Pick<User, "accessToken">, path: string, options: Call = {}): Promise<Answer> {
  return call(path, { ...options, headers: { ...bearer(accessToken), ...options.headers } });
}

export type Workspace = z.output<typeof workspaceShape>;

export function workspaceOf(answer: Answer): Workspace {
  expect([answer.code, answer.status]).toEqual([null, expect.any(Number)]);
  return workspaceShape.strict().parse(answer.data);
}

export async function newWorkspace(owner: User, name = "Team"): Promise<string> {
  const answer = await by(owner, "/workspaces", { body: { name } });
  expect([answer.status, answer.code]).toEqual([201, null]);
  return workspaceOf(answer).id;
}

/** All pages of `GET /workspaces` for a user. */
export async function listed(user: User, limit = 50): Promise<Workspace[]> {
  const items: Workspace[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const answer = await by(user, `/workspaces?limit=${limit}${cursor ? `&cursor=${cursor}` : ""}`);
    const page = z.object({ items: z.array(workspaceShape), nextCursor: z.string().nullable() }).parse(answer.data);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}

const invitationShape = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: roleSchema,
  expiresAt: z.iso.datetime(),
});

export type Invitation = z.output<typeof invitationShape>;

export function invitationOf(answer: Answer): Invitation {
  expect([answer.status, answer.code]).toEqual([201, null]);
  return invitationShape.parse(answer.data);
}

export function invite(from: User, workspaceId: string, email: string, role: Role): Promise<Answer> {
  return by(from, `/workspaces/${workspaceId}/members`, { body: { email, role } });
}

/** Allows another invitation mail to an address, as after several minutes. */
export async function forgetMails(email: string): Promise<void> {
  await runInDurableObject(emailStub(email), async (_, { storage }) => {
    storage.sql.exec("DELETE FROM rate_seconds");
    storage.sql.exec("DELETE FROM rate_counters");
  });
  await evictDurableObject(emailStub(email));
}

/** Sends the pending mails of a workspace, and returns the token of the newest invitation to an address. */
export async function invitationToken(workspaceId: string, email: string): Promise<string> {
  const ids = await onSql(workspaceId, (sql) => sql.exec<{ id: string }>("SELECT id FROM promised_mails").toArray());
  await consume(ids.map(({ id }) => [workspaceId, id]));
  const mail = (await mailsTo(email, "invite"))[0];
  const token = /#token=(vt_[\w-]+)$/.exec(mail?.links[0] ?? "")?.[1];
  if (!token) throw new Error(`no invitation came to ${email}`);
  return token;
}

export function accept(user: User, token: string): Promise<Answer> {
  return by(user, "/invitations/accept", { body: { token } });
}

/** Makes a user a member by an invitation. */
export async function join(owner: User, workspaceId: string, user: User, role: Role): Promise<User> {
  invitationOf(await invite(owner, workspaceId, user.email, role));
  const answer = await accept(user, await invitationToken(workspaceId, user.email));
  expect([answer.status, answer.code]).toEqual([200, null]);
  return user;
}

/** Inserts a member into the object and the directory, for tests in which the way of joining does not matter. */
export async function addMember(workspaceId: string, { userId }: User, role: Role): Promise<void> {
  await onSql(workspaceId, (sql) =>
    sql.exec("INSERT OR REPLACE INTO members (user_id, role, added_at) VALUES (?, ?, ?)", userId, role, Date.now()),
  );
  await env.DB.prepare("INSERT OR IGNORE INTO memberships (user_id, workspace_id) VALUES (?, ?)")
    .bind(userId, workspaceId)
    .run();
}

export async function newMember(workspaceId: string, role: Role): Promise<User> {
  const user = await newUser();
  await addMember(workspaceId, user, role);
  return user;
}

/** The members of a workspace in the directory. */
export async function indexed(workspaceId: string): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT user_id AS id FROM memberships WHERE workspace_id = ? ORDER BY id")
    .bind(workspaceId)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

export function remove(from: User, workspaceId: string, userId: string): Promise<Answer> {
  return by(from, `/workspaces/${workspaceId}/members/${userId}`, { method: "DELETE" });
}

export function setRole(from: User, workspaceId: string, userId: string, role: Role): Promise<Answer> {
  return by(from, `/workspaces/${workspaceId}/members/${userId}`, { method: "PATCH", body: { role } });
}
