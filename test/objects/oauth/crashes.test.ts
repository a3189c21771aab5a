import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readAccount } from "../../../src/accounts/account.ts";
import { unfinishedPurge } from "../../../src/accounts/deletion.ts";
import type { NewLink } from "../../../src/accounts/links.ts";
import {
  type ArrivalPorts,
  linkIdentity,
  newClaim,
  resolveProviderSignIn,
} from "../../../src/accounts/oauth/identities.ts";
import { startLinking } from "../../../src/accounts/oauth/linking.ts";
import type { ProviderProfile } from "../../../src/accounts/oauth/provider.ts";
import { type RegistrationPorts, register } from "../../../src/accounts/register.ts";
import { newId } from "../../../src/ids.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { registrationPorts } from "../../../src/routes/auth/sign-in.ts";
import { dump, userStub, workspaceStub } from "../accounts/support.ts";
import {
  accountsOf,
  arrived,
  crashing,
  identityRows,
  realPorts,
  sessionAuthority,
  sessionOf,
  visitor,
} from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const WHEN = ["before", "after"] as const;

type Step = "provisionUser" | "provisionWorkspace" | "claimAddress";

/**
 * The ports of a sign-in whose registration is killed at a step; `made` receives the ids of the interrupted
 * registration.
 */
function registrationKilled(step: Step, when: "before" | "after", made: { userId: string; workspaceId: string }[]) {
  const ports = realPorts();
  const dying = async (account: { email: string; name: string | null }, link: NewLink) => {
    const ids = { userId: newId("usr"), workspaceId: newId("ws") };
    made.push(ids);
    const whole: RegistrationPorts = {
      ...registrationPorts({ ...env }, newAlarmOrigin(), link),
      discard: () => Promise.reject(new Error("no process is left to do this")),
    };
    const person = { ...account, id: ids.userId, workspaceId: ids.workspaceId };
    return register(crashing(whole, step, when), { ...person, passwordHash: null, emailVerified: true }, Date.now());
  };
  return { ...ports, register: dying } satisfies ArrivalPorts;
}

const REGISTRATION_STEPS = ["provisionUser", "provisionWorkspace", "claimAddress"] as const;

describe("an OAuth registration that is killed", () => {
  const points = REGISTRATION_STEPS.flatMap((step) => WHEN.map((when) => [when, step] as const));

  it.each(points)("%s %s lets the user sign in at the next attempt, to one account", async (when, step) => {
    const profile = visitor();
    const made: { userId: string; workspaceId: string }[] = [];
    await expect(resolveProviderSignIn(registrationKilled(step, when, made), profile)).rejects.toThrow("killed");
    const next = await arrived(profile);
    const listedBefore = when === "after" && step === "claimAddress";
    expect(next.isNewUser).toBe(!listedBefore);
    expect(await accountsOf(profile.email ?? "")).toEqual([next.entry.userId]);
    await sessionOf(next.entry.userId, next.epoch);
    expect(await identityRows(next.entry.userId)).toEqual([{ provider: "provider_a", subject: profile.subject }]);
    const [first] = made;
    if (!first) throw new Error("it began nothing");
    if (listedBefore) return expect(next.entry.userId).toBe(first.userId);
    // The interrupted registration is undone in time, without effect on the existing account.
    await alarmInTime(first.userId);
    for (const stub of [userStub(first.userId), workspaceStub(first.workspaceId)]) {
      expect(await runInDurableObject(stub, (_, { storage }) => Object.keys(dump(storage.sql)))).toEqual([]);
    }
    expect((await arrived(profile)).entry).toEqual(next.entry);
  });
});

async function alarmInTime(userId: string): Promise<void> {
  const resolveAt = await runInDurableObject(
    userStub(userId),
    (_, { storage }) => readAccount(storage.sql)?.resolveAt ?? 0,
  );
  vi.spyOn(Date, "now").mockReturnValue(resolveAt);
  await runDurableObjectAlarm(userStub(userId));
  vi.restoreAllMocks();
}

const LINK_STEPS = ["beginLink", "claimIdentity", "completeLink"] as const;

/** An account with an unproven address, as a registration by password leaves it. */
async function unverifiedAccount(email: string): Promise<string> {
  const account = {
    id: newId("usr"),
    workspaceId: newId("ws"),
    email,
    name: null,
    passwordHash: "x",
    emailVerified: false,
  };
  const made = await register(registrationPorts({ ...env }, newAlarmOrigin()), account, Date.now());
  if (!made.ok) throw new Error(made.reason);
  return account.id;
}

describe("a link that is killed", () => {
  const points = LINK_STEPS.flatMap((step) => WHEN.map((when) => [when, step] as const));

  it.each(points)("%s %s lets the user sign in at the next attempt", async (when, step) => {
    const profile = visitor();
    const userId = await unverifiedAccount(profile.email ?? "");
    await expect(resolveProviderSignIn(crashing(realPorts(), step, when), profile)).rejects.toThrow("killed");
    const next = await arrived(profile);
    expect([next.entry.userId, next.isNewUser]).toEqual([userId, false]);
    const sessionId = await sessionOf(userId, next.epoch);
    const methods = await userStub(userId).methods(sessionId);
    expect(methods).toEqual({ hasPassword: false, providers: ["provider_a"] });
    await expectPurged(userId);
  });

  it("finishes, at the next sign-in, a purge that was cut off before workspaces revoked their keys", async () => {
    const profile = visitor();
    const { provider, subject, email } = profile;
    const userId = await unverifiedAccount(email ?? "");
    await runInDurableObject(userStub(userId), (_, { storage }) => {
      const link = { provider, subject, claim: newClaim() };
      startLinking(storage.sql, link, { by: "email", email: email ?? "" }, Date.now());
      expect(unfinishedPurge(storage.sql)).not.toBeNull();
    });
    const next = await arrived(profile);
    expect([next.entry.userId, next.isNewUser]).toEqual([userId, false]);
    await expectPurged(userId);
  });

  it.each(points)("%s %s leaves the identity available to other users", async (when, step) => {
    const { entry, epoch } = await arrived(visitor());
    const authority = await sessionAuthority(entry.userId, epoch);
    const profile = visitor({ provider: "provider_b" });
    await expect(linkIdentity(crashing(realPorts(), step, when), entry.userId, profile, authority)).rejects.toThrow();
    const linked = when === "after" && step === "completeLink";
    const next = await arrived(profile);
    expect(next.isNewUser).toBe(!linked);
    expect(next.entry.userId === entry.userId).toBe(linked);
    await expectConsistent(profile, next.entry.userId);
  });
});

async function expectPurged(userId: string): Promise<void> {
  await runInDurableObject(userStub(userId), (_, { storage }) => {
    expect(readAccount(storage.sql)).toMatchObject({ passwordHash: null, emailVerified: true });
    expect(storage.sql.exec("SELECT * FROM unfinished_purge").toArray()).toEqual([]);
  });
}

/** The directory and the objects agree on the owner of an identity. */
async function expectConsistent({ provider, subject }: ProviderProfile, userId: string): Promise<void> {
  expect(await identityRows(userId)).toContainEqual({ provider, subject });
  await runInDurableObject(userStub(userId), (_, { storage }) => {
    const linked = storage.sql.exec("SELECT subject FROM links WHERE provider = ? AND linked_at IS NOT NULL", provider);
    expect(linked.toArray()).toContainEqual({ subject });
  });
}
