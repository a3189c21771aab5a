import { createHmac } from "node:crypto";
import { BASE62 } from "../ids.ts";
import { KEY_SECRET_LENGTH, type NewApiKey, newDemoKey } from "../keys/api-key.ts";
import { SANDBOX_WORKSPACE_ID } from "./sandbox.ts";

/**
 * The sandbox's key of an epoch: its secret part is HMAC-SHA256 over the epoch, keyed from the pepper. It is derived
 * again whenever somebody asks for it, and only its hash is stored, as of any key.
 */
export function demoKey(epoch: number, pepper: string): NewApiKey {
  const key = createHmac("sha256", pepper).update("taffrail sandbox key").digest();
  const mac = createHmac("sha256", key).update(String(epoch)).digest("hex");
  // The lowest 30 digits of 256 bits: how far they are from uniform is less than 2^-77.
  let rest = BigInt(`0x${mac}`);
  let secret = "";
  while (secret.length < KEY_SECRET_LENGTH) {
    secret += BASE62.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return newDemoKey(SANDBOX_WORKSPACE_ID, secret);
}
