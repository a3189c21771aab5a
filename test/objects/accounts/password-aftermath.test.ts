import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { mailedToken } from "./mail-support.ts";
import { bearer, call, callWith, login, PASSWORD, registered } from "./support.ts";

const NEW_PASSWORD = "another password";

/** A magic link from before the address had an account: its token is in D1, and in no user object. */
async function earlyLink(email: string): Promise<string> {
  await call("/auth/magic-link", { body: { email } });
  return mailedToken(email, "magic-link");
}

async function resetToken(email: string): Promise<string> {
  await call("/auth/forgot-password", { body: { email } });
  return mailedToken(email, "reset-password");
}

const reset = (token: string) => call("/auth/reset-password", { body: { token, password: NEW_PASSWORD } });
const useLink = (token: string) => call("/auth/magic-link/verify", { body: { token } });

describe("a new password revokes a link mailed before the address had an account", () => {
  it("by a change", async () => {
    const email = "early-change@example.com";
    const early = await earlyLink(email);
    const { accessToken } = await registered(email);
    const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    const changed = await call("/auth/password", { method: "PUT", headers: bearer(accessToken), body });
    expect(changed.status).toBe(200);
    expect((await useLink(early)).code).toBe("INVALID_TOKEN");
  });

  it("by a reset", async () => {
    const email = "early-reset@example.com";
    const early = await earlyLink(email);
    await registered(email);
    expect((await reset(await resetToken(email))).status).toBe(200);
    expect((await useLink(early)).code).toBe("INVALID_TOKEN");
  });
});

it("a reset succeeds even if failed logins cannot be cleared", async () => {
  const email = "unforgiven@example.com";
  await registered(email);
  const token = await resetToken(email);
  const overloaded = Object.assign(new Error("overloaded"), { overloaded: true });
  const stubOf = (id: DurableObjectId) => {
    const real = env.ADDRESSES.get(id);
    const check: typeof real.check = (request, preset) => real.check(request, preset);
    return { check, clearLoginFailures: () => Promise.reject(overloaded) };
  };
  const ADDRESSES = { idFromName: (name: string) => env.ADDRESSES.idFromName(name), get: stubOf };
  const answer = await callWith({ ADDRESSES }, "/auth/reset-password", { body: { token, password: NEW_PASSWORD } });
  expect([answer.status, answer.data]).toEqual([200, { reset: true }]);
  expect((await login(email, NEW_PASSWORD)).status).toBe(200);
});
