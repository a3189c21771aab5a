import { z } from "zod";
import { InexactInteger } from "../ingest/exact-json.ts";
import { QUERY_LIMITS } from "./budget.ts";
import { DATA_PATH, isRecord, parseDataPath } from "./data-path.ts";
import type { DataCondition, Scalar } from "./filter.ts";

/** Ingest rejects such an integer, too, so no entry has it. */
const sayInexact =
  (otherwise: string) =>
  ({ input }: { input?: unknown }): string =>
    input instanceof InexactInteger
      ? "An integer with this many digits is stored as a string only. Send a string."
      : otherwise;
const ScalarValue = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: sayInexact("Must be a string, a number, a boolean or null."),
});
const { $schema: _scalarDialect, ...scalarSchema } = z.toJSONSchema(ScalarValue, { io: "input" });

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

const Bound = z.union([z.number(), z.string()], { error: sayInexact("Must be a number or a string.") });

/** Validated by hand, because zod creates an issue for each bad item of a long list, which takes more than a second. */
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
  ne: ScalarValue.optional().describe("Not equal. Also passes if the path does not exist."),
  gt: Bound.optional().describe(
    "Compares numbers with numbers, and strings with strings by code unit. Other types never pass.",
  ),
  gte: Bound.optional(),
  lt: Bound.optional(),
  lte: Bound.optional(),
  in: Values.optional().describe("Equal to one of these."),
  exists: z.boolean().optional().describe("Whether the path exists. `null` is a value."),
});

/** Operators as published. `readConditions` itself rejects an object without members. */
const DocumentedOperators = Operators.meta({ minProperties: 1 });

/**
 * Documents `data`. `readData` parses it, because a zod record skips a member named `__proto__` and thereby its filter.
 */
const { $schema: _dialect, ...documentedData } = z.toJSONSchema(
  z.record(z.string().regex(DATA_PATH), z.union([ScalarValue, DocumentedOperators])),
  { io: "input" },
);

export const DataConditions = z
  .unknown()
  .transform(readData)
  .meta({
    ...documentedData,
    maxProperties: QUERY_LIMITS.paths,
    description:
      'Tests on `data` by path. Members are named by ".": `user.plan`. A name with a dot in it is written as a JSON string in brackets: `["user.plan"]`, `request["x.id"]`. A number indexes an array: `items.0.id`. A scalar is short for `eq`. Only own members of the entry match. At most 100 paths of at most 64 names.',
    examples: [{ "user.plan": "team", durationMs: { gte: 500 } }],
  });

function readData(value: unknown, ctx: z.core.$RefinementCtx): DataCondition[] {
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

/** Maximum characters of a path in an error message. */
const SHOWN_PATH = 100;

function readConditions(text: string, test: unknown, ctx: z.core.$RefinementCtx): DataCondition[] {
  const path = parseDataPath(text);
  if (path !== null && path.length > QUERY_LIMITS.pathNames) {
    const message = `Must have at most ${QUERY_LIMITS.pathNames} names, the maximum depth of stored \`data\`.`;
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

function addIssueAt(text: string, issue: z.core.$ZodIssue, ctx: z.core.$RefinementCtx): void {
  const path = [text, ...issue.path];
  if (issue.code !== "unrecognized_keys") {
    ctx.addIssue({ code: "custom", path, message: issue.message });
    return;
  }
  for (const key of issue.keys) {
    const message = "Unknown operator. Use eq, ne, gt, gte, lt, lte, in or exists.";
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
