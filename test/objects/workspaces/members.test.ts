import { evictDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { newId } from "../../../src/ids.ts";
import { bearer, workspaceStub } from "../accounts/support.ts";
import { numbered, onSql, receiptOf, send } from "../ingest/support.ts";
import { newKey, newProject, refusal } from "../projects/support.ts";
import {
  addMember,
  by,
  forgetMails,
  indexed,
  invitationOf,
  invite,
  join,
  listed,
  newMember,
  newUser,
  newWorkspace,
  remove,
  setRole,
  type User,
} from "./support.ts";

const memberShape = z.strictObject({
  userId: z.string(),
  email: z.string().nullable(),
  role: z.string(),
  joinedAt: z.iso.datetime(),
});

async function members(user: User, workspaceId: string, query = "") {
  const answer = await by(user, `/workspaces/${workspaceId}/members${query}`);
  expect(answer.status).toBe(200);
  return z.object({ items: z.array(memberShape), nextCursor: z.string().nullable() }).parse(answer.data);
}

const owners = (workspaceId: string) =>
  onSql(workspaceId, (sql) => sql.exec("SELECT user_id FROM members WHERE role = 'owner'").toArray().length);

describe("members", () => {
  let owner: User;
  let id: string;
  beforeAll(async () => {
    owner = await newUser();
    id = await newWorkspace(owner);
  });

  it("are listed with address and role, page by page", async () => {
    const others = await Promise.all((["admin", "member", "viewer"] as const).map((role) => newMember(id, role)));
    const { items } = await members(owner, id);
    expect(items[0]).toMatchObject({ userId: owner.userId, email: owner.email, role: "owner" });
    for (const { userId, email } of others) expect(items).toContainEqual(expect.objectContaining({ userId, email }));
    const seen: string[] = [];
    for (let query = "?limit=1"; query; ) {
      const page = await members(owner, id, query);
      seen.push(...page.items.map(({ userId }) => userId));
      query = page.nextCursor ? `?limit=1&cursor=${page.nextCursor}` : "";
    }
    expect(seen).toEqual(items.map(({ userId }) => userId));
    const bad = await by(owner, `/workspaces/${id}/members?cursor=1`);
    expect(refusal(bad)).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("have another role from the next request on", async () => {
    const member = await newMember(id, "viewer");
    const create = () =>
      by(member, "/projects", { body: { name: "x" }, headers: { "X-Workspace-Id": id } }).then(({ status }) => status);
    expect(await create()).toBe(403);
    const answer = await setRole(owner, id, member.userId, "member");
    expect([answer.status, memberShape.parse(answer.data)]).toMatchObject([
      200,
      { role: "member", email: member.email },
    ]);
    expect(await create()).toBe(201);
    await evictDurableObject(workspaceStub(id));
    expect(await create()).toBe(201);
    await setRole(owner, id, member.userId, "viewer");
    expect(await create()).toBe(403);
  });

  it("an admin neither makes an owner nor changes one", async () => {
    const admin = await newMember(id, "admin");
    const second = await newMember(id, "owner");
    const member = await newMember(id, "member");
    for (const answer of [
      await setRole(admin, id, member.userId, "owner"),
      await setRole(admin, id, admin.userId, "owner"),
      await setRole(admin, id, second.userId, "viewer"),
      await remove(admin, id, second.userId),
      await invite(admin, id, "boss@example.com", "owner"),
    ]) {
      expect(refusal(answer)).toEqual([403, "FORBIDDEN"]);
    }
    expect((await setRole(admin, id, member.userId, "admin")).status).toBe(200);
    expect((await remove(admin, id, member.userId)).status).toBe(200);
    expect((await setRole(owner, id, second.userId, "viewer")).status).toBe(200);
  });

  it("that do not exist are 404, and malformed roles are 400", async () => {
    for (const userId of [newId("usr"), "x", "usr_"]) {
      expect(refusal(await setRole(owner, id, userId, "viewer"))).toEqual([404, "NOT_FOUND"]);
      expect(refusal(await remove(owner, id, userId))).toEqual([404, "NOT_FOUND"]);
    }
    const path = `/workspaces/${id}/members/${owner.userId}`;
    for (const body of [{}, { role: "boss" }, { role: 1 }, { role: "viewer", x: 1 }]) {
      expect(refusal(await by(owner, path, { method: "PATCH", body }))).toEqual([400, "VALIDATION_ERROR"]);
    }
  });
});

describe("a member who leaves or is removed", () => {
  it("immediately loses keys, invitations and access; resources of other members stay", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const admin = await join(owner, id, await newUser(), "admin");
    const inWorkspace = (user: User) => ({
      userId: user.userId,
      workspaceId: id,
      headers: { ...bearer(user.accessToken), "X-Workspace-Id": id },
    });
    const projectId = await newProject(inWorkspace(owner));
    const ownersKey = await newKey(inWorkspace(owner), projectId);
    const adminsKey = await newKey(inWorkspace(admin), projectId);
    receiptOf(await send(adminsKey, numbered(1)));
    const { id: invitationId } = invitationOf(await invite(admin, id, "friend@example.com", "member"));
    const { status } = await remove(admin, id, admin.userId);
    expect(status).toBe(200);
    expect(refusal(await send(adminsKey, numbered(1)))).toEqual([401, "API_KEY_REVOKED"]);
    receiptOf(await send(ownersKey, numbered(1)));
    expect(refusal(await by(admin, `/workspaces/${id}`))).toEqual([404, "NOT_FOUND"]);
    expect((await listed(admin)).map((item) => item.id)).toEqual([admin.workspaceId]);
    expect(await indexed(id)).toEqual([owner.userId]);
    const revoke = await by(owner, `/workspaces/${id}/invitations/${invitationId}`, { method: "DELETE" });
    expect(refusal(revoke)).toEqual([404, "NOT_FOUND"]);
    // After joining again, the old keys stay revoked.
    await forgetMails(admin.email);
    await join(owner, id, admin, "admin");
    expect(await indexed(id)).toEqual([owner.userId, admin.userId].sort());
    expect(refusal(await send(adminsKey, numbered(1)))).toEqual([401, "API_KEY_REVOKED"]);
  });

  it("may not be the last owner, by leaving, removal or role, until there is another one", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const admin = await newMember(id, "admin");
    expect(refusal(await remove(owner, id, owner.userId))).toEqual([409, "CONFLICT"]);
    expect(refusal(await setRole(owner, id, owner.userId, "admin"))).toEqual([409, "CONFLICT"]);
    expect((await setRole(owner, id, owner.userId, "owner")).status).toBe(200);
    await setRole(owner, id, admin.userId, "owner");
    expect((await remove(owner, id, owner.userId)).status).toBe(200);
    expect(refusal(await remove(admin, id, admin.userId))).toEqual([409, "CONFLICT"]);
  });

  it("in a race of the last two owners, one stays", async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await newUser(), await newUser()];
      const id = await newWorkspace(a);
      await addMember(id, b, "owner");
      const answers =
        round % 2 === 0
          ? await Promise.all([remove(a, id, a.userId), remove(b, id, b.userId)])
          : await Promise.all([remove(a, id, b.userId), remove(b, id, a.userId)]);
      const statuses = answers.map(({ status }) => status).sort();
      // The removed owner is no longer a member, and sees no workspace.
      expect(statuses).toEqual(round % 2 === 0 ? [200, 409] : [200, 404]);
      expect(await owners(id)).toBe(1);
    }
  });

  it("may not be the person of a personal workspace, even with several owners", async () => {
    const person = await newUser();
    const other = await newUser();
    await addMember(person.workspaceId, other, "owner");
    for (const user of [person, other]) {
      expect(refusal(await remove(user, person.workspaceId, person.userId))).toEqual([409, "CONFLICT"]);
      expect(refusal(await setRole(user, person.workspaceId, person.userId, "viewer"))).toEqual([409, "CONFLICT"]);
    }
    expect((await remove(other, person.workspaceId, other.userId)).status).toBe(200);
  });
});
