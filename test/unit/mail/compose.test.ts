import { describe, expect, it } from "vitest";
import { mintOneTimeToken } from "../../../src/accounts/one-time-token.ts";
import { composeLetter } from "../../../src/mail/compose.ts";
import type { MailContent } from "../../../src/mail/mail.ts";

const settings = { FRONTEND_URL: "https://logs.example.com", REFRESH_PEPPER: "pepper-pepper-pepper-pepper-pepper" };
const seed = new Uint8Array(32).fill(5);
const USER = "usr_0123456789aB";

const contents: MailContent[] = [
  { kind: "verify-email", seed },
  { kind: "magic-link", seed },
  { kind: "reset-password", seed },
  { kind: "invite", seed, workspace: "Ship's <b>Log</b>", inviter: '"><script>alert(1)</script>' },
  { kind: "notice", notice: "session-ended" },
  { kind: "notice", notice: "agent-ended" },
  { kind: "notice", notice: "password-changed" },
  { kind: "notice", notice: "provider-linked", provider: "provider_b" },
];

function letterOf(content: MailContent, owner = USER) {
  return composeLetter({ id: "mail_0123456789ab", to: "ada@example.com", content, expiresAt: 0 }, owner, settings);
}

describe("composeLetter", () => {
  it.each(contents.map((content) => [content.kind, content] as const))("%s: the bodies agree", (_, content) => {
    const { id, to, kind, subject, text, html, links } = letterOf(content);
    expect([id, to, kind]).toEqual(["mail_0123456789ab", "ada@example.com", content.kind]);
    expect(subject).toMatch(/^[^\r\n]{5,78}$/);
    expect(text).toContain("logs.example.com");
    expect(html).toContain("logs.example.com");
    expect(html).toMatch(/^<!doctype html>/);
    // The mail loads nothing, and links only to the frontend.
    expect(html).not.toMatch(/<(img|link|script|iframe|style)\b|url\(|http:/i);
    for (const [link] of html.matchAll(/https?:[^"<\s]+/g)) expect(link).toBe(links[0]);
    if (content.kind === "notice") {
      const isReviewed = !["password-changed", "agent-ended"].includes(content.notice);
      return expect(links).toEqual(isReviewed ? ["https://logs.example.com/auth/review"] : []);
    }
    expect(links).toHaveLength(1);
    expect(text).toContain(links[0]);
    expect(links[0]).toContain(`#token=${mintOneTimeToken(USER, seed, settings.REFRESH_PEPPER)}`);
    expect(new URL(links[0] ?? "").search).toBe("");
  });

  it("writes user text as plain text, and only in an invitation", () => {
    const { html, text } = letterOf(contents[3] as MailContent);
    expect(html).toContain("Ship&#39;s b Log b");
    expect(text).toContain("“Ship's b Log b”");
    expect(html).not.toContain("<script");
    for (const content of contents) {
      if (content.kind !== "invite") expect(letterOf(content).html).not.toContain("ada");
    }
  });

  it("names the role of an invitation, which mails of older versions lack", () => {
    const content = { kind: "invite", seed, workspace: "Shop", inviter: "mara@example.com" } as const;
    expect(letterOf({ ...content, role: "viewer" }).text).toContain("at logs.example.com, with the role viewer.");
    expect(letterOf(content).text).toContain("at logs.example.com.");
  });

  it("names the inviter and spells the whole address, however long", () => {
    const inviter = "mara.ek.of.the.night.watch@mail.of.the.northern.harbour.example";
    const content = { kind: "invite", seed, workspace: "Shop", inviter } as const;
    const spelled =
      "mara dot ek dot of dot the dot night dot watch at mail dot of dot the dot northern dot harbour dot example";
    expect(letterOf(content).text).toContain(`The account ${spelled} invites you`);
    expect(letterOf({ ...content, inviterName: "Mara Ek" }).text).toContain(`“Mara Ek” (${spelled}) invites you`);
    const hostile = letterOf({ ...content, inviterName: "<b>Mara</b> evil.com" });
    expect(hostile.text).toContain(`“b Mara b evil com” (${spelled})`);
    expect(hostile.html).not.toContain("<b>");
    // A name of which nothing remains.
    expect(letterOf({ ...content, inviterName: "…" }).text).toContain(`The account ${spelled}`);
    const asked = { kind: "confirm-address", seed, workspace: "Shop", inviter, inviterName: "Mara Ek" } as const;
    expect(letterOf(asked).text).toContain(`“Mara Ek” (${spelled}) wants to send`);
  });

  it("wraps a name of one long word inside the letter", () => {
    const { html } = letterOf({
      kind: "invite",
      seed,
      workspace: "W".repeat(100),
      inviter: `${"a".repeat(200)}@b.example`,
    });
    const typed = [...html.matchAll(/<(h1|p) style="([^"]*)">[^<]*(?:W{64}|a{64})/g)];
    expect(typed.map(([, tag]) => tag)).toEqual(["p"]);
    for (const [, , style] of typed) expect(style).toContain("overflow-wrap:anywhere;word-break:break-word");
  });

  it("links a token without a locator for an e-mail address without an account", () => {
    const [link] = letterOf({ kind: "magic-link", seed }, "email:abc_def-0123456789").links;
    expect(link).toBe(
      `https://logs.example.com/auth/magic#token=${mintOneTimeToken(null, seed, settings.REFRESH_PEPPER)}`,
    );
  });
});
