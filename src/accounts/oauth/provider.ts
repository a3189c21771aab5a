/** The identity providers by their neutral names: one that hosts code (GitHub's shape), one that speaks OpenID Connect. */
export const PROVIDERS = ["provider_a", "provider_b"] as const;

export type ProviderName = (typeof PROVIDERS)[number];

/** Who somebody is at a provider. Never the e-mail address: that may change hands. */
export interface Identity {
  provider: ProviderName;
  /** The provider's own id of the account; text, whatever it is there. */
  subject: string;
}

/** What a provider says of whoever signed in there. */
export interface ProviderProfile extends Identity {
  /** Normalized; null unless the provider calls this very address verified in the same document. */
  email: string | null;
  name: string | null;
}

/** One flow's values, as both the way to the provider and the way back need them. */
export interface FlowSecrets {
  state: string;
  /** PKCE; the provider gets its SHA-256 first and the text itself with the code. */
  verifier: string;
  /** For OpenID Connect; the other protocol has no place for it. */
  nonce: string;
  redirectUri: string;
}

/** `reason` is for the operation line: made of our own words and of error codes, never of a provider's prose. */
export interface ProviderFailure {
  ok: false;
  code: "OAUTH_ACCESS_DENIED" | "OAUTH_PROVIDER_ERROR";
  reason: string;
}

export type ProviderResult<T> = { ok: true; value: T } | ProviderFailure;

export interface ProviderClient {
  /** Where to send the browser. */
  authorizeUrl(flow: FlowSecrets): Promise<ProviderResult<URL>>;
  /** Exchanges the code of a callback, whose state was checked already, and asks who it is. */
  profile(callback: URLSearchParams, flow: FlowSecrets): Promise<ProviderResult<ProviderProfile>>;
}
