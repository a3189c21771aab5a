import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ArrivalPorts, linkIdentity } from "../../../src/accounts/oauth/identities.ts";
import { newId } from "../../../src/ids.ts";
import {
  answerOf,
  bearer,
  call,
  claimsOf,
  login,
  me,
  registered,
  type SignedIn,
  userStub,
  workspaceStub,
} from "../accounts/support.ts";
import { arrived, realPorts, sessionOf, visitor } from "./support.ts";

const idShape = z.object({ id: z.string() });
const keyShape = z.object({ secret: z.string() });
const tokensShape = z.object({ accessToken: z.string(), refreshToken: z.string() });

interface Attack {
  account: SignedIn;
  projectId: string;
  secret: string;
}

/** Registers another person's address as an attacker, and returns what the attacker can keep: a session and a key. */
async function attackerRegisters(email: string): Promise<Attack> {
  const account = await registered(email);
  const headers = { ...bearer(account.accessToken), "X-Workspace-Id": account.personalWorkspace.id };
  const project = idShape.parse((await call("/projects", { headers, body: { name: "trap" } })).data);
  const body = { name: "trap", scopes: ["logs:write", "logs:read"] };
  const key = keyShape.parse((await call(`/projects/${project.id}/keys`, { headers, body })).data);
  return { account, projectId: project.id, secret: key.secret };
}

/** All credentials of the attacker, with the status and code that each gets. */
async function attackerTries({ account, projectId, secret }: Attack): Promise<string[]> {
  const { email } = account.user;
  const answers = [
    await me(account.accessToken),
    await call("/auth/methods", { headers: bearer(account.accessToken) }),
    await call("/auth/refresh", { body: { refreshToken: account.refreshToken } }),
    await login(email),
    await call("/logger/query", { headers: bearer(secret), body: {} }),
    await call(`/logger/${projectId}/log`, { headers: bearer(secret), body: { message: "still here" } }),
  ];
  return answers.map(({ status, code }) => `${status} ${code}`);
}

const SHUT_OUT = [
  "401 SESSION_REVOKED",
  "401 SESSION_REVOKED",
  "401 INVALID_REFRESH_TOKEN",
  "401 INVALID_CREDENTIALS",
  "401 API_KEY_REVOKED",
  "401 API_KEY_REVOKED",
];

describe("O5: an address that an attacker registered first", () => {
  it.each([false, true])(
    "every credential of the attacker is 401 from the victim's sign-in on (eviction: %s)",
    async (evict) => {
      const victim = visitor();
      const attack = await attackerRegisters(victim.email ?? "");
      const { userId } = await claimsOf(attack.account.accessToken);
      expect((await me(attack.account.accessToken)).status).toBe(200);
      expect((await call("/logger/query", { headers: bearer(attack.secret), body: {} })).status).toBe(200);
      if (evict) await evictDurableObject(userStub(userId));
      const { entry, epoch, isNewUser } = await arrived(victim);
      expect([entry.userId, isNewUser]).toEqual([userId, false]);
      if (evict) await evictDurableObject(userStub(userId));
      expect(await attackerTries(attack)).toEqual(SHUT_OUT);
      const sessionId = await sessionOf(userId, epoch);
      expect(await userStub(userId).methods(sessionId)).toEqual({ hasPassword: false, providers: ["provider_a"] });
      expect(await userStub(userId).me(sessionId)).toMatchObject({ email: victim.email, emailVerified: true });
    },
  );

  it("the purge is finished before the link is claimed, so no crash after it leaves the attacker a credential", async () => {
    const victim = visitor();
    const attack = await attackerRegisters(victim.email ?? "");
    const real = realPorts();
    let tried: string[] = [];
    const watched: ArrivalPorts = {
      ...real,
      async claimIdentity(identity, holder) {
        tried = await attackerTries(attack);
        return real.claimIdentity(identity, holder);
      },
    };
    await arrived(victim, watched);
    expect(tried).toEqual(SHUT_OUT);
  });

  it("a sign-in of the attacker that began before the purge opens no session after it", async () => {
    const victim = visitor();
    await attackerRegisters(victim.email ?? "");
    const userId = await findUser(victim.email ?? "");
    // The password is verified, then the victim signs in, then the attacker's request continues.
    const before = await userStub(userId).credentials();
    await arrived(victim);
    const late = {
      id: newId("fam"),
      epoch: before?.epoch ?? -1,
      method: "password",
      userAgent: null,
      ip: "x",
    } as const;
    expect(await userStub(userId).createSession(late)).toEqual({ ok: false, reason: "stale" });
  });

  it("a refresh of the attacker that races the purge leaves no valid session", async () => {
    let came = 0;
    for (let round = 0; round < 10; round++) {
      const victim = visitor();
      const attack = await attackerRegisters(victim.email ?? "");
      const [refreshed] = await Promise.all([
        call("/auth/refresh", { body: { refreshToken: attack.account.refreshToken } }),
        arrived(victim),
      ]);
      if (refreshed.data === null) continue;
      came++;
      const tokens = tokensShape.parse(refreshed.data);
      expect((await me(tokens.accessToken)).code).toBe("SESSION_REVOKED");
      const again = await call("/auth/refresh", { body: { refreshToken: tokens.refreshToken } });
      expect(again.status).toBe(401);
    }
    // In some rounds the refresh came before the purge. Otherwise they would prove nothing.
    expect(came).toBeGreaterThan(0);
  });

  it("the attacker cannot link a provider before or during the victim's sign-in", async () => {
    const victim = visitor();
    const attack = await attackerRegisters(victim.email ?? "");
    const { userId, sessionId } = await claimsOf(attack.account.accessToken);
    const own = visitor({ provider: "provider_b" });
    const authority = { by: "session", sessionId, checkedEpoch: 0 } as const;
    expect(await linkIdentity(realPorts(), userId, own, authority)).toEqual({ ok: false, reason: "unverified" });
    const real = realPorts();
    let during: unknown = null;
    await arrived(victim, {
      ...real,
      async completeLink(id, link) {
        during = await linkIdentity(realPorts(), userId, own, authority);
        return real.completeLink(id, link);
      },
    });
    expect(during).toEqual({ ok: false, reason: "session ended" });
    expect((await arrived(own)).entry.userId).not.toBe(userId);
  });

  it("a key that is created during the purge does not survive it", async () => {
    const victim = visitor();
    const attack = await attackerRegisters(victim.email ?? "");
    const headers = {
      ...bearer(attack.account.accessToken),
      "X-Workspace-Id": attack.account.personalWorkspace.id,
    };
    const body = { name: "late", scopes: ["logs:read"] };
    const [made] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, () => call(`/projects/${attack.projectId}/keys`, { headers, body }))),
      arrived(victim),
    ]);
    for (const { data } of made) {
      if (data === null) continue;
      const { secret } = keyShape.parse(data);
      expect((await call("/logger/query", { headers: bearer(secret), body: {} })).status).toBe(401);
    }
  });

  it("a key whose request was admitted before the purge and continued after it is not valid", async () => {
    const victim = visitor();
    const attack = await attackerRegisters(victim.email ?? "");
    const { accessToken, personalWorkspace } = attack.account;
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const text = new TextEncoder().encode(JSON.stringify({ name: "slow", scopes: ["logs:read"] }));
    const headers = {
      ...bearer(accessToken),
      "X-Workspace-Id": personalWorkspace.id,
      "Content-Type": "application/json",
    };
    const url = `http://taffrail.test/projects/${attack.projectId}/keys`;
    const slow = exports.default.fetch(new Request(url, { method: "POST", headers, body: body.readable }));
    await writer.write(text.slice(0, 5));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await arrived(victim);
    await writer.write(text.slice(5));
    await writer.close();
    expect((await answerOf(await slow)).code).toBe("SESSION_REVOKED");
    const keys = await runInDurableObject(workspaceStub(personalWorkspace.id), (_, { storage }) =>
      storage.sql.exec("SELECT 1 FROM keys WHERE revoked_at IS NULL").toArray(),
    );
    expect(keys).toEqual([]);
  });

  it("O4: an account with a verified address keeps its data", async () => {
    const owner = visitor();
    const first = await arrived(owner);
    const sessionId = await sessionOf(first.entry.userId, first.epoch);
    const second = await arrived({ ...visitor({ provider: "provider_b" }), email: owner.email });
    expect([second.entry.userId, second.epoch]).toEqual([first.entry.userId, first.epoch]);
    expect(await userStub(first.entry.userId).me(sessionId)).not.toBeNull();
  });

  it("two parallel sign-ins of the victim purge once, and both succeed", async () => {
    const victim = visitor();
    const attack = await attackerRegisters(victim.email ?? "");
    const arrivals = await Promise.all([
      arrived(victim),
      arrived({ ...visitor({ provider: "provider_b" }), email: victim.email }),
    ]);
    for (const { entry, epoch } of arrivals) await sessionOf(entry.userId, epoch);
    expect(await attackerTries(attack)).toEqual(SHUT_OUT);
  });
});

async function findUser(email: string): Promise<string> {
  const { findByEmail } = realPorts();
  return (await findByEmail(email))?.userId ?? "";
}

it("O5: a provider sign-in returns 503 and opens no session while a workspace does not answer", async () => {
  const email = "stuck-provider@example.com";
  const attack = await attackerRegisters(email);
  const workspace = workspaceStub(attack.account.personalWorkspace.id);
  const rename = (from: string, to: string) =>
    runInDurableObject(workspace, (_, { storage }) => {
      storage.sql.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
    });
  await rename("keys", "keys_gone");
  const owner = visitor({ email });
  const refused = await arrived(owner).catch((error: unknown) => error);
  expect(refused).toMatchObject({ refusal: { code: "SERVICE_UNAVAILABLE" } });
  await rename("keys_gone", "keys");
  expect((await arrived(owner)).entry.userId).toBe(attack.account.user.id);
  expect(await attackerTries(attack)).toEqual(SHUT_OUT);
});
