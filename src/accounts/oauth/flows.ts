import { purgeExpired } from "./expiry.ts";
import type { ProviderName } from "./provider.ts";
import { hashOf, isSecretShaped } from "./secret-text.ts";

/** Milliseconds from the start of a flow to the last moment of its callback. */
export const FLOW_TTL_MS = 600_000;

/** What the callback ends in: tokens in the redirect, a code to exchange for them, or a link of a signed-in user. */
export type FlowMode =
  | { mode: "tokens" }
  | { mode: "code"; codeChallenge: string }
  | { mode: "link"; userId: string; sessionId: string /** See `LinkAuthority`. */; checkedEpoch: number };

export interface FlowRecord {
  provider: ProviderName;
  purpose: FlowMode;
  verifier: string;
  nonce: string;
  /** Hash of the value of the browser's cookie. */
  browserHash: string;
}

/** Remembers a flow under the hash of its state. */
export async function beginFlow(db: D1Database, state: string, flow: FlowRecord, now: number): Promise<void> {
  const { provider, purpose, browserHash, verifier, nonce } = flow;
  await db.batch([
    purgeExpired(db, "oauth_flows", now),
    db
      .prepare(
        `INSERT INTO oauth_flows
           (state_hash, provider, mode, browser_hash, verifier, nonce, code_challenge, user_id, session_id,
            checked_epoch, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(
        hashOf(state),
        provider,
        purpose.mode,
        browserHash,
        verifier,
        nonce,
        purpose.mode === "code" ? purpose.codeChallenge : null,
        purpose.mode === "link" ? purpose.userId : null,
        purpose.mode === "link" ? purpose.sessionId : null,
        purpose.mode === "link" ? purpose.checkedEpoch : null,
        now + FLOW_TTL_MS,
      ),
  ]);
}

/** Gives a flow once, to the first who asks; null for a state that is unknown, used or too old. */
export async function takeFlow(db: D1Database, state: string, now: number): Promise<FlowRecord | null> {
  if (!isSecretShaped(state)) return null;
  const row = await db
    .prepare("DELETE FROM oauth_flows WHERE state_hash = ? RETURNING *")
    .bind(hashOf(state))
    .first<FlowRow>();
  if (!row || row.expires_at <= now) return null;
  const purpose = purposeOf(row);
  const { provider, verifier, nonce, browser_hash: browserHash } = row;
  return purpose && { provider, verifier, nonce, browserHash, purpose };
}

type FlowRow = { provider: ProviderName; browser_hash: string; verifier: string; nonce: string; expires_at: number } & (
  | { mode: "tokens" }
  | { mode: "code"; code_challenge: string }
  | { mode: "link"; user_id: string; session_id: string; checked_epoch: number | null }
);

/** Null for a link that an older version began, without the reauthentication that it takes. */
function purposeOf(row: FlowRow): FlowMode | null {
  switch (row.mode) {
    case "tokens":
      return { mode: "tokens" };
    case "code":
      return { mode: "code", codeChallenge: row.code_challenge };
    case "link":
      return row.checked_epoch === null
        ? null
        : { mode: "link", userId: row.user_id, sessionId: row.session_id, checkedEpoch: row.checked_epoch };
  }
}
