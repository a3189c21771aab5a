import { ACTIVITY_ACTIONS, type ActivityAction } from "../../../../src/accounts/activity-actions.ts";
import { type ActivityItem, PROVIDERS } from "../../model/account.ts";
import { PROVIDER_LABELS } from "../auth/providers.ts";

const METHODS: Readonly<Record<string, string>> = { password: "password", magic_link: "a mailed link" };

type Details = ActivityItem["details"];

/** Text of each action. */
const WORDS: Record<ActivityAction, (details: Details) => string> = {
  "account.create": () => "Account created",
  "account.rename": ({ name }) => (name === undefined ? "Name removed" : `Name changed to ${name}`),
  "session.start": ({ method }) => `Signed in with ${nameOf(method)}`,
  "session.end": () => "Session ended",
  "session.end-others": ({ ended }) => (ended === 1 ? "One other session ended" : `${ended} other sessions ended`),
  "session.reuse": () => "Refresh token used twice, session ended",
  "email.verify": () => "Address confirmed",
  "email.reject": () => "Registration rejected",
  "password.set": () => "Password set",
  "password.change": () => "Password changed",
  "password.reset": () => "Password reset by mail",
  "provider.link": ({ provider }) => `${nameOf(provider)} linked`,
  "provider.unlink": ({ provider }) => `${nameOf(provider)} unlinked`,
  "account.recover": ({ ended, unlinked }) =>
    `Account secured: ${ended} sessions ended, ${unlinked} providers unlinked`,
};

/** Text of an item. An action that only a newer service has is shown by its name. */
export function activityInWords({ action, details }: ActivityItem): string {
  return ACTIVITY_ACTIONS.some((known) => known === action) ? WORDS[action as ActivityAction](details) : action;
}

/** Name of a sign-in method or provider. */
function nameOf(value: string | number | undefined): string {
  const provider = PROVIDERS.find((known) => known === value);
  if (provider) return PROVIDER_LABELS[provider].name;
  return METHODS[String(value)] ?? String(value ?? "an unknown method");
}
