import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { looksLikeApiKey, type ParsedApiKey, parseApiKey } from "../../keys/api-key.ts";
import { countByAddress } from "../guards/address.ts";

/** Headers that contain a key and nothing else. */
const KEY_HEADERS = ["DD-API-KEY", "X-Api-Key", "X-Amz-Firehose-Access-Key"] as const;
/** Parameters of the query that contain a key. */
const KEY_PARAMETERS: readonly string[] = ["key", "api_key", "token", "sentry_key", "dd-api-key"];
/** Parameter of a route's path that contains a key. */
const KEY_IN_PATH = "key";
const INVALID = "The credential is not a valid API key.";

/** The key of a request in the protocol of another client. */
export interface DoorKey extends ParsedApiKey {
  /** Whether the key was in the URL, which logs and proxies may keep. */
  isOpen: boolean;
}

interface FoundKey {
  text: string;
  isOpen: boolean;
}

/** A request whose beginning was read. */
export interface KeyInBody {
  /** The text in the place of the key; `null` without one. */
  text: string | null;
  /** The request, with its whole body. */
  request: Request;
}

/**
 * Returns the API key of a request, from any place where a client can put one. Counts other requests by client IP.
 * @param keyInBody finds a key in the body of a request that has none elsewhere
 */
export async function requireDoorKey(
  c: Context<AppEnv>,
  keyInBody?: (request: Request) => Promise<KeyInBody>,
): Promise<DoorKey> {
  const found = findKey(c) ?? (keyInBody ? await findKeyInBody(c, keyInBody) : null);
  const key = found && looksLikeApiKey(found.text) ? parseApiKey(found.text) : null;
  if (found && key) return { ...key, isOpen: found.isOpen };
  await countByAddress(c, "API_DEFAULT");
  return found === null
    ? refuse("UNAUTHORIZED", "Send an API key, for example as Authorization: Bearer.")
    : refuse("INVALID_API_KEY", INVALID);
}

/** Refuses a credential that cannot be a key, on routes that need none. The request is counted already. */
export function refuseMalformedKey(c: Context<AppEnv>): void {
  const found = findKey(c);
  const isKey = found === null || (looksLikeApiKey(found.text) && parseApiKey(found.text) !== null);
  if (!isKey) refuse("INVALID_API_KEY", INVALID);
}

function findKey(c: Context<AppEnv>): FoundKey | null {
  const authorization = c.req.header("Authorization");
  const text =
    (authorization ? keyOfAuthorization(authorization) : undefined) ??
    KEY_HEADERS.map((name) => c.req.header(name)).find((value) => value) ??
    keyOfSentry(c.req.header("X-Sentry-Auth"));
  if (text) return { text, isOpen: false };
  const open = c.req.param(KEY_IN_PATH) ?? KEY_PARAMETERS.map((name) => c.req.query(name)).find((value) => value);
  return open ? { text: open, isOpen: true } : null;
}

async function findKeyInBody(
  c: Context<AppEnv>,
  keyInBody: (request: Request) => Promise<KeyInBody>,
): Promise<FoundKey | null> {
  const { text, request } = await keyInBody(c.req.raw);
  c.req.raw = request;
  // Pages contain such keys, as they contain those in a URL.
  return text === null ? null : { text, isOpen: true };
}

/** Returns the key of an `Authorization` header: of a scheme with a token, of Basic, or the key alone. */
export function keyOfAuthorization(header: string): string | undefined {
  const [, scheme = "", token = ""] = /^(\S+) +(\S.*)$/.exec(header.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "":
      return header.trim();
    case "basic": {
      const [user = "", ...password] = decodeBase64(token).split(":");
      return password.join(":") || user;
    }
    case "apikey":
      // Elasticsearch sends base64 of `id:key`.
      return looksLikeApiKey(token) ? token : (decodeBase64(token).split(":", 2)[1] ?? token);
    default:
      return token;
  }
}

function decodeBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}

/** `Sentry sentry_version=7, sentry_key=sk_..., sentry_client=...` */
function keyOfSentry(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /\bsentry_key=([^\s,]+)/.exec(header)?.[1];
}

const NO_QUERY = new URLSearchParams();

/** Returns the query, which must not be changed: requests without one share it. Most requests have none, and parsing a URL costs as much as reading some records. */
export function queryOf({ req: { url } }: Context<AppEnv>): URLSearchParams {
  return url.includes("?") ? new URL(url).searchParams : NO_QUERY;
}

/**
 * Returns path and query of a request without credentials: the route's pattern with its parameters.
 * @param pattern of the route
 */
export function pathWithoutKey(c: Context<AppEnv>, pattern: string): string {
  const sent = queryOf(c);
  const path = pattern.replace(/:(\w+)/g, (whole, name: string) => {
    return name === KEY_IN_PATH ? whole : (c.req.param(name) ?? "");
  });
  if (sent.size === 0) return `${path}?`;
  const query = new URLSearchParams(sent);
  for (const name of KEY_PARAMETERS) query.delete(name);
  return `${path}?${query}`;
}
