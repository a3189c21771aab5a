import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../http/context.ts";
import { refuse } from "../http/errors.ts";
import { resource } from "../http/resource.ts";
import { countByAddress } from "./address-limits.ts";

const PATH = "/.well-known/security.txt";
const DAY_MS = 24 * 60 * 60 * 1000;
/** Days that the file is valid for from the day on which it is read. RFC 9116 (2.5.5) recommends less than a year. */
const VALID_DAYS = 180;
/** Seconds that a cache may keep it. */
const MAX_AGE = 86_400;

/** Where to report a vulnerability of this deployment, as RFC 9116 has it: plain text, exempt from the envelope. */
export const securityTxt = resource();

securityTxt.route(
  {
    method: "GET",
    path: PATH,
    operation: "security.contact",
    tag: "Operations",
    summary: "Where to report a vulnerability",
    security: "none",
    status: 200,
    response: z.unknown(),
    errors: ["NOT_FOUND"],
  },
  [],
  async (c) => {
    if (c.get("settings").SECURITY_CONTACT.length === 0) {
      await countByAddress(c, "API_DEFAULT");
      return refuse("NOT_FOUND", "There is nothing at this path.");
    }
    const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": `public, max-age=${MAX_AGE}` };
    return new Response(securityText(c, Date.now()), { headers });
  },
);

function securityText(c: Context<AppEnv>, now: number): string {
  const { SECURITY_CONTACT, BASE_URL } = c.get("settings");
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString();
  const lines = [...SECURITY_CONTACT.map((contact) => `Contact: ${contact}`), `Expires: ${expires}`];
  // A file's web addresses must be https (RFC 9116, 2.5.2).
  if (BASE_URL.startsWith("https:")) lines.push(`Canonical: ${BASE_URL}${PATH}`);
  return `${lines.join("\n")}\n`;
}
