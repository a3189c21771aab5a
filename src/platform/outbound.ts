import type { Env } from "../env.ts";

/** The part of `fetch` that requests to addresses of users go through. */
export type Outbound = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Returns the way to addresses that users have chosen, which reaches public addresses alone; `null` without one.
 * `npm start` binds a network of its own. Deployed, the compatibility flag `global_fetch_strictly_public` binds the global
 * `fetch` to the public Internet. Under `wrangler dev` neither holds, so there is no way out.
 * @param isLocal whether the service runs on this machine: a loopback BASE_URL
 */
export function outboundOf(env: Env, isLocal: boolean): Outbound | null {
  const { OUTBOUND } = env;
  if (OUTBOUND) return (url, init) => OUTBOUND.fetch(url, init);
  return isLocal ? null : (url, init) => fetch(url, init);
}
