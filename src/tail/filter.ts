import { type LogFilter, type NoMembers, sortedNames } from "../logs/query/filter.ts";

/** The filters that a tail accepts: all of a query but these. */
export type TailFilter = Omit<LogFilter, "from" | "to" | "data" | "rest"> & {
  /** Text of `rest`. The console writes texts of filters as well, without what evaluates them. */
  rest: string | null;
};

/**
 * Version of the filter text. A new member is appended after the version, with the next version, and only in texts of
 * filters that set the member: routers and objects of two versions exchange texts during a deploy.
 */
const TEXT_VERSION = 1;
/** Of a text with a filter of the query language. */
const LANGUAGE_VERSION = 2;

/**
 * Encodes a filter as text, with the version that introduced it. Equal filters have equal texts, so that their tails
 * share one tail group.
 */
export function tailFilterText(filter: TailFilter): string {
  const { levelMask, categories, types, session, traceId, search, rest, ...unwritten } = filter;
  unwritten satisfies NoMembers;
  const members = [levelMask, sortedNames(categories), sortedNames(types), session, traceId, search] as const;
  const fields: FilterText = rest === null ? [...members, TEXT_VERSION] : [...members, LANGUAGE_VERSION, rest];
  return JSON.stringify(fields);
}

type FilterText = [
  levelMask: number,
  categories: readonly string[] | null,
  types: readonly string[] | null,
  session: string | null,
  traceId: string | null,
  search: string | null,
  /** Absent in texts that were written before texts had a version. */
  version?: number,
  /** From version 2 on: a filter of the query language, without durations. */
  rest?: string,
];

/** Whether this version of the service applies all filters of a text. A later version may write texts with others. */
export function isKnownTailFilter(text: string): boolean {
  const version = fieldsOf(text)[6] ?? TEXT_VERSION;
  return version <= LANGUAGE_VERSION;
}

/**
 * Decodes a filter.
 * @param text as written by `tailFilterText`, of this or an earlier version
 */
export function readTailFilter(text: string): TailFilter {
  if (!isKnownTailFilter(text)) throw new Error("A later version has written this filter.");
  const [levelMask, categories, types, session, traceId, search, , rest] = fieldsOf(text);
  return { levelMask, categories, types, session, traceId, search, rest: rest ?? null };
}

function fieldsOf(text: string): FilterText {
  // SAFETY: only `tailFilterText` writes texts.
  return JSON.parse(text) as FilterText;
}
