import { createHmac } from "node:crypto";

/** The address object of an e-mail address: named by a keyed hash, so that no name or log line tells the address. */
export function emailObjectName(email: string, pepper: string): string {
  return `email:${createHmac("sha256", pepper).update("taffrail e-mail object").update(email).digest("base64url")}`;
}
