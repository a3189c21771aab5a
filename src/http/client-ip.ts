import ipaddr from "ipaddr.js";

/** What counts when no header names an address: local callers without a proxy share it. */
export const DEFAULT_CLIENT_IP = "0.0.0.0";

/**
 * The address that limits count by: the edge's client-IP header, then the first of `X-Forwarded-For`, then a constant.
 * An IPv6 caller owns at least a /64, so the /64 is what counts. Text that is no address counts as the constant.
 */
export function clientIp(headers: Headers): string {
  const edge = headers.get("CF-Connecting-IP");
  const named = edge ?? headers.get("X-Forwarded-For")?.split(",", 1)[0];
  return named ? normalizeIp(named.trim()) : DEFAULT_CLIENT_IP;
}

export function normalizeIp(text: string): string {
  if (!ipaddr.isValid(text)) return DEFAULT_CLIENT_IP;
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`);
  return `${network.toString()}/64`;
}
