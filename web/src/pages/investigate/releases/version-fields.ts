import { signal } from "@preact/signals";
import type { LogEntry } from "../../../model/types.ts";
import { versionFieldIn } from "./releases.ts";

/**
 * Fields with versions, by workspace and project. They are found in the lists of fields that pages load, or looked for among all
 * entries, because a query such as `level:error` may leave out the entries that have them.
 */
const found = signal<ReadonlyMap<string, string>>(new Map());

export interface ReleaseScope {
  workspaceId: string;
  /** `null`: all projects. */
  projectId: string | null;
}

/** Looks for a field with versions in a list of fields. */
export function noteFields(scope: ReleaseScope, fields: readonly { name: string; type: string }[]): void {
  const field = versionFieldIn(fields);
  const key = keyOf(scope);
  if (field === null || found.peek().get(key) === field) return;
  found.value = new Map([...found.peek(), [key, field]]);
}

/** Renders the component again when the field is found. */
export function versionField(scope: ReleaseScope): string | null {
  return found.value.get(keyOf(scope)) ?? null;
}

/** Milliseconds for which a search without a find is not repeated. */
const VAIN_MS = 10 * 60_000;

/** Bounds of a request, as ISO 8601; open without one. */
interface Bounds {
  from?: string;
  to?: string;
}

interface Vain {
  /** Span that was searched, and when: epoch milliseconds. */
  start: number;
  end: number;
  at: number;
}

/** The last complete search of each scope that found no field. */
const vain = new Map<string, Vain>();

/** Notes a complete search of a span that found no field. @param now epoch milliseconds */
export function noteSearch(scope: ReleaseScope, bounds: Bounds, now: number): void {
  vain.set(keyOf(scope), { ...spanOf(bounds), at: now });
}

/**
 * Whether a search of the last minutes found no field in the span, or in one that has moved with the clock since.
 * @param now epoch milliseconds
 */
export function isSearched(scope: ReleaseScope, bounds: Bounds, now: number): boolean {
  const last = vain.get(keyOf(scope));
  if (last === undefined || now - last.at >= VAIN_MS) return false;
  const { start, end } = spanOf(bounds);
  return start >= last.start && end <= last.end + (now - last.at);
}

function spanOf({ from, to }: Bounds): { start: number; end: number } {
  return {
    start: from === undefined ? -Infinity : Date.parse(from),
    end: to === undefined ? Infinity : Date.parse(to),
  };
}

/** Levels of nesting at which a version is looked for: `resource.service.version`. */
const DEPTH = 3;

/** Looks for a field with versions in entries. */
export function noteEntries(scope: ReleaseScope, entries: readonly Pick<LogEntry, "data">[]): void {
  noteFields(
    scope,
    entries.flatMap(({ data }) => fieldsIn(data ?? {}, "", DEPTH)),
  );
}

function fieldsIn(
  data: Readonly<Record<string, unknown>>,
  parent: string,
  depth: number,
): { name: string; type: string }[] {
  return Object.entries(data).flatMap(([member, value]) => {
    const name = `${parent}${/^[A-Za-z_]\w*$/.test(member) ? member : JSON.stringify(member)}`;
    if (typeof value !== "object" || value === null) return [{ name, type: typeof value }];
    // SAFETY: members of any object can be read by name.
    return depth <= 1 ? [] : fieldsIn(value as Record<string, unknown>, `${name}.`, depth - 1);
  });
}

function keyOf({ workspaceId, projectId }: ReleaseScope): string {
  return `${workspaceId} ${projectId ?? ""}`;
}
