import { pbkdf2Sync } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hashPassword, PBKDF2_ITERATIONS, passwordSchema, verifyPassword } from "../../../src/accounts/password.ts";

afterEach(() => vi.restoreAllMocks());

describe("passwords", () => {
  it("are PBKDF2-SHA-256 with exactly 100,000 iterations and a 16-byte salt", async () => {
    expect(PBKDF2_ITERATIONS).toBe(100_000);
    const derive = vi.spyOn(crypto.subtle, "deriveBits");
    const stored = await hashPassword("correct horse");
    expect(derive.mock.calls.map(([algorithm]) => algorithm)).toEqual([
      expect.objectContaining({ name: "PBKDF2", hash: "SHA-256", iterations: 100_000 }),
    ]);
    const [scheme, iterations, salt = "", hash] = stored.split(":");
    expect([scheme, iterations]).toEqual(["pbkdf2", "100000"]);
    const saltBytes = Buffer.from(salt, "base64url");
    expect(saltBytes).toHaveLength(16);
    expect(pbkdf2Sync("correct horse", saltBytes, 100_000, 32, "sha256").toString("base64url")).toBe(hash);
  });

  it("get a separate salt each", async () => {
    expect(await hashPassword("correct horse")).not.toBe(await hashPassword("correct horse"));
  });

  it("verify without truncation, down to the last character", async () => {
    const long = `${"p".repeat(255)}a`;
    const stored = await hashPassword(long);
    expect(await verifyPassword(long, stored)).toBe(true);
    expect(await verifyPassword(`${"p".repeat(255)}b`, stored)).toBe(false);
    expect(await verifyPassword("p".repeat(255), stored)).toBe(false);
  });

  it("are equal for each composition of their letters, and only then", async () => {
    const stored = await hashPassword("caf\u00e9 \uac00");
    expect(await verifyPassword("cafe\u0301 \u1100\u1161", stored)).toBe(true);
    expect(await verifyPassword("cafe \uac00", stored)).toBe(false);
    // Compatible forms differ: a ligature is not its letters.
    expect(await verifyPassword("file", await hashPassword("\ufb01le"))).toBe(false);
  });

  it("derive exactly once for any stored value", async () => {
    const stored = await hashPassword("correct horse");
    const derive = vi.spyOn(crypto.subtle, "deriveBits");
    const zeros = `pbkdf2:100000:${Buffer.alloc(16).toString("base64url")}:`;
    const cases = [
      [stored, true],
      [null, false],
      ["", false],
      ["nonsense", false],
      [stored.replace("100000", "1"), false],
      [`${stored}:more`, false],
      [zeros, false],
      [stored.slice(0, -4), false],
    ] as const;
    for (const [value, expected] of cases) {
      derive.mockClear();
      expect(await verifyPassword("correct horse", value)).toBe(expected);
      expect(derive).toHaveBeenCalledTimes(1);
      expect(derive.mock.calls[0]?.[0]).toMatchObject({ iterations: 100_000 });
    }
  });

  it("have 8 to 256 code points", () => {
    const verdict = (text: string): boolean => passwordSchema.safeParse(text).success;
    expect([7, 8, 256, 257].map((length) => verdict("🧭".repeat(length)))).toEqual([false, true, true, false]);
    expect(verdict("\ud800 lone surrogate")).toBe(false);
    expect(verdict("        ")).toBe(true);
  });
});
