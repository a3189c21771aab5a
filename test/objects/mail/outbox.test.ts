import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { deliver } from "../accounts/mail-support.ts";
import { answerOf, callWith, registered } from "../accounts/support.ts";

const outboxShape = z.object({
  items: z.array(
    z.strictObject({
      id: z.string().regex(/^mail_\w{12}$/),
      to: z.string(),
      kind: z.enum(["verify-email", "magic-link", "reset-password", "invite", "notice"]),
      subject: z.string().min(1),
      text: z.string().min(1),
      html: z.string().min(1),
      links: z.array(z.url()),
      createdAt: z.iso.datetime(),
    }),
  ),
});

const at = async (host: string) => answerOf(await exports.default.fetch(`http://${host}/dev/outbox`));

describe("GET /dev/outbox", () => {
  it("lists captured mails, newest first, and only under loopback host names", async () => {
    const first = await registered("outbox-1@example.com");
    await deliver(first.user.id);
    const second = await registered("outbox-2@example.com");
    await deliver(second.user.id);
    for (const host of ["localhost:8787", "127.0.0.1", "[::1]:1234", "app.localhost"]) {
      const answer = await at(host);
      expect([host, answer.status]).toEqual([host, 200]);
      const { items } = outboxShape.parse(answer.data);
      expect(items.map(({ to }) => to)).toEqual(["outbox-2@example.com", "outbox-1@example.com"]);
      expect(items[0]?.links).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/auth\/verify#token=vt_/)]);
      expect(items[0]?.text).toContain(items[0]?.links[0]);
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
    }
    for (const host of ["taffrail.test", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "10.0.0.1"]) {
      const answer = await at(host);
      expect([host, answer.status, answer.code]).toEqual([host, 404, "NOT_FOUND"]);
    }
  });

  it("is a page for a browser: newest first, escaped text, links that open, no script", async () => {
    const newest = await registered("outbox-page@example.com");
    await deliver(newest.user.id);
    const hostile = `<script>alert("1")</script> & 'x'`;
    const links = ["javascript:alert(1)", 'http://127.0.0.1/a?b&c="d'];
    await env.DB.prepare(
      `INSERT INTO outbox (id, address, kind, subject, text, html, links, created_at)
       VALUES ('mail_hostile00000', ?1, 'notice', ?1, ?2, '<p>', ?3, 1785580200000)`,
    )
      .bind(hostile, `${hostile}\n\n${links.join("\n")}`, JSON.stringify(links))
      .run();
    const url = "http://localhost:8787/dev/outbox";
    const headers = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const answer = await exports.default.fetch(url, { headers });
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = answer.headers.get("Content-Security-Policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script|unsafe/);
    expect(answer.headers.get("X-Robots-Tag")).toBe("noindex");
    expect([answer.headers.get("Cache-Control"), answer.headers.get("Vary")]).toEqual(["no-store", "Accept"]);
    const html = await answer.text();
    expect(html).not.toContain("<script");
    const escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;";
    expect(html).toContain(`<h2>${escaped}</h2>\n<p>To ${escaped}, <time datetime="2026-08-01T10:30:00.000Z">`);
    expect(html).toContain(
      `<p>${escaped}</p>\n<p>javascript:alert(1)<br><a href="http://127.0.0.1/a?b&amp;c=&quot;d">`,
    );
    expect(html.indexOf("outbox-page@example.com")).toBeGreaterThan(html.indexOf(escaped));
    expect(html).toMatch(/<a href="http:\/\/127\.0\.0\.1:8787\/auth\/verify#token=vt_[\w-]+">http/);

    // A wildcard alone gets JSON. The Accept header must contain `text/html`.
    const wildcard = await exports.default.fetch(url, { headers: { Accept: "application/json, */*" } });
    expect([wildcard.headers.get("Content-Type"), wildcard.headers.get("Vary")]).toEqual([
      "application/json",
      "Accept",
    ]);
    await wildcard.text();
    const elsewhere = await answerOf(await exports.default.fetch("http://taffrail.test/dev/outbox", { headers }));
    expect([elsewhere.status, elsewhere.code]).toEqual([404, "NOT_FOUND"]);
  });

  it("returns 404 with another mailer", async () => {
    const resend = { MAILER: "resend", MAIL_FROM: "a@logs.example", RESEND_API_KEY: "re" };
    expect((await callWith(resend, "/dev/outbox", { origin: "http://127.0.0.1" })).code).toBe("NOT_FOUND");
  });
});
