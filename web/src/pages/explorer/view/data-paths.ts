import type { LogEntry } from "../../../model/types.ts";
import type { Scalar } from "../filters.ts";
import { writePath } from "../results/data-path.ts";

/** Bounds of the suggestions: entries, depth, paths, values per path and length of a value. They keep the scan fast. */
const LOOK = { entries: 200, depth: 5, paths: 200, values: 20, valueLength: 120 } as const;

/** Paths to scalars that occur in the entries, with some of their values, most frequent paths first. */
export function pathsIn(entries: readonly LogEntry[]): ReadonlyMap<string, readonly Scalar[]> {
  const found = new Map<string, { count: number; values: Set<Scalar> }>();
  for (const { data } of entries.slice(0, LOOK.entries)) {
    if (data !== undefined) visit(data, []);
  }
  const byCount = [...found].sort(([, a], [, b]) => b.count - a.count);
  return new Map(byCount.map(([path, { values }]) => [path, [...values]]));

  function visit(record: object, names: readonly string[]): void {
    for (const [name, value] of Object.entries(record)) {
      const path = [...names, name];
      if (typeof value === "object" && value !== null) {
        if (!Array.isArray(value) && path.length < LOOK.depth) visit(value, path);
      } else note(writePath(path), value);
    }
  }

  function note(path: string, value: Scalar): void {
    const known = found.get(path);
    if (known === undefined && found.size === LOOK.paths) return;
    const { count, values } = known ?? { count: 0, values: new Set<Scalar>() };
    if (values.size < LOOK.values && String(value).length <= LOOK.valueLength) values.add(value);
    found.set(path, { count: count + 1, values });
  }
}
