import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BASE62, ID_LENGTH, isBase62, randomBase62 } from "../ids.ts";

/**
 * Format of a key: `sk_`, 12 base62 characters of the workspace id, 30 of secret (178 bits), 6 of CRC-32 over all
 * before.
 *
 * The locator identifies the object that decides about the key, so that one call is enough. The checksum keeps mistyped
 * keys from waking an object. It proves nothing; the stored SHA-256 does.
 */
const PREFIX = "sk_";
/** Prefix of the sandbox's key, so that users recognize it. */
const DEMO_PREFIX = "sk_demo_";
/** Secret base62 characters of a key. */
export const KEY_SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = ID_LENGTH + KEY_SECRET_LENGTH + CHECKSUM_LENGTH;
/** Characters of a key that lists show. */
const SHOWN_LENGTH = 18;

export interface NewApiKey {
  /** The whole key, shown once and never stored. */
  secret: string;
  /** Hex SHA-256 of the whole key. */
  hash: string;
  /** The first 18 characters of the key. */
  prefix: string;
}

export interface ParsedApiKey {
  workspaceId: string;
  hash: string;
}

export function newApiKey(workspaceId: string): NewApiKey {
  return finish(`${PREFIX}${workspaceId.slice(3)}${randomBase62(KEY_SECRET_LENGTH)}`);
}

/** Creates the sandbox's key from its secret part: `KEY_SECRET_LENGTH` base62 characters, derived instead of random. */
export function newDemoKey(workspaceId: string, secret: string): NewApiKey {
  return finish(`${DEMO_PREFIX}${workspaceId.slice(3)}${secret}`);
}

function finish(body: string): NewApiKey {
  const secret = body + checksum(body);
  return { secret, hash: sha256Hex(secret), prefix: secret.slice(0, SHOWN_LENGTH) };
}

/** Whether a bearer token has the prefix of an API key; `parseApiKey` validates the rest. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

/**
 * Cache of parsed keys by their text, because hash and checksum cost a third of a small request. An entry does not mean
 * that the key is valid; only its object can decide that.
 */
const parsed = new Map<string, ParsedApiKey>();
const PARSED_MAX = 1000;

/** Returns the workspace and hash of a well-formed key; `null` for any other text. */
export function parseApiKey(token: string): ParsedApiKey | null {
  const known = parsed.get(token);
  if (known) return known;
  const key = parse(token);
  if (key) {
    if (parsed.size >= PARSED_MAX) parsed.clear();
    parsed.set(token, key);
  }
  return key;
}

function parse(token: string): ParsedApiKey | null {
  const prefix =
    token.startsWith(DEMO_PREFIX) && token.length === DEMO_PREFIX.length + BODY_LENGTH ? DEMO_PREFIX : PREFIX;
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

/** Keys cached at most. The one that was accepted longest ago is evicted first. */
const MAX_KEYS = 4_096;

/**
 * Hashes of API keys that a workspace object has recently accepted, per isolate.
 *
 * An entry is a hint, not an authorization: the object decides about each request. A key without an entry is checked
 * before its request may use many resources. A key that never existed cannot have an entry.
 */
export class AcceptedKeys {
  readonly #max: number;
  readonly #hashes = new Set<string>();

  constructor(max = MAX_KEYS) {
    this.#max = max;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  add(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    if (this.#hashes.size <= this.#max) return;
    const [oldest] = this.#hashes;
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }

  delete(hash: string): void {
    this.#hashes.delete(hash);
  }
}

/** The accepted keys of this isolate. */
export const acceptedKeys = new AcceptedKeys();
