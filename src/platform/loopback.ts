import ipaddr from "ipaddr.js";

const LOOPBACK_HOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a URL names this very machine: the one place that plain http may go to. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK_HOST.test(url.hostname);
}

/** https anywhere, plain http on this machine only. */
export function isSecure(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** Stands for a client whose address is not known. */
export const UNKNOWN_CLIENT_IP = "0.0.0.0";

/**
 * The address that limits count by: the edge's client-IP header, then the first of `X-Forwarded-For`, then `unnamed`.
 * An IPv6 caller owns at least a /64, so the /64 is what counts. Text that is no address counts as `UNKNOWN_CLIENT_IP`.
 * @param unnamed the address of callers that no header names: the setting DEFAULT_CLIENT_IP
 */
export function clientIp(headers: Headers, unnamed: string): string {
  const edge = headers.get("CF-Connecting-IP");
  const named = edge ?? headers.get("X-Forwarded-For")?.split(",", 1)[0];
  return normalizeIp(named ? named.trim() : unnamed);
}

export function normalizeIp(text: string): string {
  if (!ipaddr.isValid(text)) return UNKNOWN_CLIENT_IP;
  const address = ipaddr.process(text);
  if (address.kind() === "ipv4") return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/64`);
  return `${network.toString()}/64`;
}
