import { newId } from "../../ids.ts";
import { exists, mapRows, maybe, one } from "../../platform/sql.ts";
import { fail, ok, type Result } from "../../rpc/result.ts";
import type { AuditNote } from "../../workspace/audit.ts";
import { roleOf } from "../../workspace/members.ts";
import { askForConfirmation, type Confirmation, type ConfirmationIssuer } from "./confirmations.ts";
import type { Answer, DestinationKind, DestinationSettings, DisabledReason } from "./destination.ts";
import type { TargetRow } from "./targets.ts";
import { newSigningSecret } from "./webhook.ts";

/** Maximum destinations of a workspace. */
export const MAX_DESTINATIONS = 50;

/** A destination as members see it. */
export interface Destination {
  id: string;
  kind: DestinationKind;
  name: string;
  settings: DestinationSettings;
  /** Whether a secret is stored; the secret itself is never in a response again. */
  hasSecret: boolean;
  /** Epoch milliseconds; the end of the overlap after a rotation. */
  previousSecretUntil: number | null;
  canary: boolean;
  disabled: DisabledReason | null;
  version: number;
  createdBy: string;
  createdAt: number;
  updatedAt: number;
  lastDeliveredAt: number | null;
  lastFailedAt: number | null;
  lastAnswer: Answer | null;
}

/** A destination and its secret, which is shown once. */
export interface CreatedDestination {
  destination: Destination;
  /** `null` for kinds whose secret the member has sent. */
  secret: string | null;
}

/** A destination to be created. A router has validated it. */
export interface NewDestination {
  kind: DestinationKind;
  name: string;
  settings: DestinationSettings;
  secret: string | null;
  canary: boolean;
  /** Of an address without a member. */
  confirmation?: Confirmation;
}

/** Members of a destination that a request sets. */
export interface DestinationChange {
  name?: string | undefined;
  url?: string | undefined;
  /** Routing key or `Authorization`; `null` removes the latter. */
  secret?: { member: "routingKey" | "authorization"; value: string | null } | undefined;
  canary?: boolean | undefined;
  enabled?: boolean | undefined;
}

type Row = TargetRow & {
  id: string;
  disabled: DisabledReason | null;
  confirm_until: number | null;
  canary_at: number | null;
  version: number;
  created_by: string;
  created_at: number;
  updated_at: number;
  last_delivered_at: number | null;
  last_failed_at: number | null;
  last_answer: string | null;
};

/** Destinations in order of creation, after the (createdAt, id) of `cursor`. */
export function listDestinations(sql: SqlStorage, cursor: readonly [number, string], limit: number): Destination[] {
  const query = "SELECT * FROM destinations WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?";
  return mapRows(sql, fromRow, query, ...cursor, limit);
}

/** @returns a failure if one of the destinations does not exist */
export function knownDestinations(sql: SqlStorage, ids: readonly string[]): Result<true> {
  const unknown = ids.find((id) => rowOf(sql, id) === null);
  return unknown === undefined ? ok(true) : fail("CONFLICT", unknownDestination(unknown));
}

export function unknownDestination(id: string): string {
  return `The workspace has no destination ${id}.`;
}

export function getDestination(sql: SqlStorage, id: string): Result<Destination> {
  const row = rowOf(sql, id);
  return row ? ok(fromRow(row)) : UNKNOWN;
}

/** Creates a destination, in the caller's transaction. */
export function createDestination(
  sql: SqlStorage,
  { kind, name, settings, secret, canary, confirmation }: NewDestination,
  { userId, ...issuer }: ConfirmationIssuer & { userId: string },
  note: AuditNote,
  now: number,
): Result<CreatedDestination> {
  const { count } = one<{ count: number }>(sql, "SELECT COUNT(*) AS count FROM destinations");
  if (count >= MAX_DESTINATIONS) return fail("CONFLICT", `A workspace has at most ${MAX_DESTINATIONS} destinations.`);
  if (isTaken(sql, name, "")) return taken(name);
  const { email = "", userId: recipient } = settings;
  const isMember = recipient !== undefined && roleOf(sql, recipient) !== null;
  if (kind === "email" && !isMember && confirmation === undefined) return NO_MEMBER;
  const kept = kind === "email" && !isMember ? { email } : settings;
  const shown = kind === "webhook" ? newSigningSecret() : null;
  const id = newId("dest");
  sql.exec(
    `INSERT INTO destinations (id, kind, name, settings, secret, canary_at, version, created_by, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`,
    id,
    kind,
    name,
    JSON.stringify(kept),
    shown ?? secret,
    canary ? now : null,
    userId,
    now,
    now,
  );
  if (confirmation !== undefined && !isMember) askForConfirmation(sql, { id, email }, confirmation, issuer, now);
  note(id, { after: { kind, name, ...kept, canary } });
  return ok({ destination: destinationOf(sql, id), secret: shown });
}

/** Changes a destination, in the caller's transaction. @param version that it must have; `null`: any */
export function changeDestination(
  sql: SqlStorage,
  id: string,
  change: DestinationChange,
  version: number | null,
  note: AuditNote,
  now: number,
): Result<Destination> {
  const row = rowOf(sql, id);
  if (!row) return UNKNOWN;
  const before = fromRow(row);
  if (version !== null && version !== before.version) {
    return fail("CONFLICT", `The destination has changed: its version is ${before.version}.`);
  }
  const { kind } = before;
  const problem = misplaced(kind, change);
  if (problem !== null) return fail("CONFLICT", `A destination of the kind ${kind} has no ${problem}.`);
  const { name = before.name, url, canary = before.canary, enabled = row.disabled === null } = change;
  if (isTaken(sql, name, id)) return taken(name);
  const { userId } = before.settings;
  if (enabled && userId !== undefined && roleOf(sql, userId) === null) return NO_MEMBER;
  if (enabled && kind === "email" && userId === undefined && row.disabled === "left") return STOPPED;
  const settings = url === undefined || kind === "slack" ? before.settings : { ...before.settings, url };
  let { secret } = row;
  if (kind === "slack" && url !== undefined) secret = url;
  if (change.secret !== undefined) secret = change.secret.value;
  sql.exec(
    `UPDATE destinations SET name = ?, settings = ?, secret = ?, canary_at = ?, disabled = ?, version = version + 1,
       updated_at = ? WHERE id = ?`,
    name,
    JSON.stringify(settings),
    secret,
    canary ? (row.canary_at ?? now) : null,
    enabled ? null : (row.disabled ?? "paused"),
    now,
    id,
  );
  const state = ({ name, settings, canary, disabled }: Destination) => ({ name, ...settings, canary, disabled });
  const after = destinationOf(sql, id);
  const secretChanged = secret === row.secret ? {} : { secretChanged: true };
  note(id, { before: state(before), after: { ...state(after), ...secretChanged } });
  return ok(after);
}

/** Returns the member of a change that this kind of destination does not have. */
function misplaced(kind: DestinationKind, { url, secret, canary }: DestinationChange): string | null {
  if (url !== undefined && kind === "email") return "url";
  if (secret?.member === "routingKey" && kind !== "pagerduty") return "routingKey";
  if (secret?.member === "authorization" && kind !== "alertmanager") return "authorization";
  return canary === true && kind === "pagerduty" ? "canary" : null;
}

/**
 * Mails the link by which an address is confirmed again, in the caller's transaction.
 * @param confirmation `null`: only checks that this is possible, before the mail is counted
 */
export function confirmAgain(
  sql: SqlStorage,
  id: string,
  confirmation: Confirmation | null,
  issuer: ConfirmationIssuer,
  now: number,
): Result<Destination> {
  const row = rowOf(sql, id);
  if (!row) return UNKNOWN;
  if (row.confirm_until === null) return fail("CONFLICT", "The destination has no address to be confirmed.");
  if (row.disabled === "left") return STOPPED;
  const { email = "" } = fromRow(row).settings;
  if (confirmation !== null) askForConfirmation(sql, { id, email }, confirmation, issuer, now);
  return ok(destinationOf(sql, id));
}

/** Deletes a destination. Its deliveries are not attempted any more, and are deleted with their notifications. */
export function deleteDestination(sql: SqlStorage, id: string, note: AuditNote): Result<true> {
  const row = rowOf(sql, id);
  if (!row) return UNKNOWN;
  sql.exec("DELETE FROM destinations WHERE id = ?", id);
  note(id, { before: { kind: row.kind, name: row.name } });
  return ok(true);
}

/** Gives a webhook a new signing secret. Both sign until the end of the overlap. */
export function rotateSecret(
  sql: SqlStorage,
  id: string,
  overlapSeconds: number,
  note: AuditNote,
  now: number,
): Result<CreatedDestination> {
  const row = rowOf(sql, id);
  if (!row) return UNKNOWN;
  if (row.kind !== "webhook") return fail("CONFLICT", "Only a webhook has a signing secret to rotate.");
  const secret = newSigningSecret();
  sql.exec(
    `UPDATE destinations SET secret = ?, previous_secret = ?, previous_until = ?, version = version + 1, updated_at = ?
     WHERE id = ?`,
    secret,
    overlapSeconds === 0 ? null : row.secret,
    overlapSeconds === 0 ? null : now + overlapSeconds * 1000,
    now,
    id,
  );
  note(id, { after: { overlapSeconds } });
  return ok({ destination: destinationOf(sql, id), secret });
}

const UNKNOWN = fail("NOT_FOUND", "Destination not found.");
/** The failure for an address without a member if no confirmation was asked for. */
export const NO_MEMBER = fail("CONFLICT", "No member of the workspace has this address.");
const STOPPED = fail("CONFLICT", "The recipient has stopped these mails.");

function taken(name: string): Result<never> {
  return fail("CONFLICT", `A destination has the name ${JSON.stringify(name)} already.`);
}

function isTaken(sql: SqlStorage, name: string, exceptId: string): boolean {
  return exists(sql, "SELECT 1 FROM destinations WHERE name = ? AND id <> ?", name, exceptId);
}

function rowOf(sql: SqlStorage, id: string): Row | null {
  return maybe<Row>(sql, "SELECT * FROM destinations WHERE id = ?", id);
}

function destinationOf(sql: SqlStorage, id: string): Destination {
  return fromRow(one<Row>(sql, "SELECT * FROM destinations WHERE id = ?", id));
}

function fromRow(row: Row): Destination {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    // SAFETY: this module is the only writer, of both columns.
    settings: JSON.parse(row.settings) as DestinationSettings,
    hasSecret: row.secret !== null && row.kind !== "email",
    previousSecretUntil: row.previous_until,
    canary: row.canary_at !== null,
    disabled: row.disabled ?? (row.confirm_until === null ? null : "unconfirmed"),
    version: row.version,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastDeliveredAt: row.last_delivered_at,
    lastFailedAt: row.last_failed_at,
    // SAFETY: as above.
    lastAnswer: row.last_answer === null ? null : (JSON.parse(row.last_answer) as Answer),
  };
}
