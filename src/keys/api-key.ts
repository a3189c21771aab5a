import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BASE62, ID_LENGTH, isBase62, randomBase62 } from "../ids.ts";

/**
 * `sk_` + 12 base62 of the workspace's id + 30 base62 of secret (178 bits) + 6 base62 of CRC-32 over all before it.
 * The locator makes one hop enough: the key itself says which object decides. The checksum keeps typos and garbage from
 * waking any object; it is no proof of anything, the stored SHA-256 is.
 */
const PREFIX = "sk_";
/** The sandbox's key is told apart at a glance. */
const DEMO_PREFIX = "sk_demo_";
/** Base62 characters of a key that are secret. */
export const KEY_SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = ID_LENGTH + KEY_SECRET_LENGTH + CHECKSUM_LENGTH;
/** Characters of a key that lists may show. */
const SHOWN_LENGTH = 18;

export interface NewApiKey {
  /** The whole key, shown once and stored nowhere. */
  secret: string;
  /** Hex SHA-256 of the whole key. */
  hash: string;
  /** The first 18 characters. */
  prefix: string;
}

export interface ParsedApiKey {
  workspaceId: string;
  hash: string;
}

export function newApiKey(workspaceId: string): NewApiKey {
  return finish(`${PREFIX}${workspaceId.slice(3)}${randomBase62(KEY_SECRET_LENGTH)}`);
}

/** The sandbox's key, whose secret part is not random: `KEY_SECRET_LENGTH` base62 characters. */
export function newDemoKey(workspaceId: string, secret: string): NewApiKey {
  return finish(`${DEMO_PREFIX}${workspaceId.slice(3)}${secret}`);
}

function finish(body: string): NewApiKey {
  const secret = body + checksum(body);
  return { secret, hash: sha256Hex(secret), prefix: secret.slice(0, SHOWN_LENGTH) };
}

/** Whether a bearer token claims to be an API key; `parseApiKey` says whether it can be one. */
export function looksLikeApiKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

/**
 * Parsed keys by their text: parsing is a pure function, and its hash and checksum cost a third of a small request.
 * Says nothing about whether a key is valid; only its object knows.
 */
const parsed = new Map<string, ParsedApiKey>();
const PARSED_MAX = 1000;

/** The workspace and hash of a well-formed key; null for anything that `newApiKey` cannot have made. */
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

/** Keys remembered at a time; the one that was accepted longest ago goes first. */
const MAX_KEYS = 4_096;

/**
 * Hashes of API keys that a workspace's object has accepted lately, for as long as the isolate lives. A hint, and no
 * authorisation: the object decides about each request. A key that is not here is asked about before a request with it
 * may cost much; a key that never existed cannot get here.
 */
export class AcceptedKeys {
  readonly #most: number;
  readonly #hashes = new Set<string>();

  constructor(most = MAX_KEYS) {
    this.#most = most;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  add(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    if (this.#hashes.size <= this.#most) return;
    const [oldest] = this.#hashes;
    if (oldest !== undefined) this.#hashes.delete(oldest);
  }

  delete(hash: string): void {
    this.#hashes.delete(hash);
  }
}

/** Those of this isolate. */
export const acceptedKeys = new AcceptedKeys();
