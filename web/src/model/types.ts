import type { Scope } from "../../../src/keys/scopes.ts";
import type { LimitConfiguration } from "../../../src/limits/cascade.ts";

/** Response shapes of the API. Times are ISO 8601 in UTC. */

export const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;
export type Level = (typeof LEVELS)[number];

/** Query for errors, as pages count them and link to them. */
export const ERRORS = "level:>=error";

export const ROLES = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

export interface Workspace {
  id: string;
  slug: string;
  name: string;
  personal: boolean;
  role: Role;
  retentionDays: number;
  createdAt: string;
}

export interface Project {
  id: string;
  name: string;
  workspaceId: string;
  createdAt: string;
  lastSeq: number;
}

export interface ApiKey {
  id: string;
  name: string;
  scopes: Scope[];
  /** The first 18 characters of the secret. */
  prefix: string;
  projectId: string;
  createdAt: string;
  /** Expiry of the key; for a rotated key, the end of the overlap. */
  expiresAt: string | null;
  revokedAt: string | null;
  /** Accurate to the minute. */
  lastUsedAt: string | null;
  /** Names of members by part of an entry, in order of preference. */
  mapping: Partial<Record<MappedPart, string[]>>;
  dedupe: (typeof DEDUPE)[number];
  hasVercelSecret: boolean;
}

/** Parts of an entry whose names a key may map, and when a key stores repeated requests once. */
export const MAPPED_PARTS = [
  ...(["message", "time", "level", "service", "host"] as const),
  ...(["traceId", "spanId", "session", "category", "type"] as const),
] as const;
export type MappedPart = (typeof MAPPED_PARTS)[number];
export const DEDUPE = ["auto", "always", "never", "record"] as const;

/** A key that was just created. Only this response contains the secret. */
export interface MadeKey extends ApiKey {
  secret: string;
}

export interface Member {
  userId: string;
  /** `null` for an account that was just deleted. */
  email: string | null;
  role: Role;
  joinedAt: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
}

export interface LiveCounter {
  /** `key:<keyId>`, `user:<userId>` or `grant:<grantId>`. */
  identifier: string;
  /** Method and path of a rule, `default`, or `API_DEFAULT`. */
  rule: string;
  limit: number;
  remaining: number;
  resetAt: string;
}

export interface RateLimits extends LimitConfiguration {
  live: LiveCounter[];
}

/** All refusals of one identifier under one rule within one minute. */
export interface Violation {
  identifier: string;
  rule: string;
  limit: number;
  windowSeconds: number;
  count: number;
  firstAt: string;
  lastAt: string;
}

/** What a receiver answered to one attempt. */
export interface DestinationAnswer {
  status: number | null;
  text: string;
  ms: number;
  error: string | null;
}

/** Where notifications go. */
export interface Destination {
  id: string;
  kind: "webhook" | "email" | "slack" | "pagerduty" | "alertmanager";
  name: string;
  url: string | null;
  email: string | null;
  hasSecret: boolean;
  /** Until when the secret before is valid, too. */
  previousSecretUntil: string | null;
  canary: boolean;
  enabled: boolean;
  disabledReason: "paused" | "gone" | "left" | "unconfirmed" | null;
  version: number;
  lastDeliveredAt: string | null;
  lastFailedAt: string | null;
}

/** A destination with the signing secret of a webhook, which is shown once. */
export interface CreatedDestination extends Destination {
  secret: string | null;
}

export interface Delivery {
  id: string;
  destinationId: string;
  state: "pending" | "delivered" | "dead";
  attempts: number;
  /** `null` if the delivery has ended, or waits for an earlier notification. */
  nextAttemptAt: string | null;
  answer: DestinationAnswer | null;
}

export interface Notification {
  id: string;
  /** `null` for a test and a canary. */
  projectId: string | null;
  ruleId: string;
  kind: "firing" | "resolved" | "test" | "canary";
  title: string;
  group: Readonly<Record<string, string>> | null;
  decidedAt: string;
  deliveries: readonly Delivery[];
}

/** One item of the audit. */
export interface AuditItem {
  id: string;
  at: string;
  /** A user's id, or `system`. */
  actor: string;
  actorEmail: string | null;
  action: string;
  target: string;
  targetEmail: string | null;
  address: string | null;
  requestId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

export interface Usage {
  recent: { entries: number; bytes: number; oldestAt: string | null };
  /** `null` while the cold tier is unreachable. */
  stored: { entries: number; bytes: number; segments: number } | null;
  ingestedToday: number;
  flush: { pendingBatches: number; setAside: number; lastAt: string | null; lastError: string | null };
}

export interface LogEntry {
  id: string;
  seq: number;
  projectId: string;
  level: Level;
  category: string;
  type: string;
  message: string;
  timestamp: string;
  receivedAt: string;
  data?: Record<string, unknown>;
  session?: string;
  traceId?: string;
  spanId?: string;
  service?: string;
  host?: string;
}
