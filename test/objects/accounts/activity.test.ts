import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  ACTIVITY_JOINED_MS,
  ACTIVITY_KEPT_MS,
  ACTIVITY_SCHEMA,
  MAX_ACTIVITY_ITEMS,
  recordActivity,
} from "../../../src/accounts/activity.ts";
import { USER_SCHEMA } from "../../../src/accounts/schema.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { newIp } from "../client-ips.ts";
import { takeBack } from "../older-version.ts";
import { bearer, call, claimsOf, dump, login, PASSWORD, registered, signedIn, userStub } from "./support.ts";

const pageShape = z.strictObject({
  items: z.array(
    z.strictObject({
      id: z.string().regex(/^act_\d+$/),
      at: z.iso.datetime(),
      action: z.string(),
      sessionId: z.string().nullable(),
      address: z.string().nullable(),
      userAgent: z.string().nullable(),
      requestId: z.string(),
      details: z.record(z.string(), z.union([z.string(), z.number()])),
    }),
  ),
  nextCursor: z.string().nullable(),
});

const profileShape = z.object({
  user: z.strictObject({ id: z.string(), email: z.string(), name: z.string().optional(), emailVerified: z.boolean() }),
});

async function activityOf(accessToken: string, limit = 200) {
  const items: z.output<typeof pageShape>["items"] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path = `/auth/me/activity?limit=${limit}${cursor ? `&cursor=${cursor}` : ""}`;
    const answer = await call(path, { headers: bearer(accessToken) });
    expect([answer.status, answer.code]).toEqual([200, null]);
    const page = pageShape.parse(answer.data);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}

const email = () => `${crypto.randomUUID()}@example.com`;

describe("B17: an account's own activity", () => {
  it("B17: sign-ins, ended sessions, a reused token and a changed password, newest first", async () => {
    const address = email();
    const { accessToken, refreshToken } = await registered(address);
    const ip = newIp();
    const headers = { "User-Agent": "Test/1", "CF-Connecting-IP": ip, "X-Request-Id": "activity-1" };
    const body = { email: address, password: PASSWORD };
    const second = signedIn(await call("/auth/login", { body, headers }));
    const third = signedIn(await login(address));
    await login(address, "wrong password");
    await call("/auth/refresh", { body: { refreshToken } });
    await call("/auth/refresh", { body: { refreshToken }, headers: { "User-Agent": "Thief/1" } });
    await call("/auth/logout", { body: { refreshToken: third.refreshToken } });
    const other = signedIn(await login(address));
    await call(`/auth/sessions/${(await claimsOf(other.accessToken)).sessionId}`, {
      method: "DELETE",
      headers: bearer(second.accessToken),
    });
    await login(address);
    await call("/auth/sessions", { method: "DELETE", headers: bearer(second.accessToken) });
    const change = { currentPassword: PASSWORD, newPassword: "another long password" };
    await call("/auth/password", { method: "PUT", body: change, headers: bearer(second.accessToken) });

    const rename = (name: unknown) =>
      call("/auth/me", { method: "PATCH", body: { name }, headers: bearer(second.accessToken) });
    const { user } = profileShape.parse((await rename(" Ada ")).data);
    expect(user).toMatchObject({ name: "Ada", email: address, emailVerified: false });
    expect((await call("/auth/me", { headers: bearer(second.accessToken) })).data).toEqual({ user });
    // Changes nothing, so the activity has no item.
    await rename("Ada");
    const moveBack = (ms: number) =>
      runInDurableObject(userStub(user.id), (_, { storage: { sql } }) => {
        sql.exec("UPDATE activity SET at = at - ? WHERE action = 'account.rename'", ms);
      });
    await moveBack(ACTIVITY_JOINED_MS);
    await rename("Eve");
    expect(profileShape.parse((await rename(null)).data).user.name).toBeUndefined();
    for (const name of [7, "a\nb", "x".repeat(101), undefined])
      expect((await rename(name)).code).toBe("VALIDATION_ERROR");
    expect((await call("/auth/me", { method: "PATCH", body: { name: "Eve" } })).code).toBe("UNAUTHORIZED");
    expect(
      (await call("/auth/me", { method: "PATCH", body: { name: "Eve" }, headers: bearer(other.accessToken) })).code,
    ).toBe("SESSION_REVOKED");

    const items = await activityOf(second.accessToken, 3);
    const sessionOf = async (token: string) => (await claimsOf(token)).sessionId;
    expect(items.map(({ action, sessionId, details }) => [action, sessionId, details]).reverse()).toEqual([
      ["account.create", null, {}],
      ["session.start", await sessionOf(accessToken), { method: "password" }],
      ["session.start", await sessionOf(second.accessToken), { method: "password" }],
      ["session.start", await sessionOf(third.accessToken), { method: "password" }],
      ["session.reuse", await sessionOf(accessToken), {}],
      ["session.end", await sessionOf(third.accessToken), {}],
      ["session.start", await sessionOf(other.accessToken), { method: "password" }],
      ["session.end", await sessionOf(other.accessToken), {}],
      ["session.start", expect.any(String), { method: "password" }],
      ["session.end-others", await sessionOf(second.accessToken), { ended: 1 }],
      ["password.change", await sessionOf(second.accessToken), {}],
      ["account.rename", await sessionOf(second.accessToken), { name: "Ada" }],
      // Two changes within an hour are one item, with the last.
      ["account.rename", await sessionOf(second.accessToken), {}],
    ]);
    expect(items.at(-3)).toMatchObject({ address: ip, userAgent: "Test/1", requestId: "activity-1" });
    expect(items.find(({ action }) => action === "session.reuse")?.userAgent).toBe("Thief/1");
  });

  it("B17: requires a valid session, and counts under AUTH", async () => {
    const { accessToken, refreshToken } = await registered(email());
    expect((await call("/auth/me/activity")).code).toBe("UNAUTHORIZED");
    expect((await call("/auth/me/activity?cursor=x", { headers: bearer(accessToken) })).code).toBe("VALIDATION_ERROR");
    await call("/auth/logout", { body: { refreshToken } });
    const answer = await call("/auth/me/activity", { headers: bearer(accessToken) });
    expect([answer.code, answer.headers.has("X-RateLimit-Limit")]).toEqual(["SESSION_REVOKED", true]);
  });

  it("B17: a sign-in with a repeated call is listed once", async () => {
    const { user, accessToken } = await registered(email());
    const { sessionId } = await claimsOf(accessToken);
    const family = { id: sessionId, epoch: 0, method: "password", userAgent: null, ip: "192.0.2.1" } as const;
    await userStub(user.id).createSession(family);
    const starts = (await activityOf(accessToken)).filter(({ action }) => action === "session.start");
    expect(starts).toHaveLength(1);
  });

  it("B17: keeps the newest 1,000 of the last 365 days, and is deleted with the account", async () => {
    const { user, accessToken } = await registered(email());
    await runInDurableObject(userStub(user.id), (_, { storage: { sql } }) => {
      for (let i = 0; i < MAX_ACTIVITY_ITEMS + 50; i++)
        recordActivity(sql, { action: "email.verify" }, newAlarmOrigin(), Date.now());
    });
    const items = await activityOf(accessToken);
    expect([items.length, items.some(({ action }) => action === "session.start")]).toEqual([MAX_ACTIVITY_ITEMS, false]);
    await runInDurableObject(userStub(user.id), (_, { storage: { sql } }) => {
      sql.exec("UPDATE activity SET at = at - ?", ACTIVITY_KEPT_MS);
    });
    expect(await activityOf(accessToken)).toEqual([]);
    await runInDurableObject(userStub(user.id), (_, { storage: { sql } }) => {
      recordActivity(sql, { action: "email.verify" }, newAlarmOrigin(), Date.now());
      expect(sql.exec("SELECT COUNT(*) AS n FROM activity").one().n).toBe(1);
    });
    const body = { password: PASSWORD };
    expect((await call("/auth/me", { method: "DELETE", body, headers: bearer(accessToken) })).code).toBe(null);
    expect(await runInDurableObject(userStub(user.id), (_, { storage }) => dump(storage.sql))).toEqual({});
  });

  it("B17: an account of the version before gets the table", async () => {
    const address = email();
    const { user } = await registered(address);
    await runInDurableObject(userStub(user.id), (_, { storage: { sql } }) => {
      takeBack(sql, USER_SCHEMA, ACTIVITY_SCHEMA, ["account", "families"]);
    });
    await evictDurableObject(userStub(user.id));
    const { accessToken } = signedIn(await login(address));
    expect((await activityOf(accessToken)).map(({ action }) => action)).toEqual(["session.start"]);
  });
});
