import { useRef } from "preact/hooks";
import type { Release } from "../../../charts/releases.ts";
import { useLoad } from "../../../lib/load.ts";
import { ask, queryFor } from "../ask.ts";
import type { TimeSpan } from "../compare/spans-of-time.ts";
import { releasesQuery, releasesSearch, versionedQuery } from "./releases.ts";
import { isSearched, noteEntries, noteSearch, type ReleaseScope, versionField } from "./version-fields.ts";

const MINUTE = 60_000;
const NONE: readonly Release[] = [];

interface ReleasesOptions extends ReleaseScope {
  /** Bounds of the request. */
  bounds: { from?: string; to?: string };
  /** The span that is shown, epoch milliseconds. */
  span: TimeSpan;
  /** False while the page loads what comes first. */
  isWanted: boolean;
}

/**
 * Loads the releases of a span, for all queries about the span: looks for a field with versions among all entries, if no list of fields
 * has had one. Those of the span before stay until they arrive. A failure, and an answer that lacks older entries, only hide them.
 */
export function useReleases({ bounds, span, isWanted, ...scope }: ReleasesOptions): readonly Release[] {
  const { workspaceId, projectId } = scope;
  const field = versionField(scope);
  const { from, to } = bounds;
  const { start, end } = span;
  const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const minutes = [start, end].map((at) => Math.floor(at / MINUTE));
  const of = `${workspaceId} ${projectId}`;
  useVersionSearch(scope, range, isWanted && field === null ? JSON.stringify([of, from, to, minutes]) : null);
  const begun = useRef("");
  if (isWanted && field !== null) begun.current = JSON.stringify([of, field, from, to, minutes]);
  const { data } = useLoad(begun.current, async (signal): Promise<Found> => {
    if (field === null) return { of, releases: NONE };
    const search = releasesSearch(span, from === undefined);
    const asked = from === undefined ? range : { ...range, from: new Date(search.start).toISOString() };
    const query = queryFor(releasesQuery(field), projectId, asked);
    const [answer] = await ask(workspaceId, [query], signal, { followsSearch: true });
    return { of, releases: answer?.complete ? search.read(answer) : NONE };
  });
  const last = useRef(data);
  if (data !== null) last.current = data;
  return last.current?.of === of ? last.current.releases : NONE;
}

/**
 * Looks for a field with versions among all entries of a span, unless a search of the last minutes found none.
 * @param key of the search: a new key searches again; `null`: waits
 */
export function useVersionSearch(
  scope: ReleaseScope,
  bounds: { from?: string; to?: string },
  key: string | null,
): void {
  const { workspaceId, projectId } = scope;
  const sought = useRef("");
  if (key !== null) sought.current = key;
  useLoad(sought.current, async (signal): Promise<null> => {
    const now = Date.now();
    if (sought.current === "" || isSearched(scope, bounds, now)) return null;
    const query = queryFor(versionedQuery(), projectId, bounds);
    const [answer] = await ask(workspaceId, [query], signal, { followsSearch: true });
    noteEntries(scope, answer?.logs ?? []);
    if (answer?.complete && versionField(scope) === null) noteSearch(scope, bounds, now);
    return null;
  });
}

interface Found {
  /** Workspace and project. */
  of: string;
  releases: readonly Release[];
}
