/**
 * `npm run start:providers`: `npm start` with two identity providers in the same process, so that both OAuth flows can
 * be tried on one machine. Every visitor can sign in as any user, so use it for tests only.
 */
import { exitWith } from "./lib/failure.ts";
import { addressOf, claimablePort } from "./lib/port.ts";
import { startSettings } from "./lib/settings.ts";
import { startBothProviders } from "./providers/both.ts";

/** A loopback host, whatever HOST is, because only this machine may reach the providers. */
const PROVIDER_HOST = "127.0.0.1";

try {
  const { HOST, PORT } = startSettings(process.env);
  const port = await claimablePort(HOST, PORT);
  const baseUrl = process.env.BASE_URL || addressOf(HOST, port);
  const ports = [await portOrAnother(port + 1), await portOrAnother(port + 2)] as const;
  const { a, b, settings } = await startBothProviders({ baseUrl, host: PROVIDER_HOST, ports });
  Object.assign(process.env, settings, { PORT: String(port) });
  console.log(`Identity providers for tests; every visitor can sign in as any user:

  provider_a      ${a.url}   sign in: ${baseUrl}/auth/oauth/provider_a
  provider_b      ${b.url}   sign in: ${baseUrl}/auth/oauth/provider_b
`);
} catch (error) {
  exitWith(error);
}
// Serves until a stop signal, and then ends this process with the providers.
await import("./start.ts");

/** The ports after the service's, so that addresses stay the same between starts; 0, any port, if one is taken. */
function portOrAnother(port: number): Promise<number> {
  return claimablePort(PROVIDER_HOST, port).catch(() => 0);
}
