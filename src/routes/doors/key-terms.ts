import { type Mapped, type Mapping, RecordReader, readerOf } from "../../doors/shared/record-reader.ts";
import { DEFAULT_SETTINGS, MAPPING_BOUNDS } from "../../keys/settings.ts";
import type { DoorTerms } from "../../workspace/ingest-calls.ts";

/** What a router knows of a key before it reads entries. */
export type Terms = Pick<DoorTerms, "settings" | "settingsVersion">;

/** The terms of most keys. The object returns others if they are not these. */
export const DEFAULT_TERMS: Terms = { settings: DEFAULT_SETTINGS, settingsVersion: 0 };

/** Keys and readers that are cached at most. */
const MAX_TERMS = 4_096;
const MAX_READERS = 64;

/** The least recently added value is dropped first. */
class BoundedMap<V> {
  readonly #max: number;
  readonly #values = new Map<string, V>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#max) return;
    const [oldest] = this.#values.keys();
    if (oldest !== undefined) this.#values.delete(oldest);
  }
}

/** Settings of keys by the keys' hashes, as their objects last returned them. A hint: the object compares the version. */
export const knownTerms = {
  terms: new BoundedMap<Terms>(MAX_TERMS),
  get(hash: string): Terms | undefined {
    return this.terms.get(hash);
  },
  set(hash: string, { settings, settingsVersion }: Terms): void {
    this.terms.set(hash, { settings, settingsVersion });
  },
};

/** Other names are parameters of clients: Datadog's `service` and `host` are values. */
const NAMED_IN_QUERY = ["message", "time", "level"] as const satisfies readonly Mapped[];

const readers = new BoundedMap<RecordReader>(MAX_READERS);

/**
 * Returns the reader of records for a key's mapping and the names of a query: `?message=log,msg&time=date&level=severity`.
 * Those of the query come first.
 */
export function readerFor(mapping: Mapping, query: URLSearchParams): RecordReader {
  const named: Partial<Record<Mapped, readonly string[]>> = { ...mapping };
  for (const part of query.size === 0 ? [] : NAMED_IN_QUERY) {
    const names = namesOf(query.get(part));
    if (names.length > 0) named[part] = [...names, ...(mapping[part] ?? [])];
  }
  if (Object.keys(named).length === 0) return readerOf();
  const text = JSON.stringify(named);
  const known = readers.get(text) ?? new RecordReader(named);
  readers.set(text, known);
  return known;
}

function namesOf(value: string | null): string[] {
  if (value === null) return [];
  const names = value.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "" && name.length <= MAPPING_BOUNDS.nameLength).slice(0, MAPPING_BOUNDS.names);
}
