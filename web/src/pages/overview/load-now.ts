import type { ApiKey, LogEntry, Page } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { releasesQuery, versionedQuery } from "../investigate/releases/releases.ts";
import { noteEntries, versionField } from "../investigate/releases/version-fields.ts";
import { type KeyUse, keyUse, LISTED, UNUSED_DAYS } from "./key-use.ts";
import { BAR_MS, HOURS, MINUTES, type Now, type NowAnswer, newestReleases, nowOf } from "./now.ts";

/** That of the search for a field with versions has entries. */
type Answer = NowAnswer & { logs?: LogEntry[] };

/** Errors, as the overview counts them and links to them. */
export const ERRORS = "level:>=error";

const QUERIES = [
  `time:${MINUTES}m | stats count() as n by bin(1m)`,
  "level:>=warn time:1d | patterns vs 1d | where before:0 | limit 6",
  `${ERRORS} time:${HOURS}h | stats count() as n by bin(${BAR_MS / 60_000}m)`,
  `${ERRORS} time:${HOURS}h service:* | stats count() as n by service | sort n desc | limit 3`,
];
const VERSIONED = `time:${HOURS}h ${versionedQuery()}`;

/** Keys of a page: the most of the API. */
const PAGE = 200;

/**
 * Loads what changes from minute to minute, with one request on one snapshot. The first one of a workspace also looks for a field with
 * versions; if there is one, a second request asks for the releases.
 */
export async function loadNow(workspaceId: string, signal: AbortSignal): Promise<Now> {
  const ask = async (queries: readonly string[]): Promise<Answer[]> => {
    const body = { queries: queries.map((query) => ({ query })) };
    return (await authorized<{ answers: Answer[] }>("/logger/search/batch", { workspaceId, body, signal })).data
      .answers;
  };
  const scope = { workspaceId, projectId: null };
  const known = versionField(scope);
  const isSearched = searched.has(workspaceId);
  const further = known !== null ? [releasesOf(known)] : isSearched ? [] : [VERSIONED];
  const answers = await ask([...QUERIES, ...further]);
  const [last] = answers.slice(QUERIES.length);
  const now = Date.now();
  const shown = nowOf(answers, now);
  if (known !== null || isSearched) return { ...shown, releases: newestReleases(last, now) };
  searched.add(workspaceId);
  if (last?.ok !== true) return { ...shown, releases: [] };
  noteEntries(scope, last.logs ?? []);
  const field = versionField(scope);
  const [found] = field === null ? [] : await ask([releasesOf(field)]);
  return { ...shown, releases: newestReleases(found, now) };
}

/** Workspaces in which a field with versions was looked for. */
const searched = new Set<string>();

function releasesOf(field: string): string {
  return `time:${HOURS}h ${releasesQuery(field)}`;
}

/** Loads the keys without use: with one request, or two if the workspace has more keys than a page. */
export async function loadKeyUse(workspaceId: string, signal: AbortSignal): Promise<KeyUse> {
  const get = async (parameters: string): Promise<Page<ApiKey>> =>
    (await authorized<Page<ApiKey>>(`/workspaces/${workspaceId}/keys?${parameters}`, { signal })).data;
  const all = await get(`limit=${PAGE}`);
  if (all.nextCursor === null) return keyUse(all.items, Date.now());
  // The young ones are not looked for among so many.
  const { items, nextCursor } = await get(`unusedForDays=${UNUSED_DAYS}&limit=${LISTED}`);
  return { unused: items, young: [], hasMore: nextCursor !== null };
}
