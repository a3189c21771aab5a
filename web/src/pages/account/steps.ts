import { PROVIDERS, type ProviderName } from "../../model/account.ts";

/**
 * A step of the account page that a new sign-in interrupted. The page's address contains it, so that the page can open
 * it again. Any site can link to such an address, so the step always waits for a click.
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

/** The address at which the account page continues with a step. */
export function pathOf(step: Step): string {
  return `/auth/account?step=${step}`;
}
