import { describe, expect, it, vi } from "vitest";
import type { Letter } from "../../../src/mail/mail.ts";
import { cloudflareMailer, resendMailer } from "../../../src/mail/mailers.ts";
import { parseSender } from "../../../src/settings.ts";

const from = { name: "Taffrail", address: "mail@logs.example" };
const letter: Letter = {
  id: "mail_0123456789ab",
  to: "ada@example.com",
  kind: "notice",
  subject: "Subject",
  text: "text",
  html: "<p>html</p>",
  links: [],
};

describe("mailers", () => {
  it("cloudflare: sends both bodies with the mail's Message-ID; a fault reports only its kind", async () => {
    const send = vi.fn(async () => ({ messageId: "1" }));
    expect(await cloudflareMailer({ send }, from).send(letter)).toEqual({ ok: true });
    expect(send).toHaveBeenCalledWith({
      from: { email: "mail@logs.example", name: "Taffrail" },
      to: "ada@example.com",
      subject: "Subject",
      text: "text",
      html: "<p>html</p>",
      headers: { "Message-ID": "<mail_0123456789ab@logs.example>", "Auto-Submitted": "auto-generated" },
    });
    send.mockRejectedValueOnce(new TypeError("cannot send to ada@example.com"));
    expect(await cloudflareMailer({ send }, from).send(letter)).toEqual({
      ok: false,
      reason: "failed",
      detail: "TypeError",
    });
  });

  it("resend: sends one request with the mail's id as idempotency key; timeouts and invalid responses are retryable", async () => {
    const fetched = vi.fn<typeof fetch>(async () => new Response('{"id":"x"}'));
    expect(await resendMailer("re_key", from, fetched).send(letter)).toEqual({ ok: true });
    const [url, init] = fetched.mock.calls[0] ?? [];
    expect(url).toBe("https://api.resend.com/emails");
    expect(init?.headers).toMatchObject({ Authorization: "Bearer re_key", "Idempotency-Key": letter.id });
    expect(JSON.parse(String(init?.body))).toEqual({
      from: "Taffrail <mail@logs.example>",
      to: ["ada@example.com"],
      subject: "Subject",
      text: "text",
      html: "<p>html</p>",
    });
    fetched.mockRejectedValueOnce(new DOMException("late", "TimeoutError"));
    expect(await resendMailer("re_key", from, fetched).send(letter)).toMatchObject({ reason: "failed" });
    for (const [status, reason] of [
      [400, "refused"],
      [401, "failed"],
      [422, "refused"],
      [429, "failed"],
      [503, "failed"],
    ] as const) {
      fetched.mockResolvedValueOnce(new Response("ada@example.com is bad", { status }));
      const delivery = await resendMailer("re_key", { ...from, name: "" }, fetched).send(letter);
      expect(delivery).toEqual({ ok: false, reason, detail: String(status) });
    }
  });
});

describe("parseSender", () => {
  it("accepts an e-mail address, with or without a name before it", () => {
    expect(parseSender("Taffrail <mail@logs.example>")).toEqual(from);
    expect(parseSender(" mail@logs.example ")).toEqual({ name: "", address: "mail@logs.example" });
    expect(parseSender("<mail@logs.example>")).toEqual({ name: "", address: "mail@logs.example" });
    for (const bad of ["", "mail", "a@b c@d", "Name <mail>", "Na\r\nme <a@b.c>", "Name <a@b.c> x", 'Na"me <a@b.c>']) {
      expect([bad, parseSender(bad)]).toEqual([bad, null]);
    }
  });
});
