import { timingSafeEqual } from "node:crypto";
import type { AgentScope } from "../keys/scopes.ts";
import type { Origin } from "../platform/origin.ts";
import { isSameResource } from "./authorization-request.ts";
import {
  deleteGrant,
  findGrant,
  findGrantByCode,
  findGrantByToken,
  GRANT_LIMITS,
  type GrantRow,
  grantEnd,
  rotateGrant,
} from "./store.ts";
import { isOfGrant, mintGrantToken, newAccessToken, type OpenedGrantToken } from "./tokens.ts";

// Plain data only. These shapes cross versions during a deploy: add optional members only.

/** A code that a client exchanges for tokens. */
export interface CodeExchange {
  /** Hex SHA-256 of the code. */
  codeHash: string;
  clientId: string;
  redirectUri: string;
  /** SHA-256 of the PKCE verifier, base64url. */
  challenge: string;
  /** The resources that the request names. */
  resources: readonly string[];
}

/** A refresh token that a client exchanges for its successor. */
export interface GrantRefresh {
  /** Its outer MAC has been verified, so forgeries never get here. */
  token: OpenedGrantToken;
  clientId: string;
  resources: readonly string[];
  /** The scopes that the request names; `null` without any. */
  scopes: readonly string[] | null;
}

/** An exchange, as a call of the workspace object. */
export type GrantExchange = ({ kind: "code"; sent: CodeExchange } | { kind: "refresh"; sent: GrantRefresh }) & {
  origin: Origin;
};

/** A token that a client revokes. */
export type PresentedGrantToken =
  | { kind: "refresh"; token: OpenedGrantToken; clientId: string | null }
  /** Hex SHA-256 of an access token. */
  | { kind: "access"; hash: string; clientId: string | null };

export interface IssuedTokens {
  accessToken: string;
  refreshToken: string;
  /** Seconds. */
  expiresIn: number;
  scopes: readonly AgentScope[];
}

/** Why a grant ended with a refused request: a code or a refresh token was presented again. */
export type ReuseKind = "code" | "refresh_token";

export type Exchanged =
  | { ok: true; tokens: IssuedTokens; grantId: string }
  /** `ended`: the grant that this request ended. */
  | {
      ok: false;
      error: "invalid_grant" | "invalid_target" | "invalid_scope";
      ended?: { grant: { id: string; userId: string; clientName: string }; reuse: ReuseKind };
    };

const INVALID: Exchanged = { ok: false, error: "invalid_grant" };

/** What an exchange happens in. */
export interface ExchangePorts {
  workspaceId: string;
  pepper: string;
  /** Milliseconds in which a superseded refresh token is refused without ending its grant. */
  leewayMs: number;
  isMember(userId: string): boolean;
}

/**
 * Exchanges a code in one synchronous block, so no other request runs between read and write. A wrong verifier, client or
 * redirect URI uses the code up. A code that was exchanged before ends its grant.
 */
export function exchangeCode(sql: SqlStorage, sent: CodeExchange, ports: ExchangePorts, now: number): Exchanged {
  const grant = findGrantByCode(sql, sent.codeHash);
  if (grant === null) return INVALID;
  if (grant.counter > 0) return endedBy(sql, grant, "code");
  const isRight =
    grantEnd(grant) > now &&
    ports.isMember(grant.userId) &&
    grant.clientId === sent.clientId &&
    grant.redirectUri === sent.redirectUri &&
    isSame(grant.codeChallenge, sent.challenge);
  if (!isRight) {
    deleteGrant(sql, grant.id);
    return INVALID;
  }
  if (!isForResource(grant, sent.resources)) return { ok: false, error: "invalid_target" };
  return issued(sql, grant, ports, now);
}

/**
 * Compares and rotates in one synchronous block. A token that the grant's key did not make, or that is ahead of its counter,
 * changes nothing. A superseded one ends the grant.
 */
export function refreshGrant(sql: SqlStorage, sent: GrantRefresh, ports: ExchangePorts, now: number): Exchanged {
  const { token } = sent;
  const grant = findGrant(sql, token.grantId);
  if (grant === null || grant.counter === 0 || !isOfGrant(token, grant.key, ports.pepper)) return INVALID;
  if (token.counter > grant.counter || grant.clientId !== sent.clientId) return INVALID;
  if (grantEnd(grant) <= now || !ports.isMember(grant.userId)) {
    deleteGrant(sql, grant.id);
    return INVALID;
  }
  if (token.counter < grant.counter) {
    const isJustSuperseded = token.counter === grant.counter - 1 && now - grant.refreshedAt < ports.leewayMs;
    return isJustSuperseded ? INVALID : endedBy(sql, grant, "refresh_token");
  }
  if (!isForResource(grant, sent.resources)) return { ok: false, error: "invalid_target" };
  const isWider = sent.scopes?.some((scope) => !grant.scopes.some((granted) => granted === scope)) ?? false;
  if (isWider) return { ok: false, error: "invalid_scope" };
  return issued(sql, grant, ports, now);
}

function issued(sql: SqlStorage, grant: GrantRow, { workspaceId, pepper }: ExchangePorts, now: number): Exchanged {
  const access = newAccessToken(workspaceId);
  rotateGrant(sql, grant.id, access.hash, now);
  const link = { workspaceId, grantId: grant.id, counter: grant.counter + 1 };
  const tokens = {
    accessToken: access.secret,
    refreshToken: mintGrantToken(link, grant.key, pepper),
    expiresIn: GRANT_LIMITS.accessSeconds,
    scopes: grant.scopes,
  };
  return { ok: true, tokens, grantId: grant.id };
}

function endedBy(sql: SqlStorage, { id, userId, clientName }: GrantRow, reuse: ReuseKind): Exchanged {
  deleteGrant(sql, id);
  return { ok: false, error: "invalid_grant", ended: { grant: { id, userId, clientName }, reuse } };
}

function isForResource(grant: GrantRow, resources: readonly string[]): boolean {
  return resources.every((named) => isSameResource(named, grant.resource));
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Ends the grant of a genuine token, current or superseded. @returns the grant; `null` if the token is of none, or of another client */
export function revokeByToken(sql: SqlStorage, presented: PresentedGrantToken, pepper: string): GrantRow | null {
  const grant =
    presented.kind === "access"
      ? (findGrantByToken(sql, presented.hash)?.grant ?? null)
      : findGrant(sql, presented.token.grantId);
  if (grant === null || (presented.clientId !== null && presented.clientId !== grant.clientId)) return null;
  if (presented.kind === "refresh" && !isOfGrant(presented.token, grant.key, pepper)) return null;
  deleteGrant(sql, grant.id);
  return grant;
}
