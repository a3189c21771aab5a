import type { Env } from "../../env.ts";
import type { Violation } from "../../limits/violations.ts";
import type { Mail } from "../../mail/mail.ts";
import { type Backoff, delayOf } from "../../platform/backoff.ts";
import { classOf } from "../../platform/log.ts";
import { callAddress, callUser, callWorkspace } from "../../rpc/call.ts";

/** What a consumer needs of the object that sent a message. Every object class has these methods. */
export interface MessageOwner {
  claimMail(mailId: string): Promise<Mail | null>;
  mailSent(mailId: string): Promise<void>;
  releaseMail(mailId: string): Promise<void>;
  violationsStored(violations: readonly Violation[]): Promise<void>;
}

/** Calls the object that sent a message. @param name as in the message: `ws_...`, `usr_...`, `ip:...` or `email:...` */
export function callOwner<T>(env: Env, name: string, call: (owner: MessageOwner) => Promise<T>): Promise<T> {
  switch (classOf(name)) {
    case "workspace":
      return callWorkspace(env, name, "replay-safe", call);
    case "user":
      return callUser(env, name, "replay-safe", call);
    case "address":
      return callAddress(env, name, "replay-safe", call);
  }
}

/** Delay until the queue delivers a message again. `max_retries` of `wrangler.toml` bounds the attempts. */
const RETRY: Backoff = { firstMs: 10_000, maxMs: 80_000 };

/** Has the queue deliver a message again, later with every attempt. */
export function retryLater(message: Message): void {
  message.retry({ delaySeconds: delayOf(RETRY, message.attempts - 1) / 1000 });
}
