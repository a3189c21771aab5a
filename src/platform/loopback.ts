import ipaddr from "ipaddr.js";

const LOOPBACK_HOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a URL refers to this machine, the only destination for plain HTTP. */
export function isLoopback(url: URL): boolean {
  return LOOPBACK_HOST.test(url.hostname);
}

/** Whether a URL uses HTTPS, or plain HTTP to this machine. */
export function isSecure(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
}

/** Client IP of a client without a known address. */
export const UNKNOWN_CLIENT_IP = "0.0.0.0";

/**
 * Returns the client IP for limits: the edge's client-IP header, then the first of `X-Forwarded-For`, then `unnamed`.
 * An IPv6 client owns at least a /64, so the /64 is counted. Text that is not an IP address counts as
 * `UNKNOWN_CLIENT_IP`.
 * @param unnamed client IP of requests without such a header: the setting DEFAULT_CLIENT_IP
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
