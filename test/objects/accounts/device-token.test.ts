import { evictDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mintDeviceToken } from "../../../src/accounts/login-throttle.ts";
import { newIp } from "../client-ips.ts";
import { emailStub, mailedToken } from "./mail-support.ts";
import { bearer, call, login, PASSWORD, registered, settings, signedIn } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const address = (): string => `${crypto.randomUUID()}@example.com`;

const from = (ip: string, email: string, password: string, deviceToken?: string) =>
  call("/auth/login", {
    body: { email, password, ...(deviceToken === undefined ? {} : { deviceToken }) },
    headers: { "CF-Connecting-IP": ip },
  });

/** An attacker's requests: five failed logins from each of 21 client IPs. */
async function attack(email: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let network = 0; network < 21; network++) {
    const ip = newIp();
    for (let i = 0; i < 5; i++) statuses.push((await from(ip, email, "a wrong password")).status);
  }
  return statuses;
}

describe("B10: a device that has signed in before", () => {
  it("B10: signs in after 105 failed logins from 21 client IPs; a device without a token does not", async () => {
    const email = address();
    const { deviceToken } = await registered(email);
    const statuses = await attack(email);
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.slice(100)).toEqual([429, 429, 429, 429, 429]);
    await evictDurableObject(emailStub(email));
    const ip = newIp();
    const owner = await from(ip, email, PASSWORD, deviceToken);
    expect([owner.status, owner.code]).toEqual([200, null]);
    // The attacker's failures still count.
    const without = await from(ip, email, PASSWORD);
    expect([without.status, without.code]).toEqual([429, "RATE_LIMITED"]);
    // Each sign-in issues a device token; earlier ones stay valid.
    const next = signedIn(owner).deviceToken;
    expect(next).not.toBe(deviceToken);
    for (const token of [next, deviceToken]) expect((await from(newIp(), email, PASSWORD, token)).status).toBe(200);
  });

  it("B10: has a separate counter, which does not affect others", async () => {
    const email = address();
    const { deviceToken } = await registered(email);
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    for (let i = 0; i < 10; i++) {
      // From any client IP: the device counts, not the network.
      expect((await from(newIp(), email, "a wrong password", deviceToken)).status).toBe(401);
    }
    const locked = await from(newIp(), email, PASSWORD, deviceToken);
    expect([locked.status, locked.headers.get("Retry-After")]).toEqual([429, "30"]);
    expect((await from(newIp(), email, PASSWORD)).status).toBe(200);
    now.mockRestore();
  });

  it("B10: with parallel attempts gets no more attempts than with sequential ones", async () => {
    const email = address();
    const { deviceToken } = await registered(email);
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => from(newIp(), email, "a wrong password", deviceToken)),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  it("B10: cannot sign in by its token alone, at login or as a bearer token", async () => {
    const email = address();
    const { deviceToken, accessToken } = await registered(email);
    expect((await from(newIp(), email, "a wrong password", deviceToken)).code).toBe("INVALID_CREDENTIALS");
    expect((await call("/auth/me", { headers: bearer(deviceToken) })).code).toBe("INVALID_ACCESS_TOKEN");
    expect((await call("/auth/refresh", { body: { refreshToken: deviceToken } })).code).toBe("INVALID_REFRESH_TOKEN");
    expect((await call("/auth/me", { headers: bearer(accessToken) })).status).toBe(200);
  });

  it("B10: with an expired, forged or foreign token counts like one without a token", async () => {
    const email = address();
    const { user, deviceToken, accessToken } = await registered(email);
    const other = await registered(address());
    await attack(email);
    const { REFRESH_PEPPER } = settings;
    const elsewhere = mintDeviceToken({ userId: other.user.id, email, epoch: 0 }, REFRESH_PEPPER, Date.now());
    const forged = mintDeviceToken({ userId: user.id, email, epoch: 0 }, "x".repeat(32), Date.now());
    for (const token of [other.deviceToken, elsewhere, forged, "", "dt_x_y", "x".repeat(100_000)]) {
      expect((await from(newIp(), email, PASSWORD, token)).status).toBe(429);
    }
    // A new password ends earlier device tokens.
    const body = { currentPassword: PASSWORD, newPassword: "another good phrase" };
    const stub = await from(newIp(), email, PASSWORD, deviceToken);
    expect(stub.status).toBe(200);
    await call("/auth/forgot-password", { body: { email } });
    const token = await mailedToken(email, "reset-password");
    expect((await call("/auth/reset-password", { body: { token, password: body.newPassword } })).status).toBe(200);
    expect((await call("/auth/me", { headers: bearer(accessToken) })).code).toBe("SESSION_REVOKED");
    await attack(email);
    expect((await from(newIp(), email, body.newPassword, deviceToken)).status).toBe(429);
  });

  it("B10: gets a token by a mailed link, too, which works while logins are locked", async () => {
    const email = address();
    await registered(email);
    await login(email);
    await attack(email);
    await call("/auth/magic-link", { body: { email } });
    const body = { token: await mailedToken(email, "magic-link") };
    const answer = await call("/auth/magic-link/verify", { body });
    const { deviceToken } = answer.data as { deviceToken: string };
    expect(deviceToken).toMatch(/^dt_/);
    // The first proof of the address purged the earlier password.
    expect((await from(newIp(), email, PASSWORD, deviceToken)).status).toBe(401);
  });
});
