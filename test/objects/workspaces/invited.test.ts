import { beforeAll, describe, expect, it } from "vitest";
import { mailsTo, pendingMailsOf } from "../accounts/mail-support.ts";
import { type Answer, bearer, call, login, me, PASSWORD, registered, signedIn } from "../accounts/support.ts";
import { onSql } from "../ingest/support.ts";
import { refusal } from "../projects/support.ts";
import {
  accept,
  by,
  invitationOf,
  invitationToken,
  invite,
  newUser,
  newWorkspace,
  type User,
  workspaceOf,
} from "./support.ts";

const address = () => `${crypto.randomUUID()}@example.com`;

/** The worst characters that a name may contain. */
const HOSTILE = `<img src=x onerror=alert(1)> "Harbour" \u{1F6A2} https://evil.example`;

let owner: User;
let id: string;
beforeAll(async () => {
  owner = await newUser();
  id = await newWorkspace(owner, HOSTILE);
});

/** Sends an invitation and returns the token of its mail. */
async function invited(email: string): Promise<string> {
  invitationOf(await invite(owner, id, email, "member"));
  return invitationToken(id, email);
}

const open = (token: string): Promise<Answer> => call("/invitations/open", { body: { token } });

const register = (email: string, invitation: string): Promise<Answer> =>
  call("/auth/register", { body: { email, password: PASSWORD, invitation } });

/** Whether the registered account's address is confirmed. */
async function isVerified(answer: Answer): Promise<unknown> {
  expect(answer.status).toBe(201);
  // SAFETY: the answer of a registration.
  const { accessToken } = answer.data as { accessToken: string };
  // SAFETY: the answer of `GET /auth/me`.
  const { user } = (await me(accessToken)).data as { user: { emailVerified: boolean } };
  return user.emailVerified;
}

describe("the token of an invitation", () => {
  it("returns its workspace and inviter to its holder, with names unchanged, and is not used up", async () => {
    const email = address();
    const token = await invited(email);
    const shown = { workspace: { name: HOSTILE }, inviter: { email: owner.email }, email, role: "member" };
    for (let time = 0; time < 2; time++) {
      const answer = await open(token);
      expect([answer.status, answer.data]).toEqual([200, { ...shown, expiresAt: expect.any(String) }]);
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
      expect(answer.headers.get("X-RateLimit-Limit")).toBe("1000");
    }
    const guest = await newUser({ email });
    expect(workspaceOf(await accept(guest, token)).id).toBe(id);
    expect(refusal(await open(token))).toEqual([400, "INVALID_TOKEN"]);
  });

  it("returns the inviter's name if one is set", async () => {
    const email = address();
    const { user, accessToken, personalWorkspace } = await registered(address(), HOSTILE);
    const named = { userId: user.id, email: user.email, accessToken, workspaceId: personalWorkspace.id };
    await onSql(id, (sql) =>
      sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, 'admin', 1)", named.userId).toArray(),
    );
    const token = await invited(email);
    await onSql(id, (sql) => sql.exec("UPDATE invitations SET invited_by = ?", named.userId).toArray());
    expect((await open(token)).data).toMatchObject({ inviter: { email: named.email, name: HOSTILE } });
  });

  it("is refused once expired or withdrawn, and a forged one reveals nothing", async () => {
    const token = await invited(address());
    await onSql(id, (sql) => sql.exec("UPDATE invitations SET expires_at = 1").toArray());
    expect(refusal(await open(token))).toEqual([400, "TOKEN_EXPIRED"]);
    const email = address();
    const gone = invitationOf(await invite(owner, id, email, "viewer"));
    const taken = await invitationToken(id, email);
    await by(owner, `/workspaces/${id}/invitations/${gone.id}`, { method: "DELETE" });
    const forged = `vt_${id.slice(3)}${"A".repeat(43)}`;
    for (const bad of [taken, forged, `vt_000000000000${"A".repeat(43)}`, `vt_${"A".repeat(43)}`, "", "x"]) {
      expect(refusal(await open(bad))).toEqual([400, "INVALID_TOKEN"]);
    }
  });
});

describe("an address that an invitation's mail has proved", () => {
  it("is confirmed at once for an account that is created with the token", async () => {
    const email = address();
    const token = await invited(email);
    const answer = await register(email.toUpperCase(), token);
    expect(answer.data).toMatchObject({ emailVerified: true });
    expect(await isVerified(answer)).toBe(true);
    // SAFETY: the answer of a registration.
    const { user, accessToken } = answer.data as { user: { id: string }; accessToken: string };
    expect(await pendingMailsOf(user.id)).toEqual([]);
    expect(await mailsTo(email, "verify-email")).toEqual([]);
    const joined = await call("/invitations/accept", { body: { token }, headers: bearer(accessToken) });
    expect(workspaceOf(joined)).toMatchObject({ id, role: "member" });
  });

  it("is the invited one only: another address, or another token, requires the confirmation mail", async () => {
    const email = address();
    const token = await invited(email);
    const expired = await invited(address());
    await onSql(id, (sql) => sql.exec("UPDATE invitations SET expires_at = 1 WHERE email <> ?", email).toArray());
    for (const [other, bad] of [
      [address(), token],
      [address(), expired],
      [address(), `vt_${id.slice(3)}${"A".repeat(43)}`],
      [address(), "nonsense"],
    ] as const) {
      const answer = await register(other, bad);
      expect(Object.keys(signedIn(answer))).not.toContain("emailVerified");
      expect(await isVerified(answer)).toBe(false);
      expect(await pendingMailsOf(signedIn(answer).user.id)).toHaveLength(1);
    }
  });

  it("gives no access to an existing account", async () => {
    const { email } = await newUser({ isVerified: false });
    const token = await invited(email);
    expect(refusal(await register(email, token))).toEqual([409, "EMAIL_ALREADY_EXISTS"]);
    expect((await login(email)).status).toBe(200);
  });

  it("is confirmed with the acceptance by its account, if the request says so", async () => {
    const user = await newUser({ isVerified: false });
    const token = await invited(user.email);
    expect(refusal(await accept(user, token))).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    const joined = await by(user, "/invitations/accept", { body: { token, confirmAddress: true } });
    expect(workspaceOf(joined)).toMatchObject({ id, role: "member" });
    expect((await me(user.accessToken)).data).toMatchObject({ user: { emailVerified: true } });
    const { data } = await by(user, "/auth/me/activity");
    expect(data).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ action: "email.verify" })]),
    });
  });

  it("is not confirmed for another account, nor by that account's token", async () => {
    const stranger = await newUser({ isVerified: false });
    const token = await invited(address());
    const confirming = (bad: string) =>
      by(stranger, "/invitations/accept", { body: { token: bad, confirmAddress: true } });
    expect(refusal(await confirming(token))).toEqual([403, "FORBIDDEN"]);
    expect(refusal(await confirming(`vt_${id.slice(3)}${"A".repeat(43)}`))).toEqual([400, "INVALID_TOKEN"]);
    await onSql(id, (sql) => sql.exec("UPDATE invitations SET expires_at = 1").toArray());
    expect(refusal(await confirming(token))).toEqual([400, "TOKEN_EXPIRED"]);
    expect((await me(stranger.accessToken)).data).toMatchObject({ user: { emailVerified: false } });
  });
});
