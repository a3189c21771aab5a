import ipaddr from "ipaddr.js";
import { isLoopback } from "./loopback.ts";

/** Characters of a URL. */
export const MAX_URL_LENGTH = 2048;

/** Names that no public DNS has, and those of services inside of clouds. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|home\.arpa|test|invalid)\.?$/;

/**
 * Returns what is wrong with a URL that a user has chosen, or `null`. A name may still resolve to a private address: the
 * outbound network refuses such a connection (`outbound.ts`).
 * @param network `loopback`: also http to this machine, for tests
 */
export function urlProblem(text: string, network: "public" | "loopback"): string | null {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return "must be a URL";
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return "must not contain a user name or a password";
  if (url.hash !== "") return "must not contain a fragment";
  if (network === "loopback" && isLoopback(url) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== "https:") return "must be an https URL";
  return isPublicHost(url.hostname) ? null : "must name a public host";
}

/** All of IPv6 that is assigned for global unicast. Outside of it are IPv4 addresses in another form, such as `::7f00:1`. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** The parser of URLs has turned every spelling of an IPv4 address, such as a decimal number, into four numbers. */
function isPublicHost(host: string): boolean {
  const literal = host.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.isValid(literal)) {
    const address = ipaddr.parse(literal);
    if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)) return false;
    return address.range() === "unicast";
  }
  return host.replace(/\.$/, "").includes(".") && !PRIVATE_NAME.test(host);
}
