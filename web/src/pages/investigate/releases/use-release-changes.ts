import type { Release } from "../../../charts/releases.ts";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import { ask, queryFor } from "../ask.ts";
import { changeQueries, changesOf, type ReleaseChanges } from "./release-changes.ts";
import type { ReleaseScope } from "./version-fields.ts";

/**
 * Loads what each release changed, in one request.
 * @param field with versions; `null`: waits
 * @param releases few enough for their queries to fit into a request
 */
export function useReleaseChanges(
  { workspaceId, projectId }: ReleaseScope,
  field: string | null,
  releases: readonly Release[],
): Loaded<ReleaseChanges[]> {
  const key = JSON.stringify([workspaceId, projectId, field, releases]);
  return useLoad(key, async (signal): Promise<ReleaseChanges[]> => {
    if (field === null || releases.length === 0) return [];
    const queries = releases.map((release) => changeQueries(field, release));
    const asked = queries.flat().map(({ query, from, to }) => queryFor(query, projectId, { from, to }));
    const answers = asked.length === 0 ? [] : await ask(workspaceId, asked, signal, { followsSearch: true });
    return releases.map((release, at) => {
      const before = queries.slice(0, at).flat().length;
      const own = answers.slice(before, before + (queries[at]?.length ?? 0));
      return changesOf(
        field,
        release,
        own.map(({ logs }) => logs),
      );
    });
  });
}
