import { hasScope } from "../keys/scopes.ts";
import type { Cascade } from "../limits/cascade.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { LimitState, RouteRef } from "../limits/state.ts";
import type { ViolationOutbox } from "../limits/violation-outbox.ts";
import type { AuditedSessions } from "./audited-sessions.ts";
import { type Caller, type Denied, type Need, type Role, roleAtLeast } from "./caller.ts";
import type { Directory } from "./directory.ts";
import { endOf, type KeyRow, touchKey } from "./keys.ts";
import { roleOf } from "./members.ts";
import type { ProjectRow } from "./projects.ts";

/** What admission works on: the object's storage, its limiter and its configuration. */
export interface Gate {
  sql: SqlStorage;
  directory: Directory;
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
export function admit(gate: Gate, caller: Caller, need: Need, route: RouteRef | null, now: number): Admitted | Denied {
  return caller.kind === "key"
    ? admitKey(gate, caller.hash, need, route, now)
    : admitUser(gate, caller, need, route, now);
}

function admitKey(gate: Gate, hash: string, need: Need, route: RouteRef | null, now: number): Admitted | Denied {
  const key = gate.directory.key(hash);
  const bad = keyProblem(key, now);
  if (key === null || bad) return bad ?? unknownKey();
  const limit = route ? count(gate, `key:${key.id}`, route, now) : null;
  if (limit && !limit.admitted) return limited(limit);
  touchKey(gate.sql, key, now);
  const project = projectOfKey(gate.directory, key, need.projectId);
  if (project === null) return { ok: false, code: "NOT_FOUND", message: "There is no such project.", limit };
  if (need.scope !== null && !hasScope(key.scopes, need.scope)) {
    const message = `The API key lacks the scope ${need.scope}.`;
    return { ok: false, code: "INSUFFICIENT_SCOPE", message, limit, scope: need.scope };
  }
  return { ok: true, limit, role: null, project };
}

function admitUser(
  gate: Gate,
  { userId, session }: Extract<Caller, { kind: "user" }>,
  need: Need,
  route: RouteRef | null,
  now: number,
): Admitted | Denied {
  const role = roleOf(gate.sql, userId);
  if (role === null) return { ok: false, code: "NOT_FOUND", message: "There is no such workspace.", limit: null };
  const limit = route ? count(gate, `user:${userId}`, route, now) : null;
  if (limit && !limit.admitted) return limited(limit);
  if (session) gate.sessions.note(userId, session, now);
  const project = need.projectId === null ? null : gate.directory.projectById(need.projectId);
  if (need.projectId !== null && project === null) {
    return { ok: false, code: "NOT_FOUND", message: "There is no such project.", limit };
  }
  if (!roleAtLeast(role, need.role)) {
    return { ok: false, code: "FORBIDDEN", message: `This needs the role ${need.role}.`, limit };
  }
  return { ok: true, limit, role, project };
}

/** A key belongs to one project: named together with another one, that other one does not exist for it. */
function projectOfKey(directory: Directory, key: KeyRow, named: string | null): ProjectRow | null {
  const own = directory.projectByNum(key.project);
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

function count(gate: Gate, identifier: string, route: RouteRef, now: number): LimitState {
  const { limit, windowSeconds, rule, suffix } = gate.limits.limitOf(route);
  const state = gate.limiter.check({ identifier: identifier + suffix, limit, windowSeconds, cost: 1 }, now);
  if (!state.admitted) {
    gate.violations.refused({ identifier, rule, limit, windowSeconds, requestId: route.requestId }, now);
  }
  return state;
}
