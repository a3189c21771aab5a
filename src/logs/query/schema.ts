import { z } from "zod";
import { type Filter, joined, type ValueTest } from "../../query-language/syntax.ts";
import { LEVELS, type Level, OWN_MEMBERS, type OwnMember } from "../entry.ts";
import { timeSchema } from "../ingest/timestamp.ts";
import { andFilters, compileFilter } from "../search/compile-filter.ts";
import { FilterText, isRelative, type ParsedQuery } from "../search/query-text.ts";
import { restFilterOf } from "../search/rest-filter.ts";
import { QUERY_LIMITS } from "./budget.ts";
import { type Cursor, decodeCursor, decodeSnapshot, type Snapshot } from "./cursor.ts";
import { DataConditions } from "./data-schema.ts";
import type { Order } from "./feed.ts";
import { ALL_LEVELS_MASK, type LogFilter, type NoMembers, sortedNames } from "./filter.ts";
import { foldCase } from "./fold-case.ts";

/** A query as the router runs it. */
export interface LogQuery {
  projectId: string | null;
  filter: LogFilter;
  order: Order;
  offset: number;
  limit: number;
  cursor: Cursor | null;
  includeTotal: boolean;
  /** Commit number; that of the cursor, if there is one. */
  asOf: number | null;
  /** The time from which relative times of `q` count, epoch milliseconds; absent if there are none. */
  instant?: number;
}

const LevelName = z.enum(LEVELS);
const levelList = `one of ${LEVELS.join(", ")}`;

/** Accepts one value or a list of values. */
function oneOrMore<T extends z.ZodType>(value: T, what: string) {
  const error = `Must be ${what}, or a non-empty list of at most ${QUERY_LIMITS.values} of them.`;
  return z.union([value, z.array(value).min(1).max(QUERY_LIMITS.values)], { error });
}

const Name = z.string().min(1);

export const Filters = z
  .strictObject({
    level: oneOrMore(LevelName, levelList).optional(),
    category: oneOrMore(Name, "a category").optional(),
    type: oneOrMore(Name, "a type").optional(),
    minLevel: z
      .enum(LEVELS, { error: `Must be ${levelList}.` })
      .optional()
      .describe("This level or a more severe one. With `level`, both must match."),
    session: z.string().optional().describe("Exactly this session."),
    traceId: z.string().optional().describe("Exactly this trace."),
    service: oneOrMore(Name, "a service")
      .optional()
      .describe(
        "Exactly this service, or one of these: the entry's `service`, else `service` in `data`, else `service.name` there.",
      ),
    host: oneOrMore(Name, "a host").optional().describe("Exactly this host, likewise."),
    from: timeSchema.optional().describe("Timestamp at or after this: ISO 8601 or epoch milliseconds."),
    to: timeSchema.optional().describe("Timestamp before this: ISO 8601 or epoch milliseconds."),
    search: z
      .string()
      .min(1)
      .max(QUERY_LIMITS.search)
      .optional()
      .describe(
        "Substring of the message, of `service` or `host`, or of any string, number or boolean in `data`, ignoring case. Numbers and booleans are searched as the text that `JSON.stringify` writes. Names of members are not searched.",
      ),
    data: DataConditions.optional(),
  })
  .describe("All filters must match. Without filters, every entry matches.");

const Pagination = z.strictObject({
  offset: z.int().min(0).max(QUERY_LIMITS.offset).optional().describe("Rows to skip. Not allowed with a cursor."),
  limit: z
    .int()
    .min(1)
    .max(QUERY_LIMITS.limit)
    .optional()
    .describe(`Rows of a page; default ${QUERY_LIMITS.limitDefault}.`),
  cursor: z
    .string()
    .optional()
    .describe("`nextCursor` of the previous page. Everything else except `limit` must be the same."),
  includeTotal: z.boolean().optional().describe("Counts all matches, too, which scans all retained entries."),
});

/** Body of `POST /logger/query`. */
export const QueryBody = z
  .strictObject({
    projectId: z
      .string()
      .optional()
      .describe("With an access token, limits the request to one project. A key always reads its own project."),
    filters: Filters.optional(),
    q: FilterText.optional(),
    order: z
      .enum(["desc", "asc"])
      .optional()
      .describe("By timestamp, then `seq`; `desc`, newest first, is the default."),
    pagination: Pagination.optional(),
    asOf: z.string().optional().describe("`asOf` of an earlier response: reads only what was stored at that time."),
  })
  .transform(toQuery);

function toQuery(body: QueryFields, ctx: z.core.$RefinementCtx): LogQuery {
  const { offset, limit, includeTotal } = body.pagination ?? {};
  const cursor = cursorOf(body, ctx);
  const snapshot = asOfOf(body, cursor, ctx);
  const instant = cursor?.search?.instant ?? snapshot?.instant ?? Date.now();
  return {
    projectId: body.projectId ?? null,
    filter: filterOf(body, instant),
    ...(body.q && isRelative(body.q.query.filter) ? { instant } : {}),
    order: body.order ?? "desc",
    offset: offset ?? 0,
    limit: limit ?? QUERY_LIMITS.limitDefault,
    cursor,
    includeTotal: includeTotal ?? false,
    asOf: snapshot?.commit ?? null,
  };
}

/** Returns the filter of `filters` and `q`, which must both match. @param instant see `LogQuery` */
export function filterOf({ filters, q }: Pick<QueryFields, "filters" | "q">, instant: number): LogFilter {
  const filter = toFilter(filters ?? {});
  return q === undefined ? filter : andFilters(filter, compileFilter(q.query.filter, instant));
}

interface QueryFields {
  projectId?: string | undefined;
  filters?: z.output<typeof Filters> | undefined;
  q?: ParsedQuery | undefined;
  order?: Order | undefined;
  pagination?: z.output<typeof Pagination> | undefined;
  asOf?: string | undefined;
}

/** The fingerprint is compared when the scope is known. With a key, only the object can determine the scope. */
function cursorOf(body: QueryFields, ctx: z.core.$RefinementCtx): Cursor | null {
  const { cursor: text, offset } = body.pagination ?? {};
  if (text === undefined) return null;
  const refuse = (path: string[], message: string) => ctx.addIssue({ code: "custom", path, message });
  const cursor = decodeCursor(text);
  if (cursor === null) refuse(["pagination", "cursor"], "Invalid cursor. Send nextCursor of the previous page.");
  if (offset !== undefined) refuse(["pagination", "offset"], "The cursor sets the position. Remove the offset.");
  const order = body.order ?? "desc";
  if (cursor && cursor.order !== order) {
    refuse(["order"], `The cursor belongs to a query with order ${cursor.order}; this query has order ${order}.`);
  }
  return cursor;
}

function asOfOf(body: QueryFields, cursor: Cursor | null, ctx: z.core.$RefinementCtx): Snapshot | null {
  if (body.asOf === undefined) return cursor && { commit: cursor.asOf, instant: cursor.search?.instant ?? null };
  const snapshot = decodeSnapshot(body.asOf);
  if (snapshot === null)
    ctx.addIssue({ code: "custom", path: ["asOf"], message: "Invalid snapshot. Send asOf of an earlier response." });
  else if (cursor !== null && cursor.asOf !== snapshot.commit) {
    ctx.addIssue({ code: "custom", path: ["asOf"], message: "The cursor belongs to another snapshot." });
  }
  return snapshot;
}

/** Returns the filter of a request. A parameter that narrows nothing does not compile. */
export function toFilter(parameters: z.output<typeof Filters>): LogFilter {
  const { level, minLevel, category, type, session, traceId, service, host, from, to, search, data, ...unused } =
    parameters;
  unused satisfies NoMembers;
  const own = ownFilter({ service, host });
  return {
    levelMask: levelMaskOf(level, minLevel),
    categories: listOf(category),
    types: listOf(type),
    session: session ?? null,
    traceId: traceId ?? null,
    from: from ?? null,
    to: to ?? null,
    search: search === undefined ? null : foldCase(search),
    data: data ?? [],
    // It has no times.
    rest: own === null ? null : restFilterOf(own, 0),
  };
}

/** Returns the filter of own members, which the query language expresses; `null` if none is given. */
export function ownFilter(parameters: Pick<z.output<typeof Filters>, OwnMember>): Filter | null {
  const filters = OWN_MEMBERS.flatMap((name): Filter[] => {
    const texts = listOf(parameters[name]);
    if (texts === null) return [];
    const tests = sortedNames(texts)?.map((text): ValueTest => ({ kind: "exact", text })) ?? [];
    const [only] = tests;
    const test: ValueTest = only !== undefined && tests.length === 1 ? only : { kind: "anyOf", tests };
    return [{ kind: "field", field: { kind: "own", name }, test }];
  });
  return filters.length === 0 ? null : joined("and", filters);
}

function levelMaskOf(level: Level | Level[] | undefined, minLevel: Level | undefined): number {
  const named = listOf(level)?.reduce((mask, name) => mask | (1 << LEVELS.indexOf(name)), 0) ?? ALL_LEVELS_MASK;
  if (minLevel === undefined) return named;
  const below = (1 << LEVELS.indexOf(minLevel)) - 1;
  return named & ~below;
}

function listOf<T extends string>(value: T | T[] | undefined): T[] | null {
  if (value === undefined) return null;
  return Array.isArray(value) ? value : [value];
}
