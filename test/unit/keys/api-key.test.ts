import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { BASE62, newId } from "../../../src/ids.ts";
import { looksLikeApiKey, newApiKey, parseApiKey } from "../../../src/keys/api-key.ts";
import { hasScope, maskToScopes, SCOPES, scopesToMask } from "../../../src/keys/scopes.ts";

describe("an API key", () => {
  const workspaceId = newId("ws");
  const made = newApiKey(workspaceId);

  test("contains its workspace id, and is identified by the SHA-256 of the whole key", () => {
    expect(made.secret).toMatch(/^sk_[0-9A-Za-z]{48}$/);
    expect(made.prefix).toBe(made.secret.slice(0, 18));
    const hash = createHash("sha256").update(made.secret).digest("hex");
    expect(made.hash).toBe(hash);
    expect(parseApiKey(made.secret)).toEqual({ workspaceId, hash });
  });

  test("is invalid with any one character changed, removed, doubled or added", () => {
    const { secret } = made;
    const others = [...BASE62, "_", "-", " ", "é", "\0"];
    let tried = 0;
    for (let at = 0; at < secret.length; at++) {
      for (const other of others) {
        if (secret[at] === other) continue;
        expect(parseApiKey(secret.slice(0, at) + other + secret.slice(at + 1))).toBeNull();
        tried++;
      }
      expect(parseApiKey(secret.slice(0, at) + secret.slice(at + 1))).toBeNull();
      expect(parseApiKey(secret.slice(0, at) + secret.slice(at, at + 1).repeat(2) + secret.slice(at + 1))).toBeNull();
    }
    expect(tried).toBeGreaterThan(3000);
    expect(parseApiKey(`${secret}0`)).toBeNull();
    // The right key is still accepted: refused keys are not cached.
    expect(parseApiKey(secret)).not.toBeNull();
  });

  test("is invalid with two adjacent characters swapped", () => {
    const { secret } = made;
    for (let at = 3; at < secret.length - 1; at++) {
      const [a, b] = [secret.charAt(at), secret.charAt(at + 1)];
      if (a !== b) expect(parseApiKey(secret.slice(0, at) + b + a + secret.slice(at + 2))).toBeNull();
    }
  });

  test("is distinguished from an access token by its prefix", () => {
    expect(looksLikeApiKey(made.secret)).toBe(true);
    expect(looksLikeApiKey("sk_nonsense")).toBe(true);
    expect(looksLikeApiKey("eyJhbGciOiJIUzI1NiJ9.e30.x")).toBe(false);
    for (const text of ["", "sk_", "sk_demo_", "sk", "sk_demo_abc", "SK_x"]) expect(parseApiKey(text)).toBeNull();
  });

  test("is cached by its whole text, also beyond the size of the cache", () => {
    const keys = Array.from({ length: 1100 }, () => newApiKey(newId("ws")));
    for (const round of [0, 1])
      for (const key of keys) expect([round, parseApiKey(key.secret)?.hash]).toEqual([round, key.hash]);
  });
});

test("scopes survive being packed into a mask", () => {
  for (const scopes of [[], ["logs:write"], ["logs:read"], [...SCOPES]] as const) {
    const mask = scopesToMask(scopes);
    expect(maskToScopes(mask)).toEqual(scopes);
    for (const scope of SCOPES) expect(hasScope(mask, scope)).toBe(scopes.some((own) => own === scope));
  }
  expect(maskToScopes(scopesToMask(["logs:read", "logs:write"]))).toEqual(["logs:write", "logs:read"]);
  expect(maskToScopes(scopesToMask(["logs:read", "logs:read"]))).toEqual(["logs:read"]);
});
