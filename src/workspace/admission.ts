import { findGrantByToken, type GrantRow, grantEnd, touchGrant } from "../grants/store.ts";
import { hasScope, SCOPES, scopesToMask } from "../keys/scopes.ts";
import { endOf, findKeyByHash, type KeyRow, touchKey } from "../keys/store.ts";
import type { Cascade } from "../limits/cascade.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Charge, LimitState } from "../limits/state.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import { type Failure, fail } from "../rpc/result.ts";
import type { AuditedSessions } from "./audited-sessions.ts";
import { countRefused, type FrequentCounts } from "./ledger.ts";
import { roleOf } from "./members.ts";
import { type Caller, type Requirement, type Role, roleAtLeast } from "./permissions.ts";
import { findProject, findProjectByNum, type ProjectRow, type Readable } from "./projects.ts";
import type { RecordIds } from "./record-ids.ts";

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
export interface Admitted extends Readable {
  ok: true;
  /** `null` if the request was not counted because an earlier step counted it. */
  limit: LimitState | null;
  /** The caller's role, or that of the user behind an agent's token; `null` for a key. */
  role: Role | null;
  /** The id of the user, of the user behind an agent's token, or of the key. */
  actor: string;
  /** The grant of an agent that may read several projects and named none. */
  grantId?: string;
  /** The project of the request; `null` only for a user who named none, and for an agent with such a grant or with one of all projects. */
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
  switch (caller.kind) {
    case "key":
      return admitKey(admission, caller.hash, requirement, charge, now);
    case "grant":
      return admitGrant(admission, caller.hash, requirement, charge, now);
    case "user":
      return admitUser(admission, caller, requirement, charge, now);
  }
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
    return fail("NOT_FOUND", "Project not found. An API key works for its own project only.", { limit });
  }
  const { scope } = requirement;
  const keyScope = SCOPES.find((each) => each === scope) ?? null;
  if (scope !== null && (keyScope === null || !hasScope(key.scopes, keyScope))) {
    return fail("INSUFFICIENT_SCOPE", `The API key lacks the scope ${scope}.`, { limit, scope });
  }
  if (requirement.isOnlyScope && key.scopes !== scopesToMask(keyScope === null ? [] : [keyScope])) {
    const message = `A key in a URL may have the scope ${scope} only. Use another key, or send it in a header.`;
    return fail("INSUFFICIENT_SCOPE", message, { limit });
  }
  return { ok: true, limit, role: null, actor: key.id, project };
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
  return { ok: true, limit, role, actor: userId, project };
}

/**
 * An agent's token has no more rights than the member who granted it has now. The order of the checks is that of a key; the
 * role comes last.
 */
function admitGrant(
  admission: AdmissionContext,
  hash: string,
  { scope, role: needed, projectId }: Requirement,
  charge: Charge,
  now: number,
): Admitted | Failure {
  const found = findGrantByToken(admission.sql, hash);
  const problem = grantProblem(found, now);
  if (found === null || problem) return problem ?? unknownToken();
  const { grant } = found;
  const role = roleOf(admission.sql, grant.userId);
  if (role === null) return unknownToken();
  const limit = count(admission, `grant:${grant.id}`, charge, now);
  if (limit && !limit.admitted) return limited(limit);
  touchGrant(admission.sql, grant, now);
  const readable = projectsOfGrant(admission.keyProjectCache, grant, projectId);
  if (readable === null) {
    // The same message for every other project, whether it exists or not.
    const message = "Project not found. The token works for the projects that it was granted.";
    return fail("NOT_FOUND", message, { limit });
  }
  if (scope === null || !grant.scopes.some((each) => each === scope)) {
    const message = scope === null ? "An agent's token does not work here." : `The token lacks the scope ${scope}.`;
    return fail("INSUFFICIENT_SCOPE", message, { limit, ...(scope === null ? {} : { scope }) });
  }
  if (!roleAtLeast(role, needed)) {
    return fail("FORBIDDEN", `This requires the role ${needed} of the user who granted the token.`, { limit });
  }
  return { ok: true, limit, role, actor: grant.userId, ...readable };
}

/** Returns what a grant reads: the named project, its only one, or all of its projects. `null`: not the named one. */
function projectsOfGrant(
  cache: KeyProjectCache,
  { id, projects }: GrantRow,
  named: string | null,
): Pick<Admitted, "project" | "granted" | "grantId"> | null {
  if (named !== null) {
    const project = cache.projectById(named);
    return project && (projects === null || projects.includes(project.num)) ? { project } : null;
  }
  if (projects === null) return { project: null };
  const [only] = projects;
  if (projects.length > 1 || only === undefined) return { project: null, granted: projects, grantId: id };
  const project = cache.projectByNum(only);
  return project && { project };
}

/** Returns why an agent's token is no longer valid, or `null`. */
export function grantProblem(
  found: ReturnType<typeof findGrantByToken>,
  now: number,
): Failure<"INVALID_ACCESS_TOKEN" | "ACCESS_TOKEN_EXPIRED"> | null {
  if (found === null || grantEnd(found.grant) <= now) return unknownToken();
  const message = "The access token has expired. Get a new one with the refresh token.";
  return found.expiresAt > now ? null : fail("ACCESS_TOKEN_EXPIRED", message, { limit: null });
}

function unknownToken(): Failure<"INVALID_ACCESS_TOKEN"> {
  return fail("INVALID_ACCESS_TOKEN", "The access token is not valid, or its grant has ended.", { limit: null });
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
