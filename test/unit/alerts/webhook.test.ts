import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { newSigningSecret, webhookRequest } from "../../../src/alerts/notifications/webhook.ts";
import { notificationOf } from "./support.ts";

const URL = "https://hooks.example.com/";

describe("a webhook", () => {
  it("is verified by the reference library of Standard Webhooks, whatever its text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.dictionary(fc.string(), fc.string()), (message, group) => {
        const secret = newSigningSecret();
        const notification = notificationOf({ message: message.toWellFormed(), group });
        const { body, headers } = webhookRequest(URL, [secret], notification, Date.now());
        expect(new Webhook(secret).verify(body, { ...headers })).toEqual({
          type: "alert.firing",
          timestamp: notification.decidedAt,
          data: JSON.parse(JSON.stringify(notification)),
        });
      }),
      { numRuns: 50 },
    );
  });

  it("is refused by the library with another secret, another body, another id, or when it is old", () => {
    const secret = newSigningSecret();
    const { body, headers } = webhookRequest(URL, [secret], notificationOf(), Date.now());
    const webhook = new Webhook(secret);
    expect(() => new Webhook(newSigningSecret()).verify(body, { ...headers })).toThrow("No matching signature");
    expect(() => webhook.verify(`${body} `, { ...headers })).toThrow("No matching signature");
    expect(() => webhook.verify(body, { ...headers, "webhook-id": "ntf_other" })).toThrow("No matching signature");
    const old = webhookRequest(URL, [secret], notificationOf(), Date.now() - 600_000);
    expect(() => webhook.verify(old.body, { ...old.headers })).toThrow("too old");
  });

  it("has both signatures during the overlap of a rotation, so that either secret verifies it", () => {
    const [current, previous] = [newSigningSecret(), newSigningSecret()];
    const { body, headers } = webhookRequest(URL, [current, previous], notificationOf(), Date.now());
    for (const secret of [current, previous]) expect(new Webhook(secret).verify(body, { ...headers })).toBeTruthy();
  });

  it("has the same id and body at every attempt, and a recovery has another id", () => {
    const secret = newSigningSecret();
    const [first, second] = [0, 60_000].map((ms) => webhookRequest(URL, [secret], notificationOf(), Date.now() + ms));
    expect(second?.body).toBe(first?.body);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(second?.headers["webhook-timestamp"]).not.toBe(first?.headers["webhook-timestamp"]);
  });
});
