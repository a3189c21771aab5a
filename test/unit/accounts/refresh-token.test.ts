import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isOfFamily, mintRefreshToken, openRefreshToken } from "../../../src/accounts/refresh.ts";
import { BASE62 } from "../../../src/ids.ts";

const PEPPER = "pepper-pepper-pepper-pepper-pepper";
const KEY = new Uint8Array(32).fill(7);
const link = { userId: "usr_0123456789ab", familyId: "fam_0123456789ab", counter: 3 };
const token = mintRefreshToken(link, KEY, PEPPER);

const idPart = fc.string({ unit: fc.constantFrom(...BASE62), minLength: 12, maxLength: 12 });
const anyLink = fc.record({
  userId: idPart.map((id) => `usr_${id}`),
  familyId: idPart.map((id) => `fam_${id}`),
  counter: fc.integer({ min: 1, max: 999_999_999_999_999 }),
});

describe("refresh tokens", () => {
  it("are opaque, name their link, and are the same for every derivation", () => {
    expect(token).toMatch(/^rt_[A-Za-z0-9-]+_[A-Za-z0-9_-]{86}$/);
    expect(token).not.toContain(link.userId);
    expect(mintRefreshToken(link, KEY, PEPPER)).toBe(token);
    expect(openRefreshToken(token, PEPPER)).toMatchObject(link);
  });

  it("open to the link they were minted for", () => {
    fc.assert(
      fc.property(anyLink, fc.uint8Array({ minLength: 32, maxLength: 32 }), (any, key) => {
        const opened = openRefreshToken(mintRefreshToken(any, key, PEPPER), PEPPER);
        expect(opened).toMatchObject(any);
        expect(opened && isOfFamily(opened, key, PEPPER)).toBe(true);
      }),
    );
  });

  it("R6: with any character changed, added or removed do not open", () => {
    for (let at = 0; at < token.length; at++) {
      for (const other of ["A", "B", "-", "_", "."]) {
        if (token[at] === other) continue;
        expect(openRefreshToken(token.slice(0, at) + other + token.slice(at + 1), PEPPER)).toBeNull();
      }
      expect(openRefreshToken(token.slice(0, at), PEPPER)).toBeNull();
    }
    for (const more of ["A", "=", " ", "_", "\n"]) expect(openRefreshToken(token + more, PEPPER)).toBeNull();
  });

  it("R6: malformed texts do not open and do not throw", () => {
    const nonsense = fc.oneof(
      fc.string(),
      fc.base64String().map((text) => `rt_${text}`),
      fc.tuple(fc.base64String(), fc.base64String()).map((parts) => `rt_${parts.join("_")}`),
    );
    fc.assert(
      fc.property(nonsense, (text) => {
        expect(openRefreshToken(text, PEPPER)).toBeNull();
      }),
    );
  });

  it("of another pepper do not open", () => {
    expect(openRefreshToken(mintRefreshToken(link, KEY, `${PEPPER}2`), PEPPER)).toBeNull();
  });

  it("of another family key, user, family or counter are not of the family", () => {
    const opened = openRefreshToken(token, PEPPER);
    if (!opened) throw new Error("the token must open");
    expect(isOfFamily(opened, KEY, PEPPER)).toBe(true);
    expect(isOfFamily(opened, new Uint8Array(32).fill(8), PEPPER)).toBe(false);
    expect(isOfFamily({ ...opened, counter: 4 }, KEY, PEPPER)).toBe(false);
    expect(isOfFamily({ ...opened, userId: "usr_0123456789aB" }, KEY, PEPPER)).toBe(false);
    expect(isOfFamily({ ...opened, innerMac: new Uint8Array(0) }, KEY, PEPPER)).toBe(false);
  });
});
