import {
  type Fields,
  fieldsAt,
  isRare,
  newFields,
  ROUTES,
  type TargetData,
  timestampAt,
  traceIdAt,
} from "./entries.ts";

/** What is true of all entries, computed from their numbers. Every answer is compared with it. */
export class Facts {
  readonly data: TargetData;
  readonly #routes: Uint8Array;
  readonly #durations: Uint16Array;
  readonly #statuses: Uint16Array;
  readonly #users: Uint16Array;
  readonly #timeouts: Uint8Array;

  constructor(data: TargetData) {
    const { entries } = data;
    this.data = data;
    this.#routes = new Uint8Array(entries);
    this.#durations = new Uint16Array(entries);
    this.#statuses = new Uint16Array(entries);
    this.#users = new Uint16Array(entries);
    this.#timeouts = new Uint8Array(entries);
    const fields = newFields();
    for (let index = 0; index < entries; index++) {
      fieldsAt(index, fields);
      this.#routes[index] = fields.route;
      this.#durations[index] = fields.durationMs;
      this.#statuses[index] = fields.status;
      this.#users[index] = fields.user;
      this.#timeouts[index] = Number(fields.isTimeout);
    }
  }

  /** Calls `take` with each entry, oldest first. The fields are valid during the call only. */
  each(take: (fields: Fields, index: number) => void): void {
    const fields = newFields();
    for (let index = 0; index < this.data.entries; index++) take(this.#fields(index, fields), index);
  }

  #fields(index: number, into: Fields): Fields {
    into.route = this.#routes[index] ?? 0;
    into.durationMs = this.#durations[index] ?? 0;
    into.status = this.#statuses[index] ?? 0;
    into.user = this.#users[index] ?? 0;
    into.isTimeout = this.#timeouts[index] === 1;
    return into;
  }

  /** Trace ids of the newest matching entries, newest first. */
  newest(limit: number, matches: (fields: Fields, index: number) => boolean): string[] {
    const found: string[] = [];
    const fields = newFields();
    for (let index = this.data.entries - 1; index >= 0 && found.length < limit; index--) {
      if (matches(this.#fields(index, fields), index)) found.push(traceIdAt(index));
    }
    return found;
  }

  /** Matching entries by key; a key that is `null` counts nowhere. */
  counts(keyOf: (fields: Fields, index: number) => string | null): Map<string, number> {
    const counts = new Map<string, number>();
    this.each((fields, index) => {
      const key = keyOf(fields, index);
      if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
    });
    return counts;
  }

  /** The nearest-rank percentile of the durations by key. @param share 0 to 1 */
  percentiles(share: number, keyOf: (fields: Fields, index: number) => string): Map<string, number> {
    const histograms = new Map<string, Uint32Array>();
    this.each((fields, index) => {
      const key = keyOf(fields, index);
      const known = histograms.get(key) ?? new Uint32Array(1500);
      known[fields.durationMs] = (known[fields.durationMs] ?? 0) + 1;
      histograms.set(key, known);
    });
    return new Map([...histograms].map(([key, histogram]) => [key, nearestRank(histogram, share)]));
  }

  distinctUsers(keyOf: (fields: Fields) => string): Map<string, number> {
    const seen = new Map<string, Set<number>>();
    this.each((fields) => {
      const key = keyOf(fields);
      const known = seen.get(key);
      if (known) known.add(fields.user);
      else seen.set(key, new Set([fields.user]));
    });
    return new Map([...seen].map(([key, users]) => [key, users.size]));
  }

  /** Start of the span of time that contains an entry, as the service and its peer write it. */
  binOf(index: number, binMs: number): string {
    return isoOf(timestampAt(this.data, index), binMs);
  }

  isRare(index: number): boolean {
    return isRare(this.data, index);
  }
}

function nearestRank(histogram: Uint32Array, share: number): number {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  let rank = Math.ceil(total * share);
  for (const [value, count] of histogram.entries()) {
    rank -= count;
    if (rank <= 0) return value;
  }
  return Number.NaN;
}

/** @param binMs length of the span in which the time is */
export function isoOf(timestamp: number, binMs = 1): string {
  return new Date(Math.floor(timestamp / binMs) * binMs).toISOString();
}

export function routeOf({ route }: Fields): string {
  return ROUTES[route] ?? "";
}

export function userOf({ user }: Fields): string {
  return `usr_${user}`;
}
