/** Client IP that the service reports if unknown. */
const UNKNOWN = "0.0.0.0";

/** Formats a client IP. */
export function clientIpText(address: string): string {
  return address === UNKNOWN ? "Unknown" : address;
}
