import { z } from "zod";
import { LEVELS, type Level } from "../entry.ts";
import { InexactInteger } from "../ingest/exact-json.ts";
import { timeSchema } from "../ingest/timestamp.ts";
import { QUERY_LIMITS } from "./budget.ts";
import { type Cursor, decodeAsOf, decodeCursor } from "./cursor.ts";
import type { Order } from "./feed.ts";
import {
  ALL_LEVELS_MASK,
  DATA_PATH,
  type DataCondition,
  foldCase,
  isRecord,
  type LogFilter,
  parseDataPath,
  type Scalar,
} from "./filter.ts";

/** One query as the router runs it. */
export interface LogQuery {
  projectId: string | null;
  filter: LogFilter;
  order: Order;
  offset: number;
  limit: number;
  cursor: Cursor | null;
  includeTotal: boolean;
  /** Commit number; a cursor's, where there is one. */
  asOf: number | null;
}

const LevelName = z.enum(LEVELS);
const levelList = `one of ${LEVELS.join(", ")}`;

/** One value or a list of them. */
function oneOrMore<T extends z.ZodType>(value: T, what: string) {
  const error = `Must be ${what}, or a non-empty list of at most ${QUERY_LIMITS.values} of them.`;
  return z.union([value, z.array(value).min(1).max(QUERY_LIMITS.values)], { error });
}

const Name = z.string().min(1);

/** Ingest refuses such an integer, too, so no entry has it. */
const sayInexact =
  (otherwise: string) =>
  ({ input }: { input?: unknown }): string =>
    input instanceof InexactInteger ? "An integer of so many digits is kept as a string only." : otherwise;
const ScalarValue = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: sayInexact("Must be a string, a number, a boolean or null."),
});
const { $schema: _scalarDialect, ...scalarSchema } = z.toJSONSchema(ScalarValue, { io: "input" });

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

const Bound = z.union([z.number(), z.string()], { error: sayInexact("Must be a number or a string.") });

/** Looked through by hand: of a long list of other things zod makes an issue for each, in a second and more. */
const Values = z
  .unknown()
  .transform((value, ctx): Scalar[] => {
    if (!Array.isArray(value) || value.length === 0 || value.length > QUERY_LIMITS.values) {
      ctx.addIssue(`Must be a non-empty list of at most ${QUERY_LIMITS.values} values.`);
      return z.NEVER;
    }
    const bad = value.findIndex((item) => !isScalar(item));
    if (bad < 0) return value;
    ctx.addIssue({ code: "custom", path: [bad], message: ScalarValue.safeParse(value[bad]).error?.issues[0]?.message });
    return z.NEVER;
  })
  .meta({ type: "array", items: scalarSchema, minItems: 1, maxItems: QUERY_LIMITS.values });

const Operators = z.strictObject({
  eq: ScalarValue.optional().describe("Equal in type and value."),
  ne: ScalarValue.optional().describe("Not equal; also holds where there is no such value."),
  gt: Bound.optional().describe("Numbers with numbers, strings with strings by code unit; never across types."),
  gte: Bound.optional(),
  lt: Bound.optional(),
  lte: Bound.optional(),
  in: Values.optional().describe("Equal to one of these."),
  exists: z.boolean().optional().describe("Whether there is such a value; null is one."),
});

/** As published; `readConditions` takes an object without a member for a bad value. */
const DocumentedOperators = Operators.meta({ minProperties: 1 });

/** Documents `data`. Read by `readData`: a zod record passes over a member named `__proto__`, and so over its filter. */
const { $schema: _dialect, ...documentedData } = z.toJSONSchema(
  z.record(z.string().regex(DATA_PATH), z.union([ScalarValue, DocumentedOperators])),
  { io: "input" },
);

const Data = z
  .unknown()
  .transform(readData)
  .meta({
    ...documentedData,
    maxProperties: QUERY_LIMITS.paths,
    description:
      'Tests on `data` by path. Members are named by ".": `user.plan`. A name with a dot in it is written as a JSON string in brackets: `["user.plan"]`, `request["x.id"]`. A number indexes an array: `items.0.id`. A scalar is short for `eq`. Only what the entry itself has counts. At most 100 paths of at most 64 names.',
    examples: [{ "user.plan": "team", durationMs: { gte: 500 } }],
  });

export const Filters = z
  .strictObject({
    level: oneOrMore(LevelName, levelList).optional(),
    category: oneOrMore(Name, "a category").optional(),
    type: oneOrMore(Name, "a type").optional(),
    minLevel: z
      .enum(LEVELS, { error: `Must be ${levelList}.` })
      .optional()
      .describe("This level or a more severe one. Together with `level` both hold."),
    session: z.string().optional().describe("Exactly this session."),
    traceId: z.string().optional().describe("Exactly this trace."),
    from: timeSchema.optional().describe("Timestamp at or after this: ISO 8601 or epoch milliseconds."),
    to: timeSchema.optional().describe("Timestamp before this: ISO 8601 or epoch milliseconds."),
    search: z
      .string()
      .min(1)
      .max(QUERY_LIMITS.search)
      .optional()
      .describe(
        "Substring of the message, or of any string, number or boolean in `data`, whatever the case. Numbers and booleans count as their JSON text, as `JSON.stringify` writes it; names of members do not count.",
      ),
    data: Data.optional(),
  })
  .describe("All of them hold together; none: every entry.");

const Pagination = z.strictObject({
  offset: z.int().min(0).max(QUERY_LIMITS.offset).optional().describe("Rows to pass over; not with a cursor."),
  limit: z.int().min(1).max(QUERY_LIMITS.limit).optional().describe(`Rows of a page; ${QUERY_LIMITS.limitDefault}.`),
  cursor: z.string().optional().describe("`nextCursor` of the page before, with everything else but `limit` the same."),
  includeTotal: z.boolean().optional().describe("Count all matches, too: looks through all that is retained."),
});

/** Body of `POST /logger/query`. */
export const QueryBody = z
  .strictObject({
    projectId: z
      .string()
      .optional()
      .describe("With an access token: one project instead of all. A key always means its own project."),
    filters: Filters.optional(),
    order: z
      .enum(["desc", "asc"])
      .optional()
      .describe("By timestamp, then `seq`; `desc`, newest first, is the default."),
    pagination: Pagination.optional(),
    asOf: z.string().optional().describe("`asOf` of an earlier answer: only what was stored by then."),
  })
  .transform(toQuery);

type BodyContext = z.core.$RefinementCtx;

function toQuery(body: QueryFields, ctx: BodyContext): LogQuery {
  const { offset, limit, includeTotal } = body.pagination ?? {};
  const cursor = cursorOf(body, ctx);
  const asOf = asOfOf(body, cursor, ctx);
  return {
    projectId: body.projectId ?? null,
    filter: toFilter(body.filters ?? {}),
    order: body.order ?? "desc",
    offset: offset ?? 0,
    limit: limit ?? QUERY_LIMITS.limitDefault,
    cursor,
    includeTotal: includeTotal ?? false,
    asOf,
  };
}

interface QueryFields {
  projectId?: string | undefined;
  filters?: z.output<typeof Filters> | undefined;
  order?: Order | undefined;
  pagination?: z.output<typeof Pagination> | undefined;
  asOf?: string | undefined;
}

/** Its fingerprint is held against the query once the scope is known: with a key, only the object knows it. */
function cursorOf(body: QueryFields, ctx: BodyContext): Cursor | null {
  const { cursor: text, offset } = body.pagination ?? {};
  if (text === undefined) return null;
  const refuse = (path: string[], message: string) => ctx.addIssue({ code: "custom", path, message });
  const cursor = decodeCursor(text);
  if (cursor === null) refuse(["pagination", "cursor"], "This is not a cursor.");
  if (offset !== undefined) refuse(["pagination", "offset"], "A cursor says where to go on: leave the offset out.");
  const order = body.order ?? "desc";
  if (cursor && cursor.order !== order) {
    refuse(["order"], `The cursor belongs to a query with order ${cursor.order}; this one's is ${order}.`);
  }
  return cursor;
}

function asOfOf(body: QueryFields, cursor: Cursor | null, ctx: BodyContext): number | null {
  if (body.asOf === undefined) return cursor?.asOf ?? null;
  const asOf = decodeAsOf(body.asOf);
  if (asOf === null) ctx.addIssue({ code: "custom", path: ["asOf"], message: "This is not a snapshot." });
  else if (cursor !== null && cursor.asOf !== asOf) {
    ctx.addIssue({ code: "custom", path: ["asOf"], message: "The cursor belongs to another snapshot." });
  }
  return asOf;
}

export function toFilter(filters: z.output<typeof Filters>): LogFilter {
  return {
    levelMask: levelMaskOf(filters.level, filters.minLevel),
    categories: listOf(filters.category),
    types: listOf(filters.type),
    session: filters.session ?? null,
    traceId: filters.traceId ?? null,
    from: filters.from ?? null,
    to: filters.to ?? null,
    search: filters.search === undefined ? null : foldCase(filters.search),
    data: filters.data ?? [],
  };
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

function readData(value: unknown, ctx: BodyContext): DataCondition[] {
  if (!isRecord(value)) {
    ctx.addIssue("Must be an object of paths.");
    return z.NEVER;
  }
  const members = Object.entries(value);
  if (members.length > QUERY_LIMITS.paths) {
    ctx.addIssue(`Must name at most ${QUERY_LIMITS.paths} paths.`);
    return z.NEVER;
  }
  return members.flatMap(([text, test]) => readConditions(text, test, ctx));
}

/** Characters of a path in a message about it. */
const SHOWN_PATH = 100;

function readConditions(text: string, test: unknown, ctx: BodyContext): DataCondition[] {
  const path = parseDataPath(text);
  if (path !== null && path.length > QUERY_LIMITS.pathNames) {
    const message = `Must have at most ${QUERY_LIMITS.pathNames} names: no stored \`data\` is as deep.`;
    ctx.addIssue({ code: "custom", path: [text.slice(0, SHOWN_PATH)], message });
    return [];
  }
  if (path === null) {
    ctx.addIssue({
      code: "custom",
      path: [text],
      message: 'Must be a path: names joined by ".", a name with a dot as ["a.b"].',
    });
    return [];
  }
  if (!isRecord(test) || Object.keys(test).length === 0) {
    const value = ScalarValue.safeParse(test);
    if (value.success) return [{ path, op: "eq", value: value.data }];
    const message = sayInexact("Must be a string, a number, a boolean, null or an object of at least one operator.");
    ctx.addIssue({ code: "custom", path: [text], message: message({ input: test }) });
    return [];
  }
  const operators = Operators.safeParse(test);
  if (!operators.success) {
    for (const issue of operators.error.issues) addIssueAt(text, issue, ctx);
    return [];
  }
  return conditionsOf(path, operators.data);
}

function addIssueAt(text: string, issue: z.core.$ZodIssue, ctx: BodyContext): void {
  const path = [text, ...issue.path];
  if (issue.code !== "unrecognized_keys") {
    ctx.addIssue({ code: "custom", path, message: issue.message });
    return;
  }
  for (const key of issue.keys) {
    const message = "There is no such operator; there are eq, ne, gt, gte, lt, lte, in, exists.";
    ctx.addIssue({ code: "custom", path: [...path, key], message });
  }
}

function conditionsOf(path: readonly string[], operators: z.output<typeof Operators>): DataCondition[] {
  const conditions: DataCondition[] = [];
  const { eq, ne, gt, gte, lt, lte, in: values, exists } = operators;
  if (eq !== undefined) conditions.push({ path, op: "eq", value: eq });
  if (ne !== undefined) conditions.push({ path, op: "ne", value: ne });
  if (gt !== undefined) conditions.push({ path, op: "gt", value: gt });
  if (gte !== undefined) conditions.push({ path, op: "gte", value: gte });
  if (lt !== undefined) conditions.push({ path, op: "lt", value: lt });
  if (lte !== undefined) conditions.push({ path, op: "lte", value: lte });
  if (values !== undefined) conditions.push({ path, op: "in", value: values });
  if (exists !== undefined) conditions.push({ path, op: "exists", value: exists });
  return conditions;
}
