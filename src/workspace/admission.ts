import { hasScope } from "../keys/scopes.ts";
import type { Cascade } from "../limits/cascade.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import type { AuditedSessions } from "./audited-sessions.ts";
import { type Caller, type Denied, type Requirement, type Role, roleAtLeast } from "./caller.ts";
import type { KeyProjectCache } from "./directory.ts";
import { endOf, type KeyRow, touchKey } from "./keys.ts";
import { roleOf } from "./members.ts";
import type { ProjectRow } from "./projects.ts";

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
 * @param route what the limit is looked up by; null for a later step of a request that has been counted already
 */
export function admit(
  admission: AdmissionContext,
  caller: Caller,
  requirement: Requirement,
  route: RouteRef | null,
  now: number,
): Admitted | Denied {
  return caller.kind === "key"
    ? admitKey(admission, caller.hash, requirement, route, now)
    : admitUser(admission, caller, requirement, route, now);
}

function admitKey(
  admission: AdmissionContext,
  hash: string,
  requirement: Requirement,
  route: RouteRef | null,
  now: number,
): Admitted | Denied {
  const key = admission.keyProjectCache.key(hash);
  const bad = keyProblem(key, now);
  if (key === null || bad) return bad ?? unknownKey();
  const limit = route ? count(admission, `key:${key.id}`, route, now) : null;
  if (limit && !limit.admitted) return limited(limit);
  touchKey(admission.sql, key, now);
  const project = projectOfKey(admission.keyProjectCache, key, requirement.projectId);
  if (project === null) return { ok: false, code: "NOT_FOUND", message: "There is no such project.", limit };
  if (requirement.scope !== null && !hasScope(key.scopes, requirement.scope)) {
    const message = `The API key lacks the scope ${requirement.scope}.`;
    return { ok: false, code: "INSUFFICIENT_SCOPE", message, limit, scope: requirement.scope };
  }
  return { ok: true, limit, role: null, project };
}

function admitUser(
  admission: AdmissionContext,
  { userId, session }: Extract<Caller, { kind: "user" }>,
  requirement: Requirement,
  route: RouteRef | null,
  now: number,
): Admitted | Denied {
  const role = roleOf(admission.sql, userId);
  if (role === null) return { ok: false, code: "NOT_FOUND", message: "There is no such workspace.", limit: null };
  const limit = route ? count(admission, `user:${userId}`, route, now) : null;
  if (limit && !limit.admitted) return limited(limit);
  if (session) admission.sessions.note(userId, session, now);
  const project = requirement.projectId === null ? null : admission.keyProjectCache.projectById(requirement.projectId);
  if (requirement.projectId !== null && project === null) {
    return { ok: false, code: "NOT_FOUND", message: "There is no such project.", limit };
  }
  if (!roleAtLeast(role, requirement.role)) {
    return { ok: false, code: "FORBIDDEN", message: `This needs the role ${requirement.role}.`, limit };
  }
  return { ok: true, limit, role, project };
}

/** A key belongs to one project: named together with another one, that other one does not exist for it. */
function projectOfKey(keyProjectCache: KeyProjectCache, key: KeyRow, named: string | null): ProjectRow | null {
  const own = keyProjectCache.projectByNum(key.project);
  return named === null || named === own?.id ? own : null;
}

type KeyProblem = Denied & { code: "INVALID_API_KEY" | "API_KEY_REVOKED" | "API_KEY_EXPIRED" };

/** Why a key no longer works, if so. */
export function keyProblem(key: KeyRow | null, now: number): KeyProblem | null {
  if (key === null) return unknownKey();
  if (key.revokedAt !== null) {
    return { ok: false, code: "API_KEY_REVOKED", message: "The API key has been revoked.", limit: null };
  }
  const end = endOf(key);
  if (end !== null && end <= now) {
    return { ok: false, code: "API_KEY_EXPIRED", message: "The API key has expired.", limit: null };
  }
  return null;
}

export function unknownKey(): KeyProblem {
  return { ok: false, code: "INVALID_API_KEY", message: "The API key is not valid.", limit: null };
}

function limited(limit: LimitState): Denied {
  return { ok: false, code: "RATE_LIMITED", message: "Too many requests", limit };
}

function count(admission: AdmissionContext, identifier: string, route: RouteRef, now: number): LimitState {
  const { limit, windowSeconds, rule, suffix } = admission.limits.limitOf(route);
  const state = admission.limiter.check({ identifier: identifier + suffix, limit, windowSeconds, cost: 1 }, now);
  if (!state.admitted) {
    admission.violations.recordRefusal({ identifier, rule, limit, windowSeconds, requestId: route.requestId }, now);
  }
  return state;
}
