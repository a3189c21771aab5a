import { type LogFilter, type NoMembers, sortedNames } from "../logs/query/filter.ts";

/** The filters that a tail accepts: all of a query but these. */
export type TailFilter = Omit<LogFilter, "from" | "to" | "data">;

/**
 * Version of the filter text. A new member is appended after the version, with the next version, and only in texts of
 * filters that set the member: routers and objects of two versions exchange texts during a deploy.
 */
const TEXT_VERSION = 1;

/**
 * Encodes a filter as text, with the version that introduced it. Equal filters have equal texts, so that their tails
 * share one tail group.
 */
export function tailFilterText(filter: TailFilter): string {
  const { levelMask, categories, types, session, traceId, search, ...unwritten } = filter;
  unwritten satisfies NoMembers;
  return JSON.stringify([
    levelMask,
    sortedNames(categories),
    sortedNames(types),
    session,
    traceId,
    search,
    TEXT_VERSION,
  ]);
}

type FilterText = [
  levelMask: number,
  categories: string[] | null,
  types: string[] | null,
  session: string | null,
  traceId: string | null,
  search: string | null,
  /** Absent in texts that were written before texts had a version. */
  version?: number,
];

/** Whether this version of the service applies all filters of a text. A later version may write texts with others. */
export function isKnownTailFilter(text: string): boolean {
  const version = fieldsOf(text)[6] ?? TEXT_VERSION;
  return version <= TEXT_VERSION;
}

/**
 * Decodes a filter.
 * @param text as written by `tailFilterText`, of this or an earlier version
 */
export function readTailFilter(text: string): TailFilter {
  if (!isKnownTailFilter(text)) throw new Error("A later version has written this filter.");
  const [levelMask, categories, types, session, traceId, search] = fieldsOf(text);
  return { levelMask, categories, types, session, traceId, search };
}

/**
 * Converts a tail's filter into a query filter.
 * @param oldest excludes entries with an earlier timestamp as expired, epoch milliseconds; `null` if no entry can be
 * expired
 */
export function toLogFilter(filter: TailFilter, oldest: number | null): LogFilter {
  return { ...filter, from: oldest, to: null, data: [] };
}

function fieldsOf(text: string): FilterText {
  // SAFETY: only `tailFilterText` writes texts.
  return JSON.parse(text) as FilterText;
}
