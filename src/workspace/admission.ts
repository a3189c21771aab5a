import { hasScope } from "../keys/scopes.ts";
import { endOf, findKeyByHash, type KeyRow, touchKey } from "../keys/store.ts";
import type { Cascade } from "../limits/cascade.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Charge, LimitState } from "../limits/state.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import { exists } from "../platform/sql.ts";
import { type Failure, fail } from "../rpc/result.ts";
import { recordAudit } from "./audit.ts";
import { roleOf } from "./members.ts";
import { type Caller, type Requirement, type Role, roleAtLeast, type SessionUse } from "./permissions.ts";
import { findProject, findProjectByNum, type ProjectRow } from "./projects.ts";

/** Sessions kept in memory: a few members' at a time. */
const REMEMBERED = 1000;

/**
 * The sign-ins to a workspace: the first use of each session has one audit item. Which sessions have theirs is on disk, and
 * in memory for those seen of late, so a request costs a row read at most.
 */
export class AuditedSessions {
  readonly #sql: SqlStorage;
  readonly #seen = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** To be called in the transaction that admits a member's request. */
  note(userId: string, { id, method, origin }: SessionUse, now: number): void {
    if (this.#seen.has(id)) return;
    if (this.#seen.size >= REMEMBERED) this.#seen.clear();
    this.#seen.add(id);
    const insert = "INSERT OR IGNORE INTO audited_sessions (session, at) VALUES (?, ?) RETURNING 1";
    if (!exists(this.#sql, insert, id, now)) return;
    const entry = { actor: userId, action: "session.start", target: id } as const;
    recordAudit(this.#sql, method === null ? entry : { ...entry, after: { method } }, origin, now);
  }

  /** What was written is gone: after a rollback, and when everything has been deleted. */
  forget(): void {
    this.#seen.clear();
  }
}

/** Keys and projects kept in memory between two transactions at most; past it all are read again. */
const MAX_CACHED = 10_000;

/**
 * Keys and projects as the hot path reads them: a cache of their rows, one shared object per project.
 *
 * The object is their only writer, so the cache is exact as long as every change of a key or project is followed by
 * `clear`, and every rolled back transaction too. `lastSeq` alone is changed in place, by the commit that writes it.
 */
export class KeyProjectCache {
  readonly #sql: SqlStorage;
  readonly #keys = new Map<string, KeyRow>();
  readonly #projects = new Map<number, ProjectRow>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  key(hash: string): KeyRow | null {
    const known = this.#keys.get(hash);
    if (known) return known;
    const key = findKeyByHash(this.#sql, hash);
    if (key) this.#keys.set(hash, key);
    return key;
  }

  projectByNum(num: number): ProjectRow | null {
    const known = this.#projects.get(num);
    if (known) return known;
    const project = findProjectByNum(this.#sql, num);
    if (project) this.#projects.set(num, project);
    return project;
  }

  projectById(id: string): ProjectRow | null {
    return findProject(this.#sql, id);
  }

  /**
   * Bounds memory. Only between two transactions: within one a project's row is the only place that knows the `lastSeq`
   * it has risen to.
   */
  trim(): void {
    if (this.#keys.size + this.#projects.size > MAX_CACHED) this.clear();
  }

  clear(): void {
    this.#keys.clear();
    this.#projects.clear();
  }
}

/** A counter that holds something now, as `GET /workspaces/{id}/rate-limits` shows it. */
export interface LiveCounter {
  /** `key:<keyId>` or `user:<userId>`. */
  identifier: string;
  /** Method and path of a rule, `default`, or `API_DEFAULT`. */
  rule: string;
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the oldest counted request leaves the window. */
  resetAt: number;
}

/** Counters looked at: a workspace with more than these sees those that began to count first. */
const LOOKED_AT = 1000;

/** What counts now under the configuration; counters of rules that are gone do not. */
export function liveCounters({ limiter, limits }: AdmissionContext, now: number): LiveCounter[] {
  const live: LiveCounter[] = [];
  for (const counter of limiter.identifiers(now, LOOKED_AT)) {
    const [identifier = ""] = counter.split(" ", 1);
    const applied = limits.limitOfCounter(counter.slice(identifier.length));
    if (!applied) continue;
    const { rule, limit, windowSeconds } = applied;
    const { remaining, resetAt } = limiter.peek({ identifier: counter, limit, windowSeconds, cost: 1 }, now);
    if (remaining < limit) live.push({ identifier, rule, limit, remaining, resetAt });
  }
  return live;
}

/** What admission works on: the object's storage, its limiter and its configuration. */
export interface AdmissionContext {
  sql: SqlStorage;
  keyProjectCache: KeyProjectCache;
  limiter: Limiter;
  violations: ViolationOutbox;
  limits: Cascade;
  sessions: AuditedSessions;
}

/** An admitted caller. */
export interface Admitted {
  ok: true;
  /** Null when the request was not counted, being a later step of one that was. */
  limit: LimitState | null;
  /** The caller's role; null for a key. */
  role: Role | null;
  /** The project the request is about; null only for a user who named none. */
  project: ProjectRow | null;
}

/**
 * Decides in one synchronous turn, in this order: is the credential known, revoked, expired; does the request fit the
 * limit; does the project exist for this caller; is the scope or role enough. Everything a known caller sends counts.
 */
export function admit(
  admission: AdmissionContext,
  caller: Caller,
  requirement: Requirement,
  charge: Charge,
  now: number,
): Admitted | Failure {
  return caller.kind === "key"
    ? admitKey(admission, caller.hash, requirement, charge, now)
    : admitUser(admission, caller, requirement, charge, now);
}

function admitKey(
  admission: AdmissionContext,
  hash: string,
  requirement: Requirement,
  charge: Charge,
  now: number,
): Admitted | Failure {
  const key = admission.keyProjectCache.key(hash);
  const bad = keyProblem(key, now);
  if (key === null || bad) return bad ?? unknownKey();
  const limit = count(admission, `key:${key.id}`, charge, now);
  if (limit && !limit.admitted) return limited(limit);
  touchKey(admission.sql, key, now);
  const project = projectOfKey(admission.keyProjectCache, key, requirement.projectId);
  if (project === null) {
    // One message for every other project, existing or not.
    const message = "Project not found. An API key works for its own project only.";
    return fail("NOT_FOUND", message, { limit });
  }
  if (requirement.scope !== null && !hasScope(key.scopes, requirement.scope)) {
    const message = `The API key lacks the scope ${requirement.scope}.`;
    return fail("INSUFFICIENT_SCOPE", message, { limit, scope: requirement.scope });
  }
  return { ok: true, limit, role: null, project };
}

function admitUser(
  admission: AdmissionContext,
  { userId, session }: Extract<Caller, { kind: "user" }>,
  requirement: Requirement,
  charge: Charge,
  now: number,
): Admitted | Failure {
  const role = roleOf(admission.sql, userId);
  if (role === null) return fail("NOT_FOUND", "Workspace not found.", { limit: null });
  const limit = count(admission, `user:${userId}`, charge, now);
  if (limit && !limit.admitted) return limited(limit);
  if (session) admission.sessions.note(userId, session, now);
  const project = requirement.projectId === null ? null : admission.keyProjectCache.projectById(requirement.projectId);
  if (requirement.projectId !== null && project === null) {
    return fail("NOT_FOUND", "Project not found.", { limit });
  }
  if (!roleAtLeast(role, requirement.role)) {
    return { ok: false, code: "FORBIDDEN", message: `This requires the role ${requirement.role}.`, limit };
  }
  return { ok: true, limit, role, project };
}

/** A key belongs to one project: named together with another one, that other one does not exist for it. */
function projectOfKey(keyProjectCache: KeyProjectCache, key: KeyRow, named: string | null): ProjectRow | null {
  const own = keyProjectCache.projectByNum(key.project);
  return named === null || named === own?.id ? own : null;
}

type KeyProblem = Failure<"INVALID_API_KEY" | "API_KEY_REVOKED" | "API_KEY_EXPIRED">;

/** Why a key no longer works, if so. */
export function keyProblem(key: KeyRow | null, now: number): KeyProblem | null {
  if (key === null) return unknownKey();
  if (key.revokedAt !== null) {
    return fail("API_KEY_REVOKED", "The API key has been revoked.", { limit: null });
  }
  const end = endOf(key);
  if (end !== null && end <= now) {
    return fail("API_KEY_EXPIRED", "The API key has expired.", { limit: null });
  }
  return null;
}

export function unknownKey(): KeyProblem {
  return fail("INVALID_API_KEY", "The API key is not valid.", { limit: null });
}

function limited(limit: LimitState): Failure {
  return fail("RATE_LIMITED", "Too many requests", { limit });
}

/** @returns `null` if the request has been counted earlier */
function count(admission: AdmissionContext, identifier: string, charge: Charge, now: number): LimitState | null {
  if (charge.by === "earlier") return null;
  const { route } = charge;
  const { limit, windowSeconds, rule, suffix } = admission.limits.limitOf(route);
  const state = admission.limiter.check({ identifier: identifier + suffix, limit, windowSeconds, cost: 1 }, now);
  if (state.admitted) return state;
  admission.violations.recordRefusal({ identifier, rule, limit, windowSeconds, requestId: route.requestId }, now);
  return { ...state, refusedBy: { rule, windowSeconds, identifier } };
}
