import { describe, expect, it } from "vitest";
import { composeLetter, spelledAddress, unlinkable } from "../../../src/mail/compose.ts";

const settings = { FRONTEND_URL: "https://logs.example.com", REFRESH_PEPPER: "pepper-pepper-pepper-pepper-pepper" };

/** Workspace names chosen to get a link into a mail, and the expected text. */
const HOSTILE = [
  ["Invoice overdue: pay at http://evil.com/pay?id=1", "Invoice overdue pay at http evil com pay id 1"],
  ["www.evil.com", "www evil com"],
  ["evil.com", "evil com"],
  ["HTTPS://EVIL.COM", "HTTPS EVIL COM"],
  ["еvil.рф", "еvil рф"],
  ["xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd xn--p1ai"],
  // Dots of other scripts, widths and sizes.
  ["evil。com", "evil com"],
  ["evil．com", "evil com"],
  ["evil｡com", "evil com"],
  ["evil․com", "evil com"],
  ["evil‥com…now", "evil com now"],
  ["evil⒈com", "evil1 com"],
  ["evil·com evil•com", "evil com evil com"],
  ["ｈｔｔｐ：／／ｅｖｉｌ．ｃｏｍ", "http evil com"],
  ["℀ ℅", "a c c o"],
  ["evil∕com evil⁄com evil⧸com", "evil com evil com evil com"],
  ["pay@evil.com pay＠evil．com pay﹫evil﹒com", "pay evil com pay evil com pay evil com"],
  ["mailto:pay javascript:alert(1) tel:+18005550199", "mailto pay javascript alert(1) tel …"],
  ["Call +1 (800) 555-0199 now", "Call … now"],
  ["٠٨٠٠ ٥٥٥ ٠١٩٩", "…"],
  // Right-to-left marks, overrides and isolates, invisible joiners.
  ["\u202Emoc.live\u202C", "moc live"],
  ["evil\u200B.\u200Bcom", "evil com"],
  ["\u2067שלום\u2069.com", "שלום com"],
  ["a\r\nBcc: x@evil.com", "a Bcc x evil com"],
  ["<a href='http://evil.com'>x</a>", "a href 'http evil com' x a"],
  ["://.@", ""],
] as const;

const ORDINARY = ["Ada's Team", "Größe & Co, (Nord)", "日本チーム", "Team 2026-27", "फ़ॉण्ट", "back_end!"];

describe("B9: user text in a mail never becomes a link", () => {
  it.each(HOSTILE)("B9: %j", (typed, left) => {
    expect(unlinkable(typed)).toBe(left);
    const content = { kind: "invite", seed: new Uint8Array(32), workspace: typed, inviter: "ada.b@evil.com" } as const;
    const mail = { id: "mail_0123456789ab", to: "x@example.com", content, expiresAt: 0 };
    const { subject, text, html, links } = composeLetter(mail, "ws_0123456789aB", settings);
    expect(subject).toBe("Invitation to a workspace");
    for (const body of [text, html.replace(/<[^>]*>/g, "")]) {
      const rest = body.replaceAll(links[0] ?? "", "").replaceAll("logs.example.com", "");
      expect(rest).not.toMatch(
        /evil\s*[^\p{L}\p{N}\s'()&,-]\s*com|:\/\/|www\.|@|\d{7}|[\u200B-\u200F\u202A-\u202E\u2066-\u2069]/u,
      );
      expect(rest).toContain("ada dot b at evil dot com");
    }
    expect([...html.matchAll(/href="([^"]*)"/g)].every(([, href]) => href === links[0])).toBe(true);
  });

  it.each(ORDINARY)("B9: %s is unchanged", (name) => {
    expect(unlinkable(name)).toBe(name.normalize("NFKC"));
  });

  it("B9: an e-mail address is spelled out, and every text is bounded", () => {
    expect(spelledAddress("ada.lovelace@mail.example.com")).toBe("ada dot lovelace at mail dot example dot com");
    expect([...unlinkable("𝒶".repeat(500))].length).toBe(65);
    // A pattern that backtracks would take longer than the test may.
    for (const long of ["1 ".repeat(5000), "(".repeat(10_000), "- ".repeat(5000), "1(".repeat(5000)]) {
      expect([...unlinkable(long)].length).toBeLessThanOrEqual(65);
    }
  });
});
