import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BASE62, ID_LENGTH, isBase62, randomBase62 } from "../ids.ts";

/**
 * A token that names its workspace: a prefix, 12 base62 characters of the workspace id, 30 of secret (178 bits), 6 of CRC-32
 * over all before.
 *
 * The locator identifies the object that decides about the token, so that one call is enough. The checksum keeps mistyped
 * tokens from waking an object. It proves nothing; the stored SHA-256 does.
 */

/** Secret base62 characters of a token. */
export const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = ID_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH;

export interface NewLocatedToken {
  /** The whole token, shown once and never stored. */
  secret: string;
  /** Hex SHA-256 of the whole token. */
  hash: string;
}

export interface LocatedToken {
  workspaceId: string;
  hash: string;
}

export function newLocatedToken(
  prefix: string,
  workspaceId: string,
  secret = randomBase62(SECRET_LENGTH),
): NewLocatedToken {
  const body = `${prefix}${workspaceId.slice(3)}${secret}`;
  const token = body + checksum(body);
  return { secret: token, hash: sha256Hex(token) };
}

/** Returns the workspace and hash of a well-formed token; `null` for any other text. */
export function parseLocatedToken(prefix: string, token: string): LocatedToken | null {
  if (!token.startsWith(prefix) || token.length !== prefix.length + BODY_LENGTH) return null;
  if (!isBase62(token, prefix.length)) return null;
  const checked = token.length - CHECKSUM_LENGTH;
  if (checksum(token.slice(0, checked)) !== token.slice(checked)) return null;
  return { workspaceId: `ws_${token.slice(prefix.length, prefix.length + ID_LENGTH)}`, hash: sha256Hex(token) };
}

function checksum(body: string): string {
  let rest = crc32(body);
  let out = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    out = BASE62.charAt(rest % 62) + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}

function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
