import { createHmac } from "node:crypto";
import type { OutgoingRequest } from "./attempt.ts";
import type { Notification } from "./notification.ts";

/** Webhooks as Standard Webhooks specifies them: https://www.standardwebhooks.com */

/** Start of a secret; base64 of the key follows. */
const PREFIX = "whsec_";
/** Bytes of a key: the specification recommends 24 to 64. */
const KEY_BYTES = 32;

export function newSigningSecret(): string {
  return PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES))).toString("base64");
}

/** @param seconds since the epoch */
export function signatureOf(secret: string, id: string, seconds: number, body: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
}

/**
 * The request of a webhook. Every attempt has the same `webhook-id` and the same body, and a timestamp of its own.
 * @param secrets the current secret, and during the overlap after a rotation the previous one
 */
export function webhookRequest(
  url: string,
  secrets: readonly string[],
  notification: Omit<Notification, "destinationIds">,
  now: number,
): OutgoingRequest {
  const { id, kind, decidedAt } = notification;
  const body = JSON.stringify({ type: `alert.${kind}`, timestamp: decidedAt, data: notification });
  const seconds = Math.floor(now / 1000);
  return {
    url,
    headers: {
      "webhook-id": id,
      "webhook-timestamp": String(seconds),
      "webhook-signature": secrets.map((secret) => signatureOf(secret, id, seconds, body)).join(" "),
    },
    body,
  };
}
