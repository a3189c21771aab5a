import { hasScope, scopesToMask } from "../keys/scopes.ts";
import { endOf, findKeyByHash, type KeyRow, touchKey } from "../keys/store.ts";
import type { Cascade } from "../limits/cascade.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Charge, LimitState } from "../limits/state.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import { exists } from "../platform/sql.ts";
import { type Failure, fail } from "../rpc/result.ts";
import { recordAudit } from "./audit.ts";
import { countRefused, type FrequentCounts } from "./ledger.ts";
import { roleOf } from "./members.ts";
import { type Caller, type Requirement, type Role, roleAtLeast, type SessionUse } from "./permissions.ts";
import { findProject, findProjectByNum, type ProjectRow } from "./projects.ts";
import type { RecordIds } from "./record-ids.ts";

/** Maximum number of sessions in memory: enough for a few members at a time. */
const REMEMBERED = 1000;

/**
 * The sign-ins to a workspace: the first use of each session has one audit item. The disk records which sessions have
 * an item, and memory the recent ones, so a request costs at most one row read.
 */
export class AuditedSessions {
  readonly #sql: SqlStorage;
  readonly #seen = new Set<string>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Records the session if this is its first use. Call in the transaction that admits the request. */
  note(userId: string, { id, method, origin }: SessionUse, now: number): void {
    if (this.#seen.has(id)) return;
    if (this.#seen.size >= REMEMBERED) this.#seen.clear();
    this.#seen.add(id);
    const insert = "INSERT OR IGNORE INTO audited_sessions (session, at) VALUES (?, ?) RETURNING 1";
    if (!exists(this.#sql, insert, id, now)) return;
    const entry = { actor: userId, action: "session.start", target: id } as const;
    recordAudit(this.#sql, method === null ? entry : { ...entry, after: { method } }, origin, now);
  }

  /** Drops the cache. Call after a rollback, and after all data was deleted. */
  forget(): void {
    this.#seen.clear();
  }
}

/** Maximum number of cached keys and projects between two transactions. Above it the cache is dropped. */
const MAX_CACHED = 10_000;

/**
 * Keys and projects for the hot path: a cache of their rows, with one shared object per project.
 *
 * The object is the only writer of the rows. The cache is exact if `clear` is called after every change of a key or
 * project and after every rollback. Only `lastSeq` is changed in place, by the commit that writes it.
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
   * Bounds memory. Call only between two transactions: within a transaction, only the cached project has its risen
   * `lastSeq`.
   */
  trim(): void {
    if (this.#keys.size + this.#projects.size > MAX_CACHED) this.clear();
  }

  clear(): void {
    this.#keys.clear();
    this.#projects.clear();
  }
}

/** A counter with requests in its window, as `GET /workspaces/{id}/rate-limits` returns it. */
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

/** Maximum number of counters scanned. A workspace with more sees the oldest ones. */
const LOOKED_AT = 1000;

/** Returns the counters of the current configuration, without those of removed rules. */
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

/** The storage, limiter and configuration that admission uses. */
export interface AdmissionContext {
  sql: SqlStorage;
  keyProjectCache: KeyProjectCache;
  limiter: Limiter;
  violations: ViolationOutbox;
  limits: Cascade;
  sessions: AuditedSessions;
  frequent: FrequentCounts;
  recordIds: RecordIds;
}

/** An admitted caller. */
export interface Admitted {
  ok: true;
  /** `null` if the request was not counted because an earlier step counted it. */
  limit: LimitState | null;
  /** The caller's role; `null` for a key. */
  role: Role | null;
  /** The project of the request; `null` only for a user who named none. */
  project: ProjectRow | null;
}

/**
 * Decides in one synchronous turn, in this order: whether the credential is known, revoked or expired; whether the
 * request fits the limit; whether the project exists for this caller; whether scope or role suffice. Every request of a
 * known caller counts.
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

/**
 * Admits a request by a call that does nothing else. A request that would have written entries is refused then, and the
 * ledger counts it.
 */
export function admitAlone(
  admission: AdmissionContext,
  caller: Caller,
  requirement: Requirement,
  charge: Charge,
  now: number,
): Admitted | Failure {
  const admitted = admit(admission, caller, requirement, charge, now);
  const key =
    caller.kind === "key" && requirement.scope === "logs:write" ? admission.keyProjectCache.key(caller.hash) : null;
  if (admitted.ok && key !== null) countRefused(admission.sql, admission.frequent, key.project, key.id, now);
  return admitted;
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
  const limit = count(admission, `key:${key.id}`, chargeIn(admission.keyProjectCache, key, charge), now);
  if (limit && !limit.admitted) return limited(limit);
  touchKey(admission.sql, key, now);
  const project = projectOfKey(admission.keyProjectCache, key, requirement.projectId);
  if (project === null) {
    // The same message for every other project, whether it exists or not.
    const message = "Project not found. An API key works for its own project only.";
    return fail("NOT_FOUND", message, { limit });
  }
  if (requirement.scope !== null && !hasScope(key.scopes, requirement.scope)) {
    const message = `The API key lacks the scope ${requirement.scope}.`;
    return fail("INSUFFICIENT_SCOPE", message, { limit, scope: requirement.scope });
  }
  if (requirement.isOnlyScope && key.scopes !== scopesToMask(requirement.scope === null ? [] : [requirement.scope])) {
    const message = `A key in a URL may have the scope ${requirement.scope} only. Use another key, or send it in a header.`;
    return fail("INSUFFICIENT_SCOPE", message, { limit });
  }
  return { ok: true, limit, role: null, project };
}

/** Returns a charge with the path of the key's own project, if the router does not know the project. */
function chargeIn(keyProjectCache: KeyProjectCache, key: KeyRow, charge: Charge): Charge {
  if (charge.by === "earlier" || charge.route.path !== "") return charge;
  const project = keyProjectCache.projectByNum(key.project)?.id ?? "";
  const path = charge.route.pattern.replace(":projectId", project);
  return { by: "route", route: { ...charge.route, path } };
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

/** A key belongs to one project. Any other project in the request does not exist for the key. */
function projectOfKey(keyProjectCache: KeyProjectCache, key: KeyRow, named: string | null): ProjectRow | null {
  const own = keyProjectCache.projectByNum(key.project);
  return named === null || named === own?.id ? own : null;
}

type KeyProblem = Failure<"INVALID_API_KEY" | "API_KEY_REVOKED" | "API_KEY_EXPIRED">;

/** Returns why a key is no longer valid, or `null`. */
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
