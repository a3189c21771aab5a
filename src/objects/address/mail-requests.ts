import { findByEmail } from "../../accounts/directory.ts";
import { hashOneTimeToken, mintOneTimeToken, TOKEN_LIFETIME_MS } from "../../accounts/one-time-token.ts";
import { dropAddressToken, storeAddressToken } from "../../accounts/tokens.ts";
import type { Env } from "../../env.ts";
import { addPendingMail } from "../../mail/pending-mails.ts";
import { dropMailRequest, dueMailRequests, type MailRequest, nextMailRequestAt } from "../../mail/requests.ts";
import type { Duty } from "../../platform/alarm.ts";
import { logObjectEvent } from "../../platform/log.ts";
import type { Origin } from "../../platform/origin.ts";
import { callUser } from "../../rpc/call.ts";
import { settingsOf } from "../../settings.ts";

/**
 * Processes requests for mails to an e-mail address. If the address has an account, its user object stores the pending
 * mail. If not, a magic link is stored here and other requests are dropped. Safe to repeat: a request is deleted only
 * after its mail is stored in the user object, or in the transaction that stores it here.
 */
export async function processMailRequests(
  env: Env,
  storage: DurableObjectStorage,
  run: Origin,
  now: number,
): Promise<void> {
  const due = storage.transactionSync(() => dueMailRequests(storage.sql, now));
  for (const request of due) {
    try {
      await processMailRequest(env, storage, request);
    } catch (error) {
      const fault = error instanceof Error ? error.name : "unknown";
      const fields = { event: "mail.request", outcome: "failed", kind: request.kind, mailId: request.id, fault };
      logObjectEvent(env, "address", { requestId: request.requestId ?? run.requestId }, "warn", fields);
    }
  }
}

/** The duty of an e-mail address's object to process mail requests that were interrupted. */
export function mailRequestDuty(env: Env, storage: DurableObjectStorage): Duty {
  return {
    name: "mail requests",
    dueAt: () => nextMailRequestAt(storage.sql),
    run: (now, origin) => processMailRequests(env, storage, origin, now),
  };
}

async function processMailRequest(env: Env, storage: DurableObjectStorage, request: MailRequest): Promise<void> {
  const { id, kind, address, seed, requestId } = request;
  const entry = await findByEmail(env.DB, address);
  if (entry) {
    if (kind === "magic-link") await dropAddressToken(env.DB, kind, address);
    const asked = { purpose: kind, mailId: id, seed, ...(requestId === undefined ? {} : { requestId }) };
    await callUser(env, entry.userId, "replay-safe", (stub) => stub.requestTokenMail(asked));
    dropMailRequest(storage.sql, id);
  } else if (kind === "magic-link") {
    const now = Date.now();
    const hash = hashOneTimeToken(mintOneTimeToken(null, seed, settingsOf(env).REFRESH_PEPPER));
    await storeAddressToken(env.DB, { purpose: kind, address, hash }, now);
    const expiresAt = now + TOKEN_LIFETIME_MS[kind];
    const mail = { id, to: address, content: { kind, seed }, expiresAt, requestId } as const;
    storage.transactionSync(() => {
      addPendingMail(storage.sql, mail, now);
      dropMailRequest(storage.sql, id);
    });
  } else dropMailRequest(storage.sql, id);
}
