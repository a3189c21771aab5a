import { PROVIDERS, type ProviderName } from "../../model/account.ts";

/**
 * A step of the account page that a new sign-in came between, in the page's address: the page opens it again, and waits for
 * a click. Anybody can make such an address, so nothing is done by it alone.
 */
export type Step = `link-${ProviderName}` | `unlink-${ProviderName}` | "password" | "delete";

const STEPS: ReadonlySet<string> = new Set([
  ...PROVIDERS.map((provider) => `link-${provider}`),
  ...PROVIDERS.map((provider) => `unlink-${provider}`),
  "password",
  "delete",
]);

export function isStep(text: string | undefined): text is Step {
  return text !== undefined && STEPS.has(text);
}

/** The address under which the account page goes on with a step. */
export function pathOf(step: Step): string {
  return `/auth/account?step=${step}`;
}
