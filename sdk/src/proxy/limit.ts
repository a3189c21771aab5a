/** Returns whether a request of this client IP may pass. `address` is `undefined` if the client IP is unknown. */
export type RateLimit = (address: string | undefined, request: Request) => boolean | Promise<boolean>;

export interface MemoryLimitOptions {
  perAddress: number;
  total: number;
  windowMs: number;
  /** Maximal number of counted addresses. Beyond it the least recently used one is evicted. */
  maxAddresses: number;
  now(): number;
}

interface Window {
  startedAt: number;
  count: number;
  /** Count of the previous window. */
  before: number;
}

/** Approximates a sliding window by two fixed ones, of which the older counts in part: three numbers per address. */
export function memoryLimit({ perAddress, total, windowMs, maxAddresses, now }: MemoryLimitOptions): RateLimit {
  const addresses = new Map<string, Window>();
  const all: Window = { startedAt: now(), count: 0, before: 0 };

  function hasRoom(window: Window, limit: number, at: number): boolean {
    const passed = Math.floor((at - window.startedAt) / windowMs);
    if (passed > 0) {
      window.before = passed === 1 ? window.count : 0;
      window.count = 0;
      window.startedAt += passed * windowMs;
    }
    const rest = 1 - (at - window.startedAt) / windowMs;
    return window.count + window.before * rest < limit;
  }

  return (address) => {
    const at = now();
    const mine = address === undefined ? undefined : (addresses.get(address) ?? { startedAt: at, count: 0, before: 0 });
    if (mine && !hasRoom(mine, perAddress, at)) return false;
    if (!hasRoom(all, total, at)) return false;
    all.count++;
    if (mine && address !== undefined) {
      mine.count++;
      addresses.delete(address);
      addresses.set(address, mine);
      if (addresses.size > maxAddresses) addresses.delete(addresses.keys().next().value ?? address);
    }
    return true;
  };
}
