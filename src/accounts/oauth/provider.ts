/** The identity providers by neutral names: one that hosts code (like GitHub), one that speaks OpenID Connect. */
export const PROVIDERS = ["provider_a", "provider_b"] as const;

export type ProviderName = (typeof PROVIDERS)[number];

/** Identifies a person at a provider. Never by e-mail address, which may pass to another person. */
export interface Identity {
  provider: ProviderName;
  /** The provider's id of the account, as text in any case. */
  subject: string;
}

/** The provider's data about a user who signed in there. */
export interface ProviderProfile extends Identity {
  /** Normalized; `null` unless the provider reports this address as verified in the same document. */
  email: string | null;
  name: string | null;
}

/** Values of one flow, needed for the redirect to the provider and for its callback. */
export interface FlowSecrets {
  state: string;
  /** PKCE: the provider first gets its SHA-256, and with the code the text itself. */
  verifier: string;
  /** For OpenID Connect; the other protocol does not use it. */
  nonce: string;
  redirectUri: string;
}

/** `reason` is for the event: made of this service's words and of error codes, never of a provider's prose. */
export interface ProviderFailure {
  ok: false;
  code: "OAUTH_ACCESS_DENIED" | "OAUTH_PROVIDER_ERROR";
  reason: string;
}

export type ProviderResult<T> = { ok: true; value: T } | ProviderFailure;

export interface ProviderClient {
  /** The URL to which the browser is redirected. */
  authorizeUrl(flow: FlowSecrets): Promise<ProviderResult<URL>>;
  /** Exchanges the code of a callback, whose state was checked already, and identifies the user. */
  profile(callback: URLSearchParams, flow: FlowSecrets): Promise<ProviderResult<ProviderProfile>>;
}
