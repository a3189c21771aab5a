import { ACTIVITY_ACTIONS, type ActivityAction } from "../../../../src/accounts/activity-actions.ts";
import { type ActivityItem, PROVIDERS } from "../../model/account.ts";
import { PROVIDER_LABELS } from "../auth/providers.ts";

const METHODS: Readonly<Record<string, string>> = { password: "password", magic_link: "a mailed link" };

type Details = ActivityItem["details"];

/** How each action reads. */
const WORDS: Record<ActivityAction, (details: Details) => string> = {
  "account.create": () => "Account made",
  "session.start": ({ method }) => `Signed in by ${nameOf(method)}`,
  "session.end": () => "A session was ended",
  "session.end-others": ({ ended }) =>
    ended === 1 ? "One other session was ended" : `${ended} other sessions were ended`,
  "session.reuse": () => "A refresh token was used twice: its session was ended",
  "email.verify": () => "Address confirmed",
  "email.reject": () => "Registration disowned",
  "password.set": () => "Password set",
  "password.change": () => "Password changed",
  "password.reset": () => "Password reset by mail",
  "provider.link": ({ provider }) => `${nameOf(provider)} linked`,
  "provider.unlink": ({ provider }) => `${nameOf(provider)} unlinked`,
  "account.recover": ({ ended, unlinked }) =>
    `Account secured: ${ended} sessions ended, ${unlinked} providers unlinked`,
};

/** An item in words; an action that a newer service records goes by its name. */
export function activityInWords({ action, details }: ActivityItem): string {
  return ACTIVITY_ACTIONS.some((known) => known === action) ? WORDS[action as ActivityAction](details) : action;
}

/** A method of signing in, or a provider. */
function nameOf(value: string | number | undefined): string {
  const provider = PROVIDERS.find((known) => known === value);
  if (provider) return PROVIDER_LABELS[provider].name;
  return METHODS[String(value)] ?? String(value ?? "an unknown way");
}
