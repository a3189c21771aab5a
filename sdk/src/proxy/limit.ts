/** Says whether a request of this address may pass. `address` is missing where nothing tells it. */
export type RateLimit = (address: string | undefined, request: Request) => boolean | Promise<boolean>;

export interface MemoryLimitOptions {
  perAddress: number;
  total: number;
  windowMs: number;
  /** More addresses than that push the longest silent ones out. */
  maxAddresses: number;
  now(): number;
}

interface Window {
  startedAt: number;
  count: number;
  /** Of the window before. */
  before: number;
}

/** Counts by two windows, the older one by the part of it that is not yet over: near to a sliding one, in 3 numbers. */
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
