import { type ApiKey, ERRORS, type LogEntry, type Page } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import type { BatchQuery } from "../boards/board-query.ts";
import { releasesQuery, versionedQuery } from "../investigate/releases/releases.ts";
import { isSearched, noteEntries, noteSearch, versionField } from "../investigate/releases/version-fields.ts";
import { type KeyUse, keyUse, UNUSED_DAYS } from "./key-use.ts";
import {
  BAR_MS,
  HOURS,
  isWhole,
  LISTED,
  MINUTES,
  type Now,
  type NowAnswer,
  newestReleases,
  nowOf,
  releasesStart,
} from "./now.ts";

/** That of the search for a field with versions has entries. */
type Answer = NowAnswer & { logs?: LogEntry[] };

const BY_BAR = `stats count() as n by bin(${BAR_MS / 60_000}m)`;
/** The cheap ones: the batch refuses the last ones of a large workspace. */
const COUNTS = [
  `time:${MINUTES}m | stats count() as n by bin(1m)`,
  `${ERRORS} time:${HOURS}h | ${BY_BAR}`,
  `${ERRORS} time:${HOURS}h service:* | stats count() as n by service | sort n desc | limit 3`,
  `level:>=warn time:${2 * HOURS}h | ${BY_BAR}`,
];
const PATTERNS = `level:>=warn time:1d | patterns vs 1d | where before:0 | limit ${LISTED}`;
const VERSIONED = `time:${HOURS}h ${versionedQuery()}`;

/** Keys of a page: the most of the API. */
const PAGE = 200;

/**
 * Loads what changes from minute to minute, with one request on one snapshot. It also looks for a field with versions, unless a search
 * of the last minutes found none; if there is one, a second request asks for the releases.
 */
export async function loadNow(workspaceId: string, signal: AbortSignal): Promise<Now> {
  const ask = async (queries: readonly (string | BatchQuery)[]): Promise<Answer[]> => {
    const body = { queries: queries.map((query) => (typeof query === "string" ? { query } : query)) };
    return (await authorized<{ answers: Answer[] }>("/logger/search/batch", { workspaceId, body, signal })).data
      .answers;
  };
  const scope = { workspaceId, projectId: null };
  const known = versionField(scope);
  const asked = Date.now();
  const range = { from: new Date(asked - HOURS * 3_600_000).toISOString() };
  const isKnownWithout = known === null && isSearched(scope, range, asked);
  const further = known !== null ? [releasesOf(known, asked)] : isKnownWithout ? [] : [VERSIONED];
  const answers = await ask([...COUNTS, ...further, PATTERNS]);
  const last = answers[COUNTS.length];
  const now = Date.now();
  const shown = nowOf([...answers.slice(0, COUNTS.length), answers.at(-1)], now);
  if (known !== null) return { ...shown, releases: newestReleases(last, asked) };
  if (isKnownWithout) return { ...shown, releases: [] };
  if (last?.ok !== true) return { ...shown, releases: null };
  noteEntries(scope, last.logs ?? []);
  const field = versionField(scope);
  if (field !== null) return { ...shown, releases: newestReleases((await ask([releasesOf(field, asked)]))[0], asked) };
  if (!isWhole(last)) return { ...shown, releases: null };
  noteSearch(scope, range, asked);
  return { ...shown, releases: [] };
}

function releasesOf(field: string, now: number): BatchQuery {
  return { query: releasesQuery(field), from: new Date(releasesStart(now)).toISOString() };
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
