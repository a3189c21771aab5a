import {
  type Account,
  type Answer,
  asUser,
  type CallOptions,
  call,
  type Key,
  type SignedIn,
} from "../../test/support/api.ts";
import { nextMail } from "../../test/support/outbox.ts";

/** Workspaces with members, made through the API of a local server, whose mails are at `/dev/outbox`. */

/** Entries of one request. */
const BATCH = 1000;

/** Returns the data of a response. @throws if the service refuses */
export async function ok<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`The service answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

/** Creates an account with a confirmed address. @param headers of its requests, such as a client IP */
export async function verified(
  url: string,
  { email, password, name }: { email: string; password: string; name: string },
  headers: CallOptions["headers"] = {},
): Promise<Account> {
  const { user, personalWorkspace, ...tokens } = await ok<SignedIn>(
    call(url, "/auth/register", { headers, body: { email, password, name } }),
  );
  const token = await mailedToken(url, email, "verify-email");
  await ok(call(url, `/auth/verify-email?token=${token}`, { headers }));
  return { userId: user.id, email, password, ...tokens, workspaceId: personalWorkspace.id };
}

export async function createWorkspace(url: string, { accessToken }: Account, name: string): Promise<string> {
  return (await ok<{ id: string }>(call(url, "/workspaces", { token: accessToken, body: { name } }))).id;
}

/** Creates a key in the workspace of the account. */
export function keyOf(url: string, home: Account, projectId: string, body: object): Promise<Key> {
  return ok<Key>(call(url, `/projects/${projectId}/keys`, { ...asUser(home), body }));
}

export async function revokeKey(url: string, home: Account, projectId: string, { id }: Key): Promise<void> {
  await ok(call(url, `/projects/${projectId}/keys/${id}`, { ...asUser(home), method: "DELETE" }));
}

/** Invites an account to the workspace of another, and accepts. */
export async function join(url: string, home: Account, guest: Account, role: string): Promise<void> {
  const body = { email: guest.email, role };
  await ok(call(url, `/workspaces/${home.workspaceId}/members`, { ...asUser(home), body }));
  const token = await mailedToken(url, guest.email, "invite");
  await ok(call(url, "/invitations/accept", { token: guest.accessToken, body: { token } }));
}

/** Returns the token of the newest mail of a kind. */
export async function mailedToken(url: string, email: string, kind: string): Promise<string> {
  const { links } = await nextMail(url, email, kind);
  return new URLSearchParams(new URL(links[0] ?? "").hash.slice(1)).get("token") ?? "";
}

export async function sendAll(
  url: string,
  projectId: string,
  { secret }: Key,
  entries: readonly object[],
): Promise<void> {
  for (let from = 0; from < entries.length; from += BATCH) {
    const body = entries.slice(from, from + BATCH);
    const { accepted } = await ok(call<{ accepted: number }>(url, `/logger/${projectId}/log`, { token: secret, body }));
    if (accepted !== body.length) throw new Error(`The service accepted ${accepted} of ${body.length} entries.`);
  }
}
