import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOneTimeToken, mintOneTimeToken, newSeed, openOneTimeToken } from "../../../src/accounts/one-time-token.ts";

const PEPPER = "pepper-pepper-pepper-pepper-pepper";
const USER = "usr_0123456789aB";

describe("one-time tokens", () => {
  it("name the user whose object stores them, or no user, and are looked up by their SHA-256", () => {
    for (const owner of [USER, null]) {
      const token = mintOneTimeToken(owner, newSeed(), PEPPER);
      expect(token).toMatch(/^vt_[\w-]+$/);
      expect(openOneTimeToken(token)).toEqual({ userId: owner, hash: hashOneTimeToken(token) });
    }
  });

  it("come from the seed and the pepper, the same each time, and from neither alone", () => {
    const seed = new Uint8Array(32).fill(7);
    const token = mintOneTimeToken(USER, seed, PEPPER);
    expect(mintOneTimeToken(USER, seed, PEPPER)).toBe(token);
    expect(mintOneTimeToken(USER, new Uint8Array(32).fill(8), PEPPER)).not.toBe(token);
    expect(mintOneTimeToken(USER, seed, `${PEPPER}2`)).not.toBe(token);
    expect(token).not.toContain(Buffer.from(seed).toString("base64url"));
  });

  it("other texts do not open and do not throw", () => {
    for (const text of [
      "",
      "vt_",
      "vt_x",
      "rt_x",
      `vt_${"a".repeat(42)}`,
      `vt_${"a".repeat(44)}`,
      `vt_${"ä".repeat(43)}`,
    ]) {
      expect(openOneTimeToken(text)).toBeNull();
    }
    expect(openOneTimeToken(`vt_${"-".repeat(12)}${"a".repeat(43)}`)).toBeNull();
    fc.assert(fc.property(fc.string(), (text) => openOneTimeToken(`vt_${text}`) === null || /^[\w-]+$/.test(text)));
  });
});
