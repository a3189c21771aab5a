import { randomBytes } from "node:crypto";
import { startGithubShapedProvider } from "./github-shape.ts";
import { type LocalProvider, startIdentityProvider } from "./identity-provider.ts";

export interface BothOptions {
  /** BASE_URL of the service, which has the callbacks. */
  baseUrl: string;
  host: string;
  /** Ports of provider A and provider B; 0 takes a free one. */
  ports: readonly [number, number];
}

export interface BothProviders {
  a: LocalProvider;
  b: LocalProvider;
  /** Settings of the service for the providers. */
  settings: Record<string, string>;
  close(): Promise<void>;
}

/** Both kinds of identity provider on this machine, each with the service as its only client. */
export async function startBothProviders({ baseUrl, host, ports }: BothOptions): Promise<BothProviders> {
  const clientOf = (provider: string) => ({
    id: `taffrail-${provider}`,
    secret: randomBytes(24).toString("base64url"),
    redirectUri: `${baseUrl}/auth/oauth/${provider}/callback`,
  });
  const [clientA, clientB] = [clientOf("provider_a"), clientOf("provider_b")];
  const a = await startGithubShapedProvider({
    host,
    port: ports[0],
    client: { ...clientA, authMethod: "client_secret_post" },
  });
  const b = await startIdentityProvider({
    title: "Local provider B (OpenID Connect)",
    host,
    port: ports[1],
    client: { ...clientB, authMethod: "client_secret_basic" },
    scopes: ["openid"],
  });
  return {
    a,
    b,
    settings: {
      PROVIDER_A_CLIENT_ID: clientA.id,
      PROVIDER_A_CLIENT_SECRET: clientA.secret,
      PROVIDER_A_AUTHORIZE_URL: a.authorizeUrl,
      PROVIDER_A_TOKEN_URL: a.tokenUrl,
      PROVIDER_A_API_URL: a.apiUrl,
      PROVIDER_B_CLIENT_ID: clientB.id,
      PROVIDER_B_CLIENT_SECRET: clientB.secret,
      PROVIDER_B_ISSUER: b.url,
    },
    async close() {
      await Promise.all([a.close(), b.close()]);
    },
  };
}
