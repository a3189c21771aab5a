import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  type ArrivalPorts,
  linkIdentity,
  newClaim,
  releaseClaim,
  resolveProviderSignIn,
} from "../../../src/accounts/oauth/identities.ts";
import { PROVIDERS, type ProviderProfile } from "../../../src/accounts/oauth/provider.ts";
import { userStub } from "../accounts/support.ts";
import { accountsOf, arrived, identityRows, realPorts, sessionAuthority, sessionOf, visitor } from "./support.ts";

/** The holder of an identity, by the directory and by these users' objects, which must agree. */
async function holders(profile: ProviderProfile, userIds: readonly string[]): Promise<string[]> {
  const held: string[] = [];
  for (const userId of new Set(userIds)) {
    const linked = await runInDurableObject(userStub(userId), (_, { storage }) =>
      storage.sql
        .exec(
          "SELECT 1 FROM links WHERE provider = ? AND subject = ? AND linked_at IS NOT NULL",
          profile.provider,
          profile.subject,
        )
        .toArray(),
    );
    if (linked.length > 0) held.push(userId);
  }
  const find = "SELECT user_id AS id FROM oauth_identities WHERE provider = ? AND subject = ?";
  const listed = await env.DB.prepare(find).bind(profile.provider, profile.subject).first<string>("id");
  expect(held).toEqual([listed]);
  return held;
}

describe("parallel requests for one identity", () => {
  it("O3: parallel first sign-ins make one account, one workspace and one link", async () => {
    const profile = visitor();
    const arrivals = await Promise.all(Array.from({ length: 10 }, () => resolveProviderSignIn(realPorts(), profile)));
    const users = arrivals.map((arrival) => (arrival.ok ? arrival.entry.userId : arrival.reason));
    expect(new Set(users).size).toBe(1);
    expect(arrivals.filter((arrival) => arrival.ok && arrival.isNewUser)).toHaveLength(1);
    expect(await accountsOf(profile.email ?? "")).toEqual([users[0]]);
    await holders(profile, users);
  });

  it("O3: parallel sign-ins with one identity and changing addresses end in one account", async () => {
    const { provider, subject } = visitor();
    const profiles = Array.from({ length: 6 }, () => ({ ...visitor(), provider, subject }));
    const arrivals = await Promise.all(profiles.map((profile) => resolveProviderSignIn(realPorts(), profile)));
    const users = arrivals.map((arrival) => (arrival.ok ? arrival.entry.userId : arrival.reason));
    expect(new Set(users).size).toBe(1);
    for (const { email } of profiles) {
      const ids = await accountsOf(email ?? "");
      expect(ids.every((id) => id === users[0])).toBe(true);
    }
  });

  it("O6: of several users who link it in parallel exactly one gets it", async () => {
    for (let round = 0; round < 5; round++) {
      const profile = visitor({ provider: "provider_b" });
      const users = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { entry, epoch } = await arrived(visitor());
          return { userId: entry.userId, authority: await sessionAuthority(entry.userId, epoch) };
        }),
      );
      const outcomes = await Promise.all(
        users.map(({ userId, authority }) => linkIdentity(realPorts(), userId, profile, authority)),
      );
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
      const winner = users[outcomes.findIndex(({ ok }) => ok)];
      expect(
        await holders(
          profile,
          users.map(({ userId }) => userId),
        ),
      ).toEqual([winner?.userId]);
    }
  });

  it("O6: a link in progress and a sign-in of the same identity end with one holder, in any order", async () => {
    for (let round = 0; round < 10; round++) {
      const { entry, epoch } = await arrived(visitor());
      const authority = await sessionAuthority(entry.userId, epoch);
      const profile = visitor({ provider: "provider_b" });
      const [, arrival] = await Promise.all([
        linkIdentity(realPorts(), entry.userId, profile, authority),
        resolveProviderSignIn(realPorts(), profile),
      ]);
      if (!arrival.ok) throw new Error(arrival.reason);
      await holders(profile, [entry.userId, arrival.entry.userId]);
    }
  });
});

describe("a link that another request disturbs", () => {
  it("between claim and completion is not completed with a deleted claim", async () => {
    const { entry, epoch } = await arrived(visitor());
    const authority = await sessionAuthority(entry.userId, epoch);
    const profile = visitor({ provider: "provider_b" });
    let newcomer = "";
    const real = realPorts();
    const overtaken: ArrivalPorts = {
      ...real,
      async claimIdentity(identity, holder) {
        const held = await real.claimIdentity(identity, holder);
        // At this moment another user signs in with the identity, which no account holds yet.
        newcomer ||= (await arrived(profile)).entry.userId;
        return held;
      },
    };
    const outcome = await linkIdentity(overtaken, entry.userId, profile, authority);
    expect(outcome).toEqual({ ok: false, reason: "another user's" });
    expect(await holders(profile, [entry.userId, newcomer])).toEqual([newcomer]);
  });

  it("deletes only the claim that it found: a newer one of the same user stays", async () => {
    const { entry, epoch } = await arrived(visitor());
    const authority = await sessionAuthority(entry.userId, epoch);
    const profile = visitor({ provider: "provider_b" });
    const real = realPorts();
    const stale = newClaim();
    await real.claimIdentity(profile, { userId: entry.userId, claim: stale });
    await linkIdentity(real, entry.userId, profile, authority);
    await releaseClaim(env.DB, profile, stale);
    expect(await holders(profile, [entry.userId])).toEqual([entry.userId]);
  });
});

describe("unlinking", () => {
  it("O7: of parallel unlinks of the last two methods one succeeds, after an eviction too", async () => {
    for (let round = 0; round < 6; round++) {
      const first = visitor();
      const { entry } = await arrived(first);
      const { epoch } = await arrived({ ...visitor({ provider: "provider_b" }), email: first.email });
      const sessionId = await sessionOf(entry.userId, epoch);
      if (round % 2 === 1) await evictDurableObject(userStub(entry.userId));
      const unlinks = PROVIDERS.map((provider) =>
        userStub(entry.userId).unlinkProvider({ sessionId, checkedEpoch: null }, provider),
      );
      const outcomes = await Promise.all(unlinks);
      expect(outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.reason)).sort()).toEqual(["last method", "ok"]);
      expect((await userStub(entry.userId).methods(sessionId))?.providers).toHaveLength(1);
    }
  });

  it("O7: a password counts as a method, and parallel unlinks of one provider remove it once", async () => {
    const { entry, epoch } = await arrived(visitor());
    const { userId } = entry;
    const sessionId = await sessionOf(userId, epoch);
    await runInDurableObject(userStub(userId), (_, { storage }) => {
      storage.sql.exec("UPDATE account SET password_hash = 'pbkdf2:x'");
    });
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => userStub(userId).unlinkProvider({ sessionId, checkedEpoch: null }, "provider_a")),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await userStub(userId).methods(sessionId)).toEqual({ hasPassword: true, providers: [] });
  });

  it("leaves at worst a claim, which the next sign-in deletes", async () => {
    const first = visitor();
    const { entry } = await arrived(first);
    const second = { ...visitor({ provider: "provider_b" }), email: first.email };
    const { epoch } = await arrived(second);
    const sessionId = await sessionOf(entry.userId, epoch);
    // The process ends before the directory is updated.
    expect((await userStub(entry.userId).unlinkProvider({ sessionId, checkedEpoch: null }, "provider_b")).ok).toBe(
      true,
    );
    expect(await identityRows(entry.userId)).toHaveLength(2);
    const elsewhere = await arrived({ ...second, email: "moved-on@example.com" });
    expect(elsewhere.isNewUser).toBe(true);
    expect(await identityRows(entry.userId)).toEqual([{ provider: "provider_a", subject: first.subject }]);
  });
});

describe("an unprovisioned user object", () => {
  it("holds nothing, links nothing and writes nothing", async () => {
    const stub = userStub("usr_nobodyisthere");
    const link = { provider: "provider_a", subject: "1", claim: "c" } as const;
    expect(await stub.linkedEpoch(link)).toBeNull();
    expect(await stub.beginLink(link, { by: "email", email: "x@example.com" })).toEqual({ ok: false, reason: "gone" });
    expect(await stub.completeLink(link)).toEqual({ ok: false, reason: "lost" });
    expect(await stub.methods("fam_nosuchfamily")).toBeNull();
    const shown = { sessionId: "fam_nosuchfamily", checkedEpoch: null };
    expect(await stub.allowLinking(shown)).toEqual({ ok: false, reason: "session ended" });
    expect(await stub.unlinkProvider(shown, "provider_a")).toEqual({ ok: false, reason: "session ended" });
    const tables = await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '_cf%'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});
