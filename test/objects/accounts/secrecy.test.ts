import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { bearer, callWith, PASSWORD, signedIn } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const METHODS = ["debug", "log", "info", "warn", "error"] as const;
const line = z.looseObject({ event: z.string(), outcome: z.string(), requestId: z.string(), status: z.number() });

describe("events of the account routes", () => {
  it("contain operation, outcome and user, and never an address, a password or a token", async () => {
    const written: string[] = [];
    for (const method of METHODS) {
      vi.spyOn(console, method).mockImplementation((...parts: unknown[]) => {
        written.push(parts.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "));
      });
    }
    const verbose = { LOG_LEVEL: "info" };
    const email = "quiet.mouse@example.com";
    const name = "Quiet Mouse";
    const body = { email, password: PASSWORD };
    const first = signedIn(await callWith(verbose, "/auth/register", { body: { ...body, name } }));
    await callWith(verbose, "/auth/register", { body });
    const second = signedIn(await callWith(verbose, "/auth/login", { body }));
    await callWith(verbose, "/auth/login", { body: { ...body, password: `${PASSWORD}-wrong` } });
    await callWith(verbose, "/auth/login", { body: { ...body, email: "nobody.mouse@example.com" } });
    await callWith(verbose, "/auth/login", { body: { ...body, [PASSWORD]: email } });
    await callWith(verbose, "/auth/login", { body: `{"email":"${email}","password":"${PASSWORD}"` });
    await callWith(verbose, "/auth/me", { headers: bearer(first.accessToken) });
    await callWith(verbose, `/auth/me?token=${second.accessToken}`, { headers: bearer(second.refreshToken) });

    const lines = written.map((text) => line.parse(JSON.parse(text)));
    expect(lines.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual([
      "auth.register ok",
      "auth.register EMAIL_ALREADY_EXISTS",
      "auth.login ok",
      "auth.login INVALID_CREDENTIALS",
      "auth.login INVALID_CREDENTIALS",
      "auth.login VALIDATION_ERROR",
      "auth.login VALIDATION_ERROR",
      "auth.me ok",
      "auth.me INVALID_ACCESS_TOKEN",
    ]);
    expect(lines.filter(({ userId }) => userId === first.user.id)).toHaveLength(3);
    const output = written.join("\n").toLowerCase();
    const secrets = [email, "mouse", PASSWORD, first.accessToken, first.refreshToken, second.accessToken];
    for (const secret of [...secrets, second.refreshToken, "pbkdf2"]) {
      expect(output).not.toContain(secret.toLowerCase());
      expect(output).not.toContain(encodeURIComponent(secret).toLowerCase());
    }
  });
});
