import { setTimeout as sleep } from "node:timers/promises";
import { call } from "./api.ts";

/** A mail as `GET /dev/outbox` lists it. */
export interface OutboxMail {
  id: string;
  to: string;
  kind: string;
  subject: string;
  text: string;
  html: string;
  links: string[];
  createdAt: string;
}

/** Maximum milliseconds until a mail arrives; the local queue waits a second to fill a batch. */
const ARRIVES_WITHIN_MS = 20_000;

/** Client IP of the mail polls, which must not use up the limit under test. */
const READER = { "CF-Connecting-IP": "198.51.100.25" };

/** All mails to an address, newest first. */
export async function mailsTo(url: string, address: string): Promise<OutboxMail[]> {
  const answer = await call<{ items: OutboxMail[] }>(url, "/dev/outbox", { headers: READER });
  if (answer.status !== 200) throw new Error(`/dev/outbox answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.data.items.filter(({ to }) => to === address);
}

/** Waits for the `count`th mail of a kind to an address, and returns the newest. */
export async function nextMail(
  url: string,
  address: string,
  kind: string,
  { count = 1, withinMs = ARRIVES_WITHIN_MS } = {},
): Promise<OutboxMail> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const mails = (await mailsTo(url, address)).filter((mail) => mail.kind === kind);
    const newest = mails[0];
    if (newest && mails.length >= count) return newest;
    if (Date.now() > deadline) throw new Error(`No ${kind} mail number ${count} came to ${address}.`);
    await sleep(100);
  }
}

/** The token in a mail's link. */
export function tokenIn(mail: Pick<OutboxMail, "links">): string {
  const token = /#token=(vt_[\w-]+)$/.exec(mail.links[0] ?? "")?.[1];
  if (!token) throw new Error(`There is no token in ${mail.links.join(", ")}`);
  return token;
}
