import { PROVIDERS, type ProviderName } from "../../model/account.ts";

/** Labels of the providers. The service configures which provider each of them is. */
export const PROVIDER_LABELS: Readonly<Record<ProviderName, { name: string; kind: string }>> = {
  provider_a: { name: "provider A", kind: "code hosting" },
  provider_b: { name: "provider B", kind: "web account" },
};

/** A provider sign-in that this tab began and has not finished. */
export interface ProviderAttempt {
  provider: ProviderName;
  /** `null` if the attempt links the provider to the signed-in account. */
  verifier: string | null;
  next: string;
}

/** Session storage key: the attempt must survive the redirect and stay in this tab. */
const ATTEMPT_KEY = "taffrail.trip";

/** Bytes of a PKCE verifier: 256 bits, as RFC 7636 section 7.1 advises. */
const VERIFIER_BYTES = 32;

/** Redirects to the provider, which returns to /auth/callback with a code that only this tab can exchange. */
export async function signInWith(provider: ProviderName, next: string): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  storeProviderAttempt({ provider, verifier, next });
  const query = new URLSearchParams({ mode: "code", code_challenge: base64url(new Uint8Array(hash)) });
  location.assign(`/auth/oauth/${provider}?${query}`);
}

export function storeProviderAttempt(attempt: ProviderAttempt): void {
  sessionStorage.setItem(ATTEMPT_KEY, JSON.stringify(attempt));
}

/** Returns and deletes the attempt that this tab began, or `null`. Its verifier is valid for one exchange. */
export function takeProviderAttempt(): ProviderAttempt | null {
  const text = sessionStorage.getItem(ATTEMPT_KEY);
  sessionStorage.removeItem(ATTEMPT_KEY);
  // SAFETY: only `storeProviderAttempt` writes this key.
  return text === null ? null : (JSON.parse(text) as ProviderAttempt);
}

export function isProvider(text: string | undefined): text is ProviderName {
  return PROVIDERS.some((provider) => provider === text);
}

/** The providers that this service has configured, from the page's `meta` element. */
export function configuredProviders(): readonly ProviderName[] {
  const names = document.querySelector<HTMLMetaElement>('meta[name="taffrail-providers"]')?.content.split(" ") ?? [];
  return PROVIDERS.filter((provider) => names.includes(provider));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
