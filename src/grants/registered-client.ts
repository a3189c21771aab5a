import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { type AgentClient, CLIENT_BOUNDS, shownName } from "./client.ts";
import { redirectUriProblem } from "./redirect-uri.ts";

/**
 * Dynamic registration (RFC 7591) without storage: the id is the metadata itself with a MAC, `cl_<metadata>.<mac>`, both parts
 * base64url. A flood of registrations therefore stores nothing, and no registration has to expire.
 */
const PREFIX = "cl_";
const MAC_BYTES = 16;
/** Maximum bytes of the metadata in an id, which is a parameter of URLs. */
const MAX_BYTES = 1200;

/** What registration accepts. Other members are ignored. */
export const registrationShape = z.looseObject({
  redirect_uris: z
    .array(z.string().superRefine(checkRedirectUri))
    .min(1)
    .max(CLIENT_BOUNDS.redirectUris)
    .describe("https, http to this machine (any port), or a scheme of the program."),
  client_name: z.string().max(500).optional(),
  token_endpoint_auth_method: z.string().optional().describe("Ignored: every client is public (`none`)."),
  grant_types: z.array(z.string()).max(20).optional(),
  response_types: z.array(z.string()).max(20).optional(),
  scope: z.string().max(1000).optional(),
});

/** Reports what is wrong with a redirect URI, for schemas. */
export function checkRedirectUri(text: string, context: z.RefinementCtx): void {
  const problem = redirectUriProblem(text);
  if (problem !== null) context.addIssue({ code: "custom", message: `${problem}.` });
}

export type Registration = Pick<AgentClient, "name" | "redirectUris">;

/** Returns what is registered of the metadata that a client sent. */
export function registrationOf(sent: z.output<typeof registrationShape>): Registration {
  const name = shownName(sent.client_name ?? "") ?? "Unnamed client";
  return { name, redirectUris: [...new Set(sent.redirect_uris)] };
}

/** Returns the id of a registration; `null` if the metadata is too long for one. */
export function clientIdOf({ name, redirectUris }: Registration, pepper: string): string | null {
  const text = JSON.stringify([name, redirectUris]);
  if (Buffer.byteLength(text) > MAX_BYTES) return null;
  const body = Buffer.from(text).toString("base64url");
  return `${PREFIX}${body}.${macOf(body, pepper).toString("base64url")}`;
}

const storedShape = z.tuple([z.string(), z.array(z.string())]);

/** Returns the client of an id that registration returned; `null` for any other text. */
export function registeredClient(id: string, pepper: string): AgentClient | null {
  const [body = "", mac = "", ...rest] = id.slice(PREFIX.length).split(".");
  if (!id.startsWith(PREFIX) || rest.length > 0) return null;
  const presented = Buffer.from(mac, "base64url");
  if (presented.length !== MAC_BYTES || presented.toString("base64url") !== mac) return null;
  if (!timingSafeEqual(presented, macOf(body, pepper))) return null;
  const [name, redirectUris] = storedShape.parse(JSON.parse(Buffer.from(body, "base64url").toString()));
  return { id, name, host: null, redirectUris };
}

function macOf(body: string, pepper: string): Buffer {
  const key = createHmac("sha256", pepper).update("taffrail client registration").digest();
  return createHmac("sha256", key).update(body).digest().subarray(0, MAC_BYTES);
}
