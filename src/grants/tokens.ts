import { isId } from "../ids.ts";
import { type LocatedToken, newLocatedToken, parseLocatedToken } from "../keys/located-token.ts";
import { isMadeWith, mintToken, openToken } from "../platform/derived-token.ts";

/** Tokens of a grant: the code of the authorization, access tokens, and the chain of refresh tokens. */

const ACCESS_PREFIX = "oa_";
const CODE_PREFIX = "oc_";
/** A derived token whose text is workspaceId.grantId.counter. The grant has the key. */
const REFRESH = { prefix: "or_", label: "taffrail grant refresh" } as const;
const COUNTER = /^[1-9]\d{0,14}$/;

export const newAccessToken = (workspaceId: string) => newLocatedToken(ACCESS_PREFIX, workspaceId);
export const newCode = (workspaceId: string) => newLocatedToken(CODE_PREFIX, workspaceId);

/** Whether a bearer token has the prefix of an agent's access token; `parseAgentToken` validates the rest. */
export function looksLikeAgentToken(token: string): boolean {
  return token.startsWith(ACCESS_PREFIX);
}

/** Returns the workspace and hash of a well-formed access token; `null` for any other text. */
export function parseAgentToken(token: string): LocatedToken | null {
  return parseLocatedToken(ACCESS_PREFIX, token);
}

export function parseCode(code: string): LocatedToken | null {
  return parseLocatedToken(CODE_PREFIX, code);
}

/** One link of a grant's chain; the counter starts at 1 and rises by one with every rotation. */
export interface GrantLink {
  workspaceId: string;
  grantId: string;
  counter: number;
}

/** A refresh token with a valid outer MAC: issued by this service, but possibly superseded or of a grant that has ended. */
export interface OpenedGrantToken extends GrantLink {
  innerMac: Uint8Array;
}

export function mintGrantToken(link: GrantLink, key: Uint8Array, pepper: string): string {
  return mintToken(REFRESH, textOf(link), key, pepper);
}

/** Opens a refresh token in the router; `null` if it is forged, malformed or spelled otherwise than minted. */
export function openGrantToken(token: string, pepper: string): OpenedGrantToken | null {
  const opened = openToken(REFRESH, token, pepper);
  const link = opened && parseText(opened.text);
  return link && { ...link, innerMac: opened.innerMac };
}

/** Whether an opened refresh token was made with its grant's key; called in the workspace object. */
export function isOfGrant(token: OpenedGrantToken, key: Uint8Array, pepper: string): boolean {
  return isMadeWith(REFRESH, { text: textOf(token), innerMac: token.innerMac }, key, pepper);
}

function textOf({ workspaceId, grantId, counter }: GrantLink): string {
  return `${workspaceId}.${grantId}.${counter}`;
}

function parseText(text: string): GrantLink | null {
  const [workspaceId = "", grantId = "", counter = "", ...rest] = text.split(".");
  if (rest.length > 0 || !isId("ws", workspaceId) || !isId("grant", grantId) || !COUNTER.test(counter)) return null;
  return { workspaceId, grantId, counter: Number(counter) };
}
