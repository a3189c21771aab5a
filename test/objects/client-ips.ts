const part = (most: number): number => 1 + Math.floor(Math.random() * (most - 1));

/** A client IP that no other test uses: its object keeps its counters from file to file, as `reset` deletes only what is in memory. */
export function newIp(): string {
  return `10.${part(255)}.${part(255)}.${part(255)}`;
}

/** The first half of IPv6 addresses of one network of clients (/64) that no other test uses. */
export function newNetwork(): string {
  return `2001:db8:${part(0xffff).toString(16)}:${part(0xffff).toString(16)}`;
}
