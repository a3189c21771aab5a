import { describe, expect, it } from "vitest";
import { overrideSettings, settingsOf, settingsProblems } from "../../../src/settings.ts";

const base = { JWT_SECRET: "x".repeat(32), REFRESH_PEPPER: "y".repeat(32) };
const namesOf = (source: object) => settingsProblems({ ...base, ...source }).map((line) => line.split(":", 1)[0]);

describe("settings of mail and accounts", () => {
  it("the outbox requires a loopback BASE_URL, because it shows mails to every caller", () => {
    expect(namesOf({})).toEqual([]);
    for (const url of ["http://localhost:8787", "http://127.0.0.1:1", "http://[::1]:2"]) {
      expect(namesOf({ MAILER: "outbox", BASE_URL: url })).toEqual([]);
    }
    for (const url of ["https://logs.example.com", "https://127.0.0.1.evil.example"]) {
      expect(namesOf({ BASE_URL: url })).toEqual(["MAILER"]);
    }
  });

  it("tokens and links require HTTPS, except on this machine", () => {
    const sending = { MAILER: "resend", MAIL_FROM: "logs@example.com", RESEND_API_KEY: "re" };
    const BASE_URL = "https://logs.example.com";
    for (const url of ["http://logs.example.com", "http://10.0.0.5:8787", "http://127.0.0.1.evil.example"]) {
      expect(namesOf({ ...sending, BASE_URL: url })).toEqual(["BASE_URL"]);
      expect(namesOf({ ...sending, BASE_URL, FRONTEND_URL: url })).toEqual(["FRONTEND_URL"]);
    }
    expect(namesOf({ ...sending, BASE_URL, FRONTEND_URL: "https://app.example.com" })).toEqual([]);
    expect(namesOf({ BASE_URL: "http://localhost:8787", FRONTEND_URL: "http://127.0.0.1:5173" })).toEqual([]);
  });

  it("the other mailers require a sender, and Resend its key", () => {
    const BASE_URL = "https://logs.example.com";
    expect(namesOf({ BASE_URL, MAILER: "cloudflare" })).toEqual(["MAIL_FROM"]);
    expect(namesOf({ BASE_URL, MAILER: "resend" })).toEqual(["MAIL_FROM", "RESEND_API_KEY"]);
    expect(namesOf({ BASE_URL, MAILER: "cloudflare", MAIL_FROM: "Logs <logs@example.com>" })).toEqual([]);
    expect(namesOf({ BASE_URL, MAILER: "resend", MAIL_FROM: "logs@example.com", RESEND_API_KEY: "re" })).toEqual([]);
    expect(namesOf({ MAIL_FROM: "nobody" })).toEqual(["MAIL_FROM"]);
    expect(namesOf({ MAILER: "smtp" })).toEqual(["MAILER"]);
  });

  it("REFRESH_LEEWAY_SECONDS and PASSWORD_BLOCKLIST are off by default, and validated", () => {
    expect(settingsOf({ ...base })).toMatchObject({ REFRESH_LEEWAY_SECONDS: 0, PASSWORD_BLOCKLIST: "off" });
    expect(settingsOf({ ...base, REFRESH_LEEWAY_SECONDS: "10", PASSWORD_BLOCKLIST: "on" })).toMatchObject({
      REFRESH_LEEWAY_SECONDS: 10,
      PASSWORD_BLOCKLIST: "on",
    });
    for (const bad of ["-1", "61", "1.5", "soon"]) {
      expect(namesOf({ REFRESH_LEEWAY_SECONDS: bad })).toEqual(["REFRESH_LEEWAY_SECONDS"]);
    }
    expect(namesOf({ PASSWORD_BLOCKLIST: "yes" })).toEqual(["PASSWORD_BLOCKLIST"]);
  });
});

describe("the settings of an environment", () => {
  it("are frozen, because all requests of an isolate share them", () => {
    const settings = settingsOf({ ...base, CORS_ORIGINS: "https://app.example.com" });
    expect(() => Object.assign(settings, { LOG_LEVEL: "error" })).toThrow(TypeError);
    expect(() => Reflect.apply(Array.prototype.push, settings.CORS_ORIGINS, ["https://evil.example"])).toThrow(
      TypeError,
    );
    expect([settings.LOG_LEVEL, settings.CORS_ORIGINS]).toEqual(["info", ["https://app.example.com"]]);
  });

  it("are replaced for a test and restored after it", () => {
    const env = { ...base };
    const before = settingsOf(env);
    const restore = overrideSettings(env, { RECENT_MAX_BYTES: 10_000 });
    expect(settingsOf(env)).toEqual({ ...before, RECENT_MAX_BYTES: 10_000 });
    expect(() => Object.assign(settingsOf(env), { RECENT_MAX_BYTES: 1 })).toThrow(TypeError);
    restore();
    expect(settingsOf(env)).toBe(before);
  });
});
