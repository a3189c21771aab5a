import type { Release } from "../../../charts/releases.ts";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import { loadChanges } from "./known-changes.ts";
import type { ReleaseChanges } from "./release-changes.ts";
import type { ReleaseScope } from "./version-fields.ts";

/**
 * Loads what each release changed, in one request.
 * @param field with versions; `null`: waits
 * @param releases few enough for their queries to fit into a request
 */
export function useReleaseChanges(
  scope: ReleaseScope,
  field: string | null,
  releases: readonly Release[],
): Loaded<ReleaseChanges[]> {
  const key = JSON.stringify([scope.workspaceId, scope.projectId, field, releases]);
  return useLoad(
    key,
    async (signal): Promise<ReleaseChanges[]> =>
      field === null || releases.length === 0 ? [] : await loadChanges(scope, field, releases, signal),
  );
}
