import { createHash } from "node:crypto";

/** Bytes of randomness in a state, a browser's cookie, a code. */
const SECRET_BYTES = 32;

/** base64url of 32 bytes: 43 characters. */
export const SECRET_TEXT = /^[A-Za-z0-9_-]{43}$/;

/** Something that only one party should know, for a while. */
export function randomSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64url");
}

/** What is kept of it. As a PKCE challenge, this is method S256. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

/** Whether this can be a secret of ours, or the hash of one: it spares the database a look. */
export function isSecretShaped(text: string): boolean {
  return SECRET_TEXT.test(text);
}
