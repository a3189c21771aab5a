import { type BothProviders, startBothProviders } from "../../../../scripts/providers/both.ts";
import { freePort, startServer, type TestServer } from "../../../support/server.ts";
import { FRONTEND } from "./flows.ts";

/** The service, configured with both providers. */
export interface OAuthService {
  server: TestServer;
  url: string;
  providers: BothProviders;
  stop(): Promise<void>;
}

export async function startOAuthService(env: Readonly<Record<string, string>> = {}): Promise<OAuthService> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const providers = await startBothProviders({ baseUrl: url, host: "127.0.0.1", ports: [0, 0] });
  const server = await startServer({
    env: { PORT: String(port), FRONTEND_URL: FRONTEND, LOG_LEVEL: "info", ...providers.settings, ...env },
  });
  return {
    server,
    url,
    providers,
    async stop() {
      await server.stop();
      await providers.close();
    },
  };
}
