import { type LocatedToken, newLocatedToken, parseLocatedToken, SECRET_LENGTH } from "./located-token.ts";

/** Prefix of a key; `located-token.ts` has the format. */
const PREFIX = "sk_";
/** Prefix of the sandbox's key, so that users recognize it. */
const DEMO_PREFIX = "sk_demo_";
/** Secret base62 characters of a key. */
export const KEY_SECRET_LENGTH = SECRET_LENGTH;
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

export type ParsedApiKey = LocatedToken;

export function newApiKey(workspaceId: string): NewApiKey {
  return withPrefix(newLocatedToken(PREFIX, workspaceId));
}

/** Creates the sandbox's key from its secret part: `KEY_SECRET_LENGTH` base62 characters, derived instead of random. */
export function newDemoKey(workspaceId: string, secret: string): NewApiKey {
  return withPrefix(newLocatedToken(DEMO_PREFIX, workspaceId, secret));
}

function withPrefix({ secret, hash }: Omit<NewApiKey, "prefix">): NewApiKey {
  return { secret, hash, prefix: secret.slice(0, SHOWN_LENGTH) };
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
  return parseLocatedToken(DEMO_PREFIX, token) ?? parseLocatedToken(PREFIX, token);
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
