import { createExecutionContext, createMessageBatch, getQueueResult, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { emailObjectName } from "../../../src/accounts/email.ts";
import type { MailMessage } from "../../../src/mail/mail.ts";
import { type OutboxItem, readOutbox } from "../../../src/mail/mailers.ts";
import worker from "../../../src/worker.ts";
import { settings, userStub } from "./support.ts";

export function emailStub(email: string) {
  return env.ADDRESSES.get(env.ADDRESSES.idFromName(emailOwner(email)));
}

/** The name under which pending mails of an address without an account are stored. */
export function emailOwner(email: string): string {
  return emailObjectName(email, settings.REFRESH_PEPPER);
}

function ownerStub(owner: string) {
  return owner.startsWith("usr_") ? userStub(owner) : env.ADDRESSES.get(env.ADDRESSES.idFromName(owner));
}

/** Rows of a table in an owner's object, or none if the object has no such table. */
export function rowsOf(owner: string, sql: string): Promise<Record<string, unknown>[]> {
  return runInDurableObject(ownerStub(owner), (_, { storage }) => {
    try {
      return storage.sql.exec(sql).toArray();
    } catch {
      return [];
    }
  });
}

/** Ids of an owner's pending mails. */
export async function pendingMailsOf(owner: string): Promise<string[]> {
  return (await rowsOf(owner, "SELECT id FROM promised_mails ORDER BY id")).map(({ id }) => String(id));
}

/** Runs the queue's consumer on messages, with other settings or bindings if given. Returns its acks and retries. */
export async function consume(messages: MailMessage[], overrides: object = {}, attempts = 1) {
  const batch = createMessageBatch(
    "taffrail-mail",
    messages.map((body, index) => ({ id: String(index), timestamp: new Date(), attempts, body })),
  );
  const ctx = createExecutionContext();
  await worker.queue(batch, { ...env, ...overrides });
  return getQueueResult(batch, ctx);
}

/** Sends all pending mails of an owner. */
export async function deliver(owner: string): Promise<void> {
  const ids = await pendingMailsOf(owner);
  await consume(ids.map((id) => [owner, id]));
}

/** Mails of an address in the outbox, newest first. */
export async function mailsTo(address: string, kind?: string): Promise<OutboxItem[]> {
  const mails = await readOutbox(env.DB);
  return mails.filter((mail) => mail.to === address && (kind === undefined || mail.kind === kind));
}

/** Waits until an address object has processed every mail request. */
export async function requestsAnswered(email: string): Promise<void> {
  for (;;) {
    const left = await rowsOf(emailOwner(email), "SELECT 1 FROM mail_requests");
    if (left.length === 0) return;
    await scheduler.wait(5);
  }
}

/** The token of the newest mail of a kind, after all pending mails to the address were sent. */
export async function mailedToken(email: string, kind: string): Promise<string> {
  await requestsAnswered(email);
  const user = await env.DB.prepare("SELECT id FROM users WHERE email = ?").bind(email).first<{ id: string }>();
  if (user) await deliver(user.id);
  await deliver(emailOwner(email));
  const mail = (await mailsTo(email, kind))[0];
  const token = /#token=(vt_[\w-]+)$/.exec(mail?.links[0] ?? "")?.[1];
  if (!token) throw new Error(`no ${kind} mail came to ${email}`);
  return token;
}
