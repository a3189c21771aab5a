import { createHmac } from "node:crypto";
import { BASE62, ID_LENGTH } from "../ids.ts";

/**
 * The id that stands for the account of an address that has none, where an account must be asked without its being told
 * from the answer's time whether there is one. Keyed, so that nobody can compute it; the same for the same address, as a
 * real one is. A byte modulo 62 is biased, which does not matter here: it is no secret and decides nothing.
 */
export function decoyUserId(email: string, pepper: string): string {
  const mac = createHmac("sha256", pepper).update("taffrail decoy user").update(email).digest();
  return `usr_${[...mac.subarray(0, ID_LENGTH)].map((byte) => BASE62.charAt(byte % BASE62.length)).join("")}`;
}
