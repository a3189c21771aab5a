import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { app } from "../../../src/routes/app.ts";
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

  it("is a page of the console for a browser, which shows no mail without a script, and JSON for other clients", async () => {
    const newest = await registered("outbox-page@example.com");
    await deliver(newest.user.id);
    const assets = { ASSETS: { fetch: async () => new Response("<title>Taffrail</title>") } };
    const headers = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
    const page = async (origin: string) => {
      const request = new Request(`${origin}/dev/outbox`, { headers });
      // SAFETY: a stub of the one method that the route uses.
      return app.fetch(request, { ...env, ...assets } as never, createExecutionContext());
    };
    const answer = await page("http://localhost:8787");
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(answer.headers.get("Content-Security-Policy")).toContain("default-src 'none'; script-src 'self'");
    expect([answer.headers.get("Cache-Control"), answer.headers.get("Vary")]).toEqual(["no-store", "Accept"]);
    expect(await answer.text()).toBe("<title>Taffrail</title>");
    // A wildcard alone gets JSON. The Accept header must contain `text/html`.
    const wildcard = await exports.default.fetch("http://localhost:8787/dev/outbox", {
      headers: { Accept: "application/json, */*" },
    });
    expect([wildcard.headers.get("Content-Type"), wildcard.headers.get("Vary")]).toEqual([
      "application/json",
      "Accept",
    ]);
    expect(await wildcard.text()).toContain("outbox-page@example.com");
    const elsewhere = await answerOf(await page("http://taffrail.test"));
    expect([elsewhere.status, elsewhere.code]).toEqual([404, "NOT_FOUND"]);
  });

  it("returns 404 with another mailer", async () => {
    const resend = { MAILER: "resend", MAIL_FROM: "a@logs.example", RESEND_API_KEY: "re" };
    expect((await callWith(resend, "/dev/outbox", { origin: "http://127.0.0.1" })).code).toBe("NOT_FOUND");
  });
});
