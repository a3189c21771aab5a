import type { Page } from "playwright-core";
import { type Account, call, register } from "../../support/api.ts";
import { nextMail, tokenIn } from "../../support/outbox.ts";
import type { ConsoleUnderTest } from "./console.ts";

/** An account with a confirmed address, which sharing requires. */
export async function verifiedAccount(url: string): Promise<Account> {
  const account = await register(url);
  const token = tokenIn(await nextMail(url, account.email, "verify-email"));
  const answer = await call(url, "/auth/verify-email", { body: { token } });
  if (answer.status !== 200) throw new Error(`Confirming an address answered ${answer.status}.`);
  return account;
}

/** A shared workspace of the account. */
export async function sharedWorkspace(url: string, owner: Account, name: string): Promise<string> {
  const answer = await call<{ id: string }>(url, "/workspaces", { token: owner.accessToken, body: { name } });
  if (answer.status !== 201) throw new Error(`Making a workspace answered ${answer.status}.`);
  return answer.body.data.id;
}

/** Adds a member with an invitation, as if the link had been opened. */
export async function join(
  url: string,
  { workspaceId, owner, guest, role }: { workspaceId: string; owner: Account; guest: Account; role: string },
): Promise<void> {
  const body = { email: guest.email, role };
  await call(url, `/workspaces/${workspaceId}/members`, { token: owner.accessToken, body });
  const token = tokenIn(await nextMail(url, guest.email, "invite"));
  const answer = await call(url, "/invitations/accept", { token: guest.accessToken, body: { token } });
  if (answer.status !== 200) throw new Error(`Accepting an invitation answered ${answer.status}.`);
}

/** A section of the settings in the account's own browser. */
export async function openSettings(
  under: ConsoleUnderTest,
  as: Account,
  section: string,
  workspaceId = as.workspaceId,
): Promise<Page> {
  const context = await under.open({ as });
  const page = await context.newPage();
  await page.goto(settingsPath(workspaceId, section));
  await page.getByRole("navigation", { name: "Settings" }).waitFor();
  return page;
}

export function settingsPath(workspaceId: string, section: string): string {
  return `/w/${workspaceId}/settings/${section}`;
}
