import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { hashOneTimeToken } from "../../../src/accounts/one-time-token.ts";
import { newId } from "../../../src/ids.ts";
import { spelledAddress } from "../../../src/mail/compose.ts";
import { emailStub, mailedToken, mailsTo } from "../accounts/mail-support.ts";
import { call, dump, signedIn, workspaceStub } from "../accounts/support.ts";
import { onSql } from "../ingest/support.ts";
import { refusal } from "../projects/support.ts";
import {
  accept,
  by,
  forgetMails,
  indexed,
  invitationOf,
  invitationToken,
  invite,
  join,
  listed,
  newMember,
  newUser,
  newWorkspace,
  remove,
  type User,
  workspaceOf,
} from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const DAY_MS = 86_400_000;

const address = () => `${crypto.randomUUID()}@example.com`;

function revoke(user: User, workspaceId: string, id: string) {
  return by(user, `/workspaces/${workspaceId}/invitations/${id}`, { method: "DELETE" });
}

async function pending(user: User, workspaceId: string, query = "") {
  const answer = await by(user, `/workspaces/${workspaceId}/invitations${query}`);
  expect(answer.status).toBe(200);
  const item = z.strictObject({ id: z.string(), email: z.string(), role: z.string(), expiresAt: z.iso.datetime() });
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() }).parse(answer.data);
}

/** A token as the mail contains it, without a mail. */
function forged(workspaceId: string): string {
  return `vt_${workspaceId.slice(3)}${"A".repeat(43)}`;
}

describe("an invitation", () => {
  let owner: User;
  let id: string;
  beforeAll(async () => {
    owner = await newUser();
    id = await newWorkspace(owner, "Harbour");
  });

  it("is mailed, and accepted by a user who registers afterwards, once the address is confirmed", async () => {
    const email = `New.Sailor+x@${crypto.randomUUID()}.example.com`.toLowerCase();
    const made = invitationOf(await invite(owner, id, email.toUpperCase(), "member"));
    expect(made).toMatchObject({ email, role: "member", id: expect.stringMatching(/^inv_/) });
    expect(Math.abs(Date.parse(made.expiresAt) - Date.now() - 7 * DAY_MS)).toBeLessThan(60_000);
    expect((await pending(owner, id)).items).toContainEqual(made);
    const token = await invitationToken(id, email);
    const [mail] = await mailsTo(email, "invite");
    expect(mail?.text).toContain(spelledAddress(owner.email));
    expect(mail?.text).toContain("Harbour");
    const user = await newUser({ email, isVerified: false });
    expect(refusal(await accept(user, token))).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    const verified = await call("/auth/verify-email", { body: { token: await mailedToken(email, "verify-email") } });
    expect(verified.status).toBe(200);
    const joined = await accept(user, token);
    expect(workspaceOf(joined)).toMatchObject({ id, name: "Harbour", role: "member", personal: false });
    expect((await listed(user)).map((item) => item.id)).toContain(id);
    expect((await pending(owner, id)).items).not.toContainEqual(made);
    expect(refusal(await accept(user, token))).toEqual([400, "INVALID_TOKEN"]);
  });

  it("is for its address only: another user's attempt is refused and does not use it up", async () => {
    const [guest, other] = [await newUser(), await newUser()];
    invitationOf(await invite(owner, id, guest.email, "viewer"));
    const token = await invitationToken(id, guest.email);
    expect(refusal(await accept(other, token))).toEqual([403, "FORBIDDEN"]);
    expect(await indexed(id)).not.toContain(other.userId);
    expect(workspaceOf(await accept(guest, token)).role).toBe("viewer");
  });

  it("is accepted by exactly one of 20 concurrent requests", async () => {
    const guest = await newUser();
    invitationOf(await invite(owner, id, guest.email, "viewer"));
    const token = await invitationToken(id, guest.email);
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(guest, token)));
    const codes = answers.map(({ status, code }) => `${status} ${code}`).sort();
    expect(codes).toEqual(["200 null", ...Array(19).fill("400 INVALID_TOKEN")]);
    expect(await indexed(id)).toContain(guest.userId);
  });

  it("is invalid once withdrawn; of a withdrawal and a concurrent acceptance exactly one succeeds", async () => {
    const gone = await newUser();
    const first = invitationOf(await invite(owner, id, gone.email, "viewer"));
    const token = await invitationToken(id, gone.email);
    expect((await revoke(owner, id, first.id)).data).toEqual({ revoked: true });
    expect(refusal(await accept(gone, token))).toEqual([400, "INVALID_TOKEN"]);
    expect(refusal(await revoke(owner, id, first.id))).toEqual([404, "NOT_FOUND"]);
    for (let round = 0; round < 4; round++) {
      const guest = await newUser();
      const made = invitationOf(await invite(owner, id, guest.email, "viewer"));
      const racing = await invitationToken(id, guest.email);
      const pair = [() => accept(guest, racing), () => revoke(owner, id, made.id)];
      if (round % 2) pair.reverse();
      const answers = await Promise.all(pair.map((act) => act()));
      const accepted = answers[round % 2];
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const isIn = (await listed(guest)).some((item) => item.id === id);
      expect(isIn).toBe(accepted?.status === 200);
      expect((await indexed(id)).includes(guest.userId)).toBe(isIn);
    }
  });

  it("is not sent if it is withdrawn before its mail was sent", async () => {
    const email = address();
    const { id: invitationId } = invitationOf(await invite(owner, id, email, "viewer"));
    await revoke(owner, id, invitationId);
    await expect(invitationToken(id, email)).rejects.toThrow("no invitation");
  });

  it("expires after 7 days", async () => {
    const other = await newWorkspace(owner);
    const guest = await newUser();
    invitationOf(await invite(owner, other, guest.email, "viewer"));
    const token = await invitationToken(other, guest.email);
    const hash = hashOneTimeToken(token);
    const now = Date.now();
    const at = async (ms: number) => {
      vi.spyOn(Date, "now").mockReturnValue(now + ms);
      const ruling = await runInDurableObject(workspaceStub(other), (instance) =>
        instance.acceptInvitation(hash, { userId: guest.userId, email: guest.email }),
      );
      vi.restoreAllMocks();
      return ruling.ok ? "ok" : ruling.code;
    };
    expect(await at(7 * DAY_MS + 1000)).toBe("TOKEN_EXPIRED");
    expect(await at(7 * DAY_MS - 60_000)).toBe("ok");
  });

  it("replaces an older one to the address; within the minute without a mail, the sent one stays valid", async () => {
    const guest = await newUser();
    const first = invitationOf(await invite(owner, id, guest.email, "viewer"));
    const token = await invitationToken(id, guest.email);
    // Within the minute: no second mail, and the same invitation with its new role.
    const soon = invitationOf(await invite(owner, id, guest.email, "member"));
    expect(soon).toMatchObject({ id: first.id, role: "member" });
    await invitationToken(id, guest.email);
    expect(await mailsTo(guest.email, "invite")).toHaveLength(1);
    await forgetMails(guest.email);
    const second = invitationOf(await invite(owner, id, guest.email, "admin"));
    expect(second.id).not.toBe(first.id);
    expect((await pending(owner, id)).items.filter(({ email }) => email === guest.email)).toEqual([second]);
    const newer = await invitationToken(id, guest.email);
    expect(refusal(await accept(guest, token))).toEqual([400, "INVALID_TOKEN"]);
    expect(workspaceOf(await accept(guest, newer)).role).toBe("admin");
  });

  it("to a member is refused, and so is one by a user with an unconfirmed address", async () => {
    const member = await newMember(id, "viewer");
    expect(refusal(await invite(owner, id, member.email, "admin"))).toEqual([409, "CONFLICT"]);
    expect(refusal(await invite(owner, id, owner.email, "admin"))).toEqual([409, "CONFLICT"]);
    const fresh = await newUser({ isVerified: false });
    const answer = await invite(fresh, fresh.workspaceId, address(), "viewer");
    expect(refusal(answer)).toEqual([403, "EMAIL_NOT_VERIFIED"]);
  });

  it.each([
    [{}],
    [{ email: "x", role: "viewer" }],
    [{ email: "a@example.com" }],
    [{ email: "a@example.com", role: "boss" }],
    [{ email: ["a@example.com"], role: "viewer" }],
    [{ email: "a@example.com", role: "viewer", x: 1 }],
  ])("is not created from %j", async (body) => {
    expect(refusal(await by(owner, `/workspaces/${id}/members`, { body }))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("cannot be forged: forged, foreign and malformed tokens are 400, and write nothing", async () => {
    const unknown = newId("ws");
    for (const token of [
      forged(id),
      forged(unknown),
      "",
      "x",
      "vt_",
      `vt_${"A".repeat(43)}`,
      "\u0000",
      forged("ws_???"),
    ]) {
      expect([token, ...refusal(await accept(owner, token))]).toEqual([token, 400, "INVALID_TOKEN"]);
    }
    expect(await onSql(unknown, dump)).toEqual({});
    expect(refusal(await by(owner, "/invitations/accept", { body: { token: 1 } }))).toEqual([400, "VALIDATION_ERROR"]);
    expect(refusal(await by(owner, "/invitations/accept"))).toEqual([405, "METHOD_NOT_ALLOWED"]);
  });
});

describe("invitations", () => {
  it("are at most 20 a day, withdrawn ones included, through any eviction", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const answers = await Promise.all(Array.from({ length: 25 }, () => invite(owner, id, address(), "viewer")));
    const made = answers.filter(({ status }) => status === 201).map(invitationOf);
    expect(made).toHaveLength(20);
    const refusedOne = answers.find(({ status }) => status !== 201);
    expect([refusedOne?.status, refusedOne?.code]).toEqual([429, "RATE_LIMITED"]);
    expect(refusedOne?.details).toMatchObject([
      { message: expect.stringMatching(/^At most 20 invitations in 24 hours /) },
    ]);
    expect(Number(refusedOne?.headers.get("Retry-After"))).toBeGreaterThan(86_000);
    await revoke(owner, id, made[0]?.id ?? "");
    await evictDurableObject(workspaceStub(id));
    expect((await invite(owner, id, address(), "viewer")).status).toBe(429);
    const { items, nextCursor } = await pending(owner, id, "?limit=18");
    expect(items).toHaveLength(18);
    expect((await pending(owner, id, `?cursor=${nextCursor}`)).items).toHaveLength(1);
  });

  it("reach one address at most once a minute and five times an hour, from all workspaces together", async () => {
    const owner = await newUser();
    const email = address();
    const ids = [await newWorkspace(owner), await newWorkspace(owner)];
    for (const id of ids) invitationOf(await invite(owner, id, email, "viewer"));
    await invitationToken(ids[0] ?? "", email);
    await expect(onSql(ids[1] ?? "", (sql) => sql.exec("SELECT id FROM promised_mails").toArray())).resolves.toEqual(
      [],
    );
    expect(await mailsTo(email, "invite")).toHaveLength(1);
    await forgetMails(email);
    const now = Date.now();
    const admitted: boolean[] = [];
    for (let minute = 0; minute < 7; minute++) {
      vi.spyOn(Date, "now").mockReturnValue(now + minute * 60_001);
      admitted.push(await runInDurableObject(emailStub(email), (instance) => instance.admitInvite()));
    }
    expect(admitted).toEqual([true, true, true, true, true, false, false]);
  });

  it("are stored without a token, and the alarm sends mails that the queue lost", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const email = address();
    invitationOf(await invite(owner, id, email, "viewer"));
    const before = JSON.stringify(await onSql(id, dump));
    await evictDurableObject(workspaceStub(id));
    const sendBatch = vi.spyOn(env.MAIL_QUEUE, "sendBatch");
    const now = Date.now();
    vi.spyOn(Date, "now").mockReturnValue(now + 31_000);
    await runDurableObjectAlarm(workspaceStub(id));
    vi.mocked(Date.now).mockRestore();
    expect(sendBatch.mock.calls.flatMap(([messages]) => [...messages].map(({ body }) => body[0]))).toEqual([id]);
    const token = await invitationToken(id, email);
    for (const text of [before, JSON.stringify(await onSql(id, dump))]) expect(text).not.toContain(token.slice(3));
    expect(await onSql(id, (sql) => sql.exec("SELECT * FROM promised_mails").toArray())).toEqual([]);
  });

  it("become invalid when their inviter loses the permission", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const [second, guest, futureOwner] = [
      await join(owner, id, await newUser(), "owner"),
      await newUser(),
      await newUser(),
    ];
    invitationOf(await invite(second, id, guest.email, "member"));
    invitationOf(await invite(second, id, futureOwner.email, "owner"));
    const tokens = [await invitationToken(id, guest.email), await invitationToken(id, futureOwner.email)];
    const path = `/workspaces/${id}/members/${second.userId}`;
    await by(owner, path, { method: "PATCH", body: { role: "admin" } });
    expect(refusal(await accept(futureOwner, tokens[1] ?? ""))).toEqual([400, "INVALID_TOKEN"]);
    expect((await pending(owner, id)).items.map(({ email }) => email)).toEqual([guest.email]);
    await remove(owner, id, second.userId);
    expect(refusal(await accept(guest, tokens[0] ?? ""))).toEqual([400, "INVALID_TOKEN"]);
  });

  it("to a workspace that is being deleted become invalid", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const guest = await newUser();
    invitationOf(await invite(owner, id, guest.email, "member"));
    const token = await invitationToken(id, guest.email);
    const [accepted, deleted] = await Promise.all([
      accept(guest, token),
      by(owner, `/workspaces/${id}`, { method: "DELETE" }),
    ]);
    expect(deleted.status).toBe(200);
    expect([200, 400]).toContain(accepted.status);
    expect(refusal(await accept(guest, token))).toEqual([400, "INVALID_TOKEN"]);
    expect(await indexed(id)).toEqual([]);
    expect((await listed(guest)).map((item) => item.id)).toEqual([guest.workspaceId]);
  });

  it("are accepted by an account that a magic link created", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const email = address();
    invitationOf(await invite(owner, id, email, "viewer"));
    await call("/auth/magic-link", { body: { email } });
    const body = { token: await mailedToken(email, "magic-link") };
    const answer = await call("/auth/magic-link/verify", { body });
    const { isNewUser: _, ...data } = answer.data as Record<string, unknown>;
    const { user, accessToken, personalWorkspace } = signedIn({ ...answer, data });
    const guest = { userId: user.id, email, accessToken, workspaceId: personalWorkspace.id };
    expect(workspaceOf(await accept(guest, await invitationToken(id, email))).id).toBe(id);
  });
});
