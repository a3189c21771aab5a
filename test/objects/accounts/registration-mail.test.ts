import { describe, expect, it, vi } from "vitest";
import { deliver, mailedToken, mailsTo } from "./mail-support.ts";
import { bearer, call, PASSWORD, registered } from "./support.ts";

const NEW_PASSWORD = "another password";

describe("repeated registration and deletion", () => {
  it("mails an address five times an hour, and otherwise answers the same", async () => {
    const email = "bombed@example.com";
    const startedAt = Date.now();
    const clock = vi.spyOn(Date, "now");
    for (const [minute, expected] of [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 4],
      [3, 5],
      [4, 5],
      [59, 5],
      [61, 6],
    ] as const) {
      clock.mockReturnValue(startedAt + minute * 60_000);
      const { user, accessToken } = await registered(email, "Mallory");
      await deliver(user.id);
      const headers = bearer(accessToken);
      const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
      expect((await call("/auth/password", { method: "PUT", headers, body })).status).toBe(200);
      await deliver(user.id);
      const gone = await call("/auth/me", { method: "DELETE", headers, body: { password: NEW_PASSWORD } });
      expect(gone.status).toBe(200);
      const kinds = (await mailsTo(email)).map(({ kind }) => kind);
      expect([minute, kinds]).toEqual([minute, Array(expected).fill("verify-email")]);
    }
    clock.mockRestore();
  });

  it("a registration whose mail was dropped can request another; a resend does not delay a registration's mail", async () => {
    const email = "bombed-owner@example.com";
    for (let i = 0; i < 5; i++) {
      const { accessToken } = await registered(email);
      const headers = bearer(accessToken);
      await call("/auth/me", { method: "DELETE", headers, body: { password: PASSWORD } });
    }
    const { user, accessToken } = await registered(email);
    await deliver(user.id);
    expect(await mailsTo(email)).toEqual([]);
    await call("/auth/verify-email/resend", { method: "POST", headers: bearer(accessToken) });
    const token = await mailedToken(email, "verify-email");
    expect((await call("/auth/verify-email", { body: { token } })).status).toBe(200);
  });
});
