import {
  createExecutionContext,
  evictDurableObject,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mintAccessToken } from "../../../src/accounts/access-token.ts";
import { success } from "../../../src/http/envelope.ts";
import { createApp } from "../../../src/http/pipeline.ts";
import { resource } from "../../../src/http/resource.ts";
import { newId } from "../../../src/ids.ts";
import { authenticateUser, type UserGuardOptions, userGuard } from "../../../src/routes/guards/user.ts";
import { newIp } from "../client-ips.ts";
import { type Answer, answerOf, bearer, claimsOf, registered, requestOf, settings, userStub } from "./support.ts";

/** Routes as other resources define them: counted by the user, counted elsewhere, and the default call. */
const routes = resource();
const guarded = (path: string, count: UserGuardOptions["count"]) =>
  routes.route(
    {
      method: "GET",
      path,
      operation: "test.guarded",
      tag: "Test",
      summary: "Test",
      security: "accessToken",
      status: 200,
      response: z.object({ userId: z.string(), sessionId: z.string() }),
      errors: [],
    },
    [userGuard({ count })],
    (c) => success(c.get("user"), c.get("requestId")),
  );
guarded("/counted", "user");
guarded("/uncounted", "none");
routes.route(
  {
    method: "GET",
    path: "/plain",
    operation: "test.plain",
    tag: "Test",
    summary: "Test",
    security: "either",
    status: 200,
    response: z.object({ userId: z.string(), sessionId: z.string() }),
    errors: [],
  },
  [],
  async (c) => {
    const { userId, session } = await authenticateUser(c);
    return success({ userId, sessionId: session?.id }, c.get("requestId"));
  },
);
const app = createApp({ resources: [routes], countUnrouted: async () => undefined, fallback: async () => null });

const IP = newIp();

async function get(path: string, authorization?: string, ip = IP, secrets = {}): Promise<Answer> {
  const headers = { "CF-Connecting-IP": ip, ...(authorization === undefined ? {} : { Authorization: authorization }) };
  const ctx = createExecutionContext();
  const response = await app.fetch(requestOf(path, { headers }), { ...env, ...secrets }, ctx);
  await waitOnExecutionContext(ctx);
  return answerOf(response);
}

const PATHS = ["/counted", "/uncounted", "/plain"];

describe("userGuard", () => {
  it("admits a valid session and sets its user; the scheme is case-insensitive", async () => {
    const { accessToken } = await registered("guard@example.com");
    const claims = await claimsOf(accessToken);
    for (const path of PATHS) {
      for (const scheme of ["Bearer", "bearer", "BEARER "]) {
        const answer = await get(path, `${scheme} ${accessToken}`);
        expect([answer.status, answer.data]).toEqual([200, claims]);
      }
    }
  });

  it('counts the user only with `count: "user"`', async () => {
    const { accessToken } = await registered("guard-count@example.com");
    const remaining = async (path: string): Promise<string | null> =>
      (await get(path, `Bearer ${accessToken}`)).headers.get("X-RateLimit-Remaining");
    expect(await remaining("/counted")).toBe("999");
    expect(await remaining("/uncounted")).toBeNull();
    expect(await remaining("/plain")).toBeNull();
    expect(await remaining("/counted")).toBe("998");
  });

  it("refuses a user whose limit is used up, with Retry-After", async () => {
    const { user, accessToken } = await registered("guard-full@example.com");
    const { sessionId } = await claimsOf(accessToken);
    await Promise.all(Array.from({ length: 1000 }, () => userStub(user.id).authenticate(sessionId, 1)));
    const answer = await get("/counted", `Bearer ${accessToken}`);
    expect([answer.status, answer.code]).toEqual([429, "RATE_LIMITED"]);
    expect(answer.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await get("/uncounted", `Bearer ${accessToken}`)).status).toBe(200);
  });

  it.each(PATHS)(
    "%s refuses every other request with the code of its fault, counted once by client IP",
    async (path) => {
      const { accessToken, refreshToken, user } = await registered(`guard${path.slice(1)}@example.com`);
      const claims = await claimsOf(accessToken);
      const hour = 3_600_000;
      const expired = await mintAccessToken(claims, settings, Date.now() - hour);
      const foreign = await mintAccessToken(
        claims,
        { BASE_URL: settings.BASE_URL, JWT_SECRET: "x".repeat(32) },
        Date.now(),
      );
      const otherAudience = await mintAccessToken(claims, { ...settings, BASE_URL: "https://other.test" }, Date.now());
      const noSession = await mintAccessToken({ ...claims, sessionId: newId("fam") }, settings, Date.now());
      const noUser = await mintAccessToken({ ...claims, userId: newId("usr") }, settings, Date.now());
      const none = `${btoa('{"alg":"none","typ":"at+jwt"}')}.${accessToken.split(".")[1]}.`;
      const cases = [
        [undefined, "UNAUTHORIZED"],
        ["", "UNAUTHORIZED"],
        ["Bearer", "UNAUTHORIZED"],
        ["Basic dXNlcjpwYXNz", "UNAUTHORIZED"],
        [accessToken, "UNAUTHORIZED"],
        ["Bearer nonsense", "INVALID_ACCESS_TOKEN"],
        [`Bearer ${accessToken} ${accessToken}`, "INVALID_ACCESS_TOKEN"],
        [`Bearer ${refreshToken}`, "INVALID_ACCESS_TOKEN"],
        ["Bearer sk_0123456789abcdefghijklmnopqrstuvwxyz0123456789AB", "INVALID_ACCESS_TOKEN"],
        [`Bearer ${none}`, "INVALID_ACCESS_TOKEN"],
        [`Bearer ${foreign}`, "INVALID_ACCESS_TOKEN"],
        [`Bearer ${otherAudience}`, "INVALID_ACCESS_TOKEN"],
        [`Bearer ${expired}`, "ACCESS_TOKEN_EXPIRED"],
        [`Bearer ${noSession}`, "SESSION_REVOKED"],
        [`Bearer ${noUser}`, "SESSION_REVOKED"],
      ] as const;
      const ip = newIp();
      let remaining = 1000;
      for (const [authorization, code] of cases) {
        const answer = await get(path, authorization, ip);
        expect([authorization, answer.status, answer.code]).toEqual([authorization, 401, code]);
        expect(answer.headers.get("WWW-Authenticate")).toMatch(/^Bearer /);
        expect(answer.headers.get("X-RateLimit-Remaining")).toBe(String(--remaining));
        if (authorization?.startsWith("Bearer ")) expect(answer.text).not.toContain(authorization.slice(7));
      }
      const counted = await runInDurableObject(userStub(user.id), (_, { storage }) =>
        storage.sql.exec("SELECT 1 FROM rate_seconds").toArray(),
      );
      expect(counted).toEqual([]);
    },
  );

  it("refuses a revoked session from the next request on, also after eviction, and no other session", async () => {
    const { accessToken, user } = await registered("guard-revoked@example.com");
    const { sessionId } = await claimsOf(accessToken);
    const keptId = newId("fam");
    await userStub(user.id).createSession({ id: keptId, epoch: 0, method: "password", userAgent: null, ip: "::" });
    const kept = await mintAccessToken({ userId: user.id, sessionId: keptId }, settings, Date.now());
    expect((await get("/uncounted", `Bearer ${accessToken}`)).status).toBe(200);
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      storage.sql.exec("UPDATE families SET revoked_at = 1, revoked_reason = 'logout' WHERE id = ?", sessionId);
    });
    for (const evict of [false, true]) {
      if (evict) await evictDurableObject(userStub(user.id));
      for (const path of PATHS) {
        const answer = await get(path, bearer(accessToken).Authorization);
        expect([answer.status, answer.code]).toEqual([401, "SESSION_REVOKED"]);
        expect((await get(path, `Bearer ${kept}`)).status).toBe(200);
      }
    }
    await runInDurableObject(userStub(user.id), (_, { storage }) => {
      storage.sql.exec("UPDATE account SET epoch = epoch + 1");
    });
    expect((await get("/uncounted", `Bearer ${kept}`)).code).toBe("SESSION_REVOKED");
  });

  it("accepts tokens of the previous secret as long as it is set", async () => {
    const { accessToken } = await registered("guard-rotated@example.com");
    const current = { JWT_SECRET: "a-new-secret-a-new-secret-a-new-1" };
    const both = { ...current, JWT_SECRET_PREVIOUS: settings.JWT_SECRET };
    expect((await get("/uncounted", `Bearer ${accessToken}`, undefined, both)).status).toBe(200);
    expect((await get("/uncounted", `Bearer ${accessToken}`, undefined, current)).code).toBe("INVALID_ACCESS_TOKEN");
  });
});
