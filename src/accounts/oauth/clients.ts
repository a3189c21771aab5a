import type { Settings } from "../../settings.ts";
import { PROVIDERS, type ProviderClient, type ProviderName } from "./provider.ts";
import { providerA } from "./provider-a.ts";
import { providerB } from "./provider-b.ts";

/** Returns the client of a provider; `null` if the settings have no client id for it. */
export function providerClient(provider: ProviderName, settings: Settings): ProviderClient | null {
  const { PROVIDER_A_CLIENT_ID, PROVIDER_B_CLIENT_ID } = settings;
  if (provider === "provider_a") return PROVIDER_A_CLIENT_ID ? providerA(settings, PROVIDER_A_CLIENT_ID) : null;
  return PROVIDER_B_CLIENT_ID ? providerB(settings, PROVIDER_B_CLIENT_ID) : null;
}

/** The providers for which the settings have a client id. */
export function configuredProviders(settings: Settings): ProviderName[] {
  return PROVIDERS.filter((provider) => providerClient(provider, settings) !== null);
}
