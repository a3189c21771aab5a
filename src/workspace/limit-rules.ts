import { API_DEFAULT, type RouteRef } from "../limits/state.ts";

/** Bounds of a configured limit, from the HTTP contract. */
export const LIMIT_BOUNDS = {
  limit: { min: 1, max: 1_000_000 },
  windowSeconds: { min: 1, max: 3600, default: 60 },
  /** `limit * windowSeconds` at most: what keeps a counter's memory bounded. */
  product: 60_000_000,
} as const;

export interface Limit {
  limit: number;
  windowSeconds: number;
}

/** A workspace's own configuration; null fields fall to the next level of the cascade. */
export interface LimitConfiguration {
  default: Limit | null;
}

/** These routes always fall under the preset, so that nobody locks himself out of changing the limits. */
const SETTINGS_PATTERN = "/workspaces/:workspaceId/rate-limits";

/** The limit a request falls under: the workspace default, else the preset. */
export function limitFor(configuration: LimitConfiguration, route: RouteRef): Limit {
  if (route.pattern === SETTINGS_PATTERN) return API_DEFAULT;
  return configuration.default ?? API_DEFAULT;
}

/** The counter's identifier: the settings routes count apart, as their limit differs from the default's. */
export function counterIdentifier(caller: string, configuration: LimitConfiguration, route: RouteRef): string {
  return configuration.default && route.pattern === SETTINGS_PATTERN ? `${caller} ${SETTINGS_PATTERN}` : caller;
}
