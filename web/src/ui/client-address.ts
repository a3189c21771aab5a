/** What the service gives as the address of a client that it does not know. */
const UNKNOWN = "0.0.0.0";

/** A client's address as people read it. */
export function shownAddress(address: string): string {
  return address === UNKNOWN ? "Unknown" : address;
}
