import { authorized } from "../../session/session.ts";
import { fieldsOf } from "../explorer/fields/field-facts.ts";
import { releasesQuery } from "../investigate/releases/releases.ts";
import { noteFields, versionField } from "../investigate/releases/version-fields.ts";
import { BAR_MS, HOURS, MINUTES, type Now, type NowAnswer, newestReleases, nowOf } from "./now.ts";

/** Errors, as the overview counts them and links to them. */
export const ERRORS = "level:>=error";

const QUERIES = [
  `time:${MINUTES}m | stats count() as n by bin(1m)`,
  "level:>=warn time:1d | patterns vs 1d | where before:0 | limit 6",
  `${ERRORS} time:${HOURS}h | stats count() as n by bin(${BAR_MS / 60_000}m)`,
  `${ERRORS} time:${HOURS}h service:* | stats count() as n by service | sort n desc | limit 3`,
];
const FIELDS = `time:${HOURS}h | facets 1`;

/**
 * Loads what changes from minute to minute, with one request on one snapshot. The first one of a workspace also looks for a field with
 * versions; if there is one, a second request asks for the releases.
 */
export async function loadNow(workspaceId: string, signal: AbortSignal): Promise<Now> {
  const ask = async (queries: readonly string[]): Promise<NowAnswer[]> => {
    const body = { queries: queries.map((query) => ({ query })) };
    return (await authorized<{ answers: NowAnswer[] }>("/logger/search/batch", { workspaceId, body, signal })).data
      .answers;
  };
  const scope = { workspaceId, projectId: null };
  const known = versionField(scope);
  const isSearched = searched.has(workspaceId);
  const further = known !== null ? [releasesOf(known)] : isSearched ? [] : [FIELDS];
  const answers = await ask([...QUERIES, ...further]);
  const [last] = answers.slice(QUERIES.length);
  const now = Date.now();
  const shown = nowOf(answers, now);
  if (known !== null || isSearched) return { ...shown, releases: newestReleases(last, now) };
  searched.add(workspaceId);
  if (last?.ok !== true) return { ...shown, releases: [] };
  noteFields(scope, fieldsOf(last).fields);
  const field = versionField(scope);
  const [found] = field === null ? [] : await ask([releasesOf(field)]);
  return { ...shown, releases: newestReleases(found, now) };
}

/** Workspaces whose fields were listed. */
const searched = new Set<string>();

function releasesOf(field: string): string {
  return `time:${HOURS}h ${releasesQuery(field)}`;
}
