import { PROVIDERS, type ProviderName } from "../../model/account.ts";

/** What people see of a provider; which services stand behind them is a setting of the service. */
export const PROVIDER_LABELS: Readonly<Record<ProviderName, { name: string; kind: string }>> = {
  provider_a: { name: "provider A", kind: "code hosting" },
  provider_b: { name: "provider B", kind: "web account" },
};

/** A trip to a provider that this tab has begun, and waits for the end of. */
export interface Trip {
  provider: ProviderName;
  /** Null for a link to the account that is signed in. */
  verifier: string | null;
  next: string;
}

/** In session storage: it must outlive the trip, and stay in this tab. */
const TRIP_KEY = "taffrail.trip";

/** Bytes of a PKCE verifier: 256 bits, as RFC 7636 section 7.1 advises. */
const VERIFIER_BYTES = 32;

/** To the provider's page, and back to /auth/callback with a code that only this tab can exchange. */
export async function signInWith(provider: ProviderName, next: string): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  beginTrip({ provider, verifier, next });
  const query = new URLSearchParams({ mode: "code", code_challenge: base64url(new Uint8Array(hash)) });
  location.assign(`/auth/oauth/${provider}?${query}`);
}

export function beginTrip(trip: Trip): void {
  sessionStorage.setItem(TRIP_KEY, JSON.stringify(trip));
}

/** The trip that this tab has begun; null where it has begun none. Its verifier is good for one exchange. */
export function takeTrip(): Trip | null {
  const text = sessionStorage.getItem(TRIP_KEY);
  sessionStorage.removeItem(TRIP_KEY);
  // SAFETY: only `beginTrip` writes it, on this very origin.
  return text === null ? null : (JSON.parse(text) as Trip);
}

export function isProvider(text: string | undefined): text is ProviderName {
  return PROVIDERS.some((provider) => provider === text);
}

/** The providers that this service is set up for, as it says in the page itself. */
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
