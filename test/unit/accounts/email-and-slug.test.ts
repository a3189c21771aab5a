import { describe, expect, it } from "vitest";
import { emailSchema, localPart, personalSlug, slugify, suffixedSlug } from "../../../src/accounts/email.ts";
import { providerEmail } from "../../../src/accounts/oauth/provider-fetch.ts";
import { nameSchema } from "../../../src/http/fields.ts";
import { threadMs } from "../../support/thread-time.ts";

describe("emailSchema", () => {
  it("trims and lowercases before it compares", () => {
    expect(emailSchema.parse("  Ada.Lovelace+Tag@Example.COM\n")).toBe("ada.lovelace+tag@example.com");
  });

  it.each(["", "ada", "ada@", "@example.com", "a b@example.com", "ada@example", "ada@example.com\nBcc: x@y.zz"])(
    "refuses %j",
    (text) => expect(emailSchema.safeParse(text).success).toBe(false),
  );

  it("refuses other letters before it lowercases, so that none becomes another address", () => {
    for (const text of ["mi\u212Ae@example.com", "mike@\u212Aexample.com", "m\u0130ke@example.com", "é@example.com"]) {
      expect(emailSchema.safeParse(text).success).toBe(false);
      expect(providerEmail(text)).toBeNull();
    }
    expect(providerEmail(" Mike@Example.com ")).toBe("mike@example.com");
  });

  it("accepts 254 characters and refuses 255", () => {
    const domain = `${"d".repeat(60)}.example.com`;
    const address = (length: number): string => `${"a".repeat(length - domain.length - 1)}@${domain}`;
    expect(emailSchema.safeParse(address(254)).success).toBe(true);
    expect(emailSchema.safeParse(address(255)).success).toBe(false);
  });

  it("stops at the length of a long text", () => {
    const startedAt = threadMs();
    expect(emailSchema.safeParse("a".repeat(250_000)).success).toBe(false);
    expect(emailSchema.safeParse(`${"a.".repeat(125_000)}@`).success).toBe(false);
    expect(threadMs() - startedAt).toBeLessThan(500);
  });
});

describe("nameSchema", () => {
  it("refuses line breaks and lone surrogates", () => {
    const lines = ["Ada\nBcc: eve@example.com", "a\u0000b", "a\u0085b", "a\u2028b", "a\u2029b"];
    for (const name of [...lines, "\ud800", "x".repeat(101)]) {
      expect(nameSchema.safeParse(name).success).toBe(false);
    }
    expect(nameSchema.parse("  Łucja Ćwik 🧭 ")).toBe("Łucja Ćwik 🧭");
  });

  it("refuses characters that change the direction of surrounding text, and accepts right-to-left names", () => {
    for (const turn of "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") {
      expect(nameSchema.safeParse(`a${turn}b`).success).toBe(false);
    }
    for (const name of ["שלום", "مرحبا\u200f!", "👩‍👩‍👧", "نام\u200cه"]) expect(nameSchema.parse(name)).toBe(name);
  });
});

describe("slugs", () => {
  it.each([
    ["Ada Lovelace", "ada-lovelace"],
    ["  Zoë   d'Été!! ", "zoe-d-ete"],
    ["-_-", ""],
    ["山田太郎", ""],
    ["../../etc/passwd", "etc-passwd"],
    ["x".repeat(90), "x".repeat(40)],
    [`${"x".repeat(39)} y`, "x".repeat(39)],
  ])("slugify(%j) is %j", (text, slug) => expect(slugify(text)).toBe(slug));

  it("comes from the name, else the local part, else a constant", () => {
    expect(personalSlug("Ada Lovelace", "x@example.com")).toBe("ada-lovelace");
    expect(personalSlug(null, "ada.l+logs@example.com")).toBe("ada-l");
    expect(personalSlug("山田", "taro@example.com")).toBe("taro");
    expect(personalSlug("山田", "_@example.com")).toBe("user");
    expect(localPart("+tag@example.com")).toBe("+tag");
  });

  it("keeps a suffix in lowercase", () => expect(suffixedSlug("ada", "aB3")).toBe("ada-ab3"));
});
