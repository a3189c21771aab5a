import { exports } from "cloudflare:workers";
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
  it("lists what would have been sent, newest first, under loopback names only", async () => {
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

  it("is not there with another mailer", async () => {
    const resend = { MAILER: "resend", MAIL_FROM: "a@logs.example", RESEND_API_KEY: "re" };
    expect((await callWith(resend, "/dev/outbox", { origin: "http://127.0.0.1" })).code).toBe("NOT_FOUND");
  });
});
