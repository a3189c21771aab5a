import { hashOneTimeToken, mintOneTimeToken } from "../../accounts/one-time-token.ts";
import { newId } from "../../ids.ts";
import { addPendingMail } from "../../mail/pending-mails.ts";
import { maybe } from "../../platform/sql.ts";
import { fail, ok, type Result } from "../../rpc/result.ts";
import { readWorkspace } from "../../workspace/settings.ts";

/**
 * Addresses that belong to no member: their holder confirms by a mailed link that notifications may come, and ends them by
 * the same link, which each mail has.
 */

/** Milliseconds in which an address can be confirmed. */
export const CONFIRMATION_MS = 7 * 24 * 60 * 60 * 1000;

/** The router's part of a request to confirm an address. */
export interface Confirmation {
  /** 32 random bytes from which the token is derived. */
  seed: Uint8Array;
  /** The admin's address, for the mail. */
  inviter: string;
  /** The admin's name, for the mail. Absent from routers of older versions. */
  inviterName?: string | null;
}

/** What the object adds to it. */
export interface ConfirmationIssuer {
  workspaceId: string;
  pepper: string;
  /** Id of the request, for the mail. */
  requestId: string;
}

/** Asks the holder of a destination's address to confirm it. An earlier link does not work any more. */
export function askForConfirmation(
  sql: SqlStorage,
  { id, email }: { id: string; email: string },
  { seed, inviter, inviterName = null }: Confirmation,
  { workspaceId, pepper, requestId }: ConfirmationIssuer,
  now: number,
): void {
  const expiresAt = now + CONFIRMATION_MS;
  const hash = hashOneTimeToken(mintOneTimeToken(workspaceId, seed, pepper));
  sql.exec(
    "UPDATE destinations SET secret = ?, token_hash = ?, confirm_until = ? WHERE id = ?",
    ...[Buffer.from(seed).toString("base64"), hash, expiresAt, id],
  );
  const workspace = readWorkspace(sql).name;
  const content = { kind: "confirm-address", seed, workspace, inviter, inviterName } as const;
  addPendingMail(sql, { id: newId("mail"), to: email, content, expiresAt, requestId }, now);
}

/** Returns the link by which a holder ends mails to an address. @param secret of the destination */
export function addressLink(
  secret: string,
  workspaceId: string,
  { FRONTEND_URL, REFRESH_PEPPER }: { FRONTEND_URL: string; REFRESH_PEPPER: string },
): string {
  const token = mintOneTimeToken(workspaceId, Buffer.from(secret, "base64"), REFRESH_PEPPER);
  return `${FRONTEND_URL}/auth/address#token=${token}`;
}

/** What the holder of an address is shown, and may do. */
export interface AddressState {
  /** Names of the workspace and of the destination, texts of users. */
  workspace: string;
  destination: string;
  email: string;
  state: "unconfirmed" | "confirmed" | "stopped";
}

export type AddressAnswer = "look" | "confirm" | "stop";

/** Does what the holder of an address has answered, in the caller's transaction. */
export function answerAddress(
  sql: SqlStorage,
  tokenHash: Uint8Array,
  answer: AddressAnswer,
  now: number,
): Result<AddressState & { id: string; hasChanged: boolean }> {
  const row = maybe<{ id: string; name: string; settings: string; disabled: string | null; until: number | null }>(
    sql,
    "SELECT id, name, settings, disabled, confirm_until AS until FROM destinations WHERE token_hash = ?",
    tokenHash,
  );
  if (row === null) return UNKNOWN_ADDRESS_LINK;
  const { id, name, until } = row;
  const before = row.disabled === "left" ? "stopped" : until === null ? "confirmed" : "unconfirmed";
  const isExpired = until !== null && until <= now;
  if (isExpired && answer !== "stop") return fail("TOKEN_EXPIRED", "The link has expired. Ask for a new one.");
  let state: AddressState["state"] = before;
  if (answer === "confirm" && before === "unconfirmed") {
    sql.exec(
      "UPDATE destinations SET confirm_until = NULL, version = version + 1, updated_at = ? WHERE id = ?",
      now,
      id,
    );
    state = "confirmed";
  } else if (answer === "stop" && before !== "stopped") {
    sql.exec("UPDATE destinations SET disabled = 'left', version = version + 1, updated_at = ? WHERE id = ?", now, id);
    state = "stopped";
  }
  // SAFETY: `createDestination` is the only writer of an address.
  const { email } = JSON.parse(row.settings) as { email: string };
  const { name: workspace } = readWorkspace(sql);
  return ok({ id, workspace, destination: name, email, state, hasChanged: state !== before });
}

export const UNKNOWN_ADDRESS_LINK = fail("INVALID_TOKEN", "The link is not valid, or a newer one was mailed.");
