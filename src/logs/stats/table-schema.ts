import { z } from "zod";
import { counted } from "../../platform/bytes.ts";
import { FIELD_LENGTH, FIELD_PATTERN, fieldOf } from "../aggregate/fields.ts";
import { type Aggregation, FIELD_FUNCTIONS, type GroupKey, planOf, takes } from "../aggregate/plan.ts";
import { MAX_ROWS } from "../aggregate/table.ts";
import { decodeSnapshot } from "../query/cursor.ts";
import { isRecord } from "../query/data-path.ts";
import { Filters, filterOf } from "../query/schema.ts";
import { FilterText, isRelative } from "../search/query-text.ts";
import { HistogramBody, type StatsQuery } from "./histogram.ts";
import type { TableQuery } from "./run-table.ts";

export const TABLE_LIMITS = {
  /** Aggregations of one request. */
  aggregations: 20,
  /** Keys by which one request groups. */
  keys: 5,
  /** Characters of the name of a column. */
  nameLength: 100,
} as const;

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^([1-9]\d{0,3})([smhd])$/;

const FieldName = z
  .string()
  .max(FIELD_LENGTH)
  .regex(FIELD_PATTERN)
  .describe(
    'A field of the entry (`level category type message time received seq session trace span project id pattern`, `service`, `host`) or a path in `data`: `status`, `user.id`, `items[0].id`, `"a.b"`. `data.level` is the member of that name. A dotted path also finds a member whose name has the dots. An array stands for each of its items.',
  );
const As = z.string().min(1).max(TABLE_LIMITS.nameLength).describe("Name of the column.");

const EntryAggregationBody = z.strictObject({
  fn: z.enum(["count", "rate"]).describe("`count` of entries, `rate`: entries a second of the bin or the time range."),
  as: As.optional(),
});
const FieldCountBody = z.strictObject({
  fn: z.literal("count").describe("Entries that have the field, be it with the value null."),
  field: FieldName,
  as: As.optional(),
});
const FieldAggregationBody = z.strictObject({
  fn: z
    .enum(FIELD_FUNCTIONS)
    .describe(
      "`sum`, `avg`, `min`, `max` and percentiles (nearest rank) read numbers only. `count_distinct`: different values. `first`, `last`: value of the earliest and the latest entry that has the field. `values`: the first 100 different values.",
    ),
  field: FieldName,
  as: As.optional(),
});
const AggregationBody = z.union([FieldAggregationBody, FieldCountBody, EntryAggregationBody], {
  error: `Must be {fn, field, as?} with one of ${FIELD_FUNCTIONS.join(", ")} and a field, or {fn, as?} with count or rate. A field is a name such as status, user.id, items[0].id or "a.b".`,
});

const GroupKeyBody = z.union(
  [
    FieldName,
    z
      .strictObject({ bin: z.string().regex(DURATION).describe("A length of time: `30s`, `5m`, `1h`, `1d`.") })
      .describe("Spans of time that begin at whole multiples of their length in UTC. Column `time`."),
  ],
  { error: 'Must be a field such as status or user.id, or a span of time such as {"bin": "5m"}.' },
);

const Fields = z.strictObject({
  projectId: z
    .string()
    .optional()
    .describe("With an access token, limits the request to one project. A key always reads its own project."),
  filters: Filters.optional(),
  q: FilterText.optional(),
  aggregations: z
    .array(AggregationBody)
    .min(1)
    .max(TABLE_LIMITS.aggregations)
    .describe(
      "Columns of the table after the keys. Without `as` a column is named as written, as in `p99(durationMs)`.",
    )
    .meta({ examples: [[{ fn: "count" }, { fn: "p99", field: "durationMs", as: "p99" }]] }),
  groupBy: z
    .array(GroupKeyBody)
    .max(TABLE_LIMITS.keys)
    .optional()
    .describe("Keys of the rows. Entries without a key form the group null.")
    .meta({ examples: [["route", { bin: "5m" }]] }),
  sort: z
    .strictObject({
      by: z.string().min(1).max(FIELD_LENGTH).describe("A column. Rows without a value come last."),
      order: z.enum(["asc", "desc"]).optional().describe("`desc` is the default."),
    })
    .optional()
    .describe("Order of the rows; by default by the keys, rising. Rows with equal values are ordered by their keys.")
    .meta({ examples: [{ by: "route", order: "asc" }] }),
  limit: z
    .int()
    .min(1)
    .max(MAX_ROWS)
    .optional()
    .describe(`Rows of the table; ${counted(MAX_ROWS)}.`),
  asOf: z.string().optional().describe("`asOf` of an earlier answer: only what was stored by then."),
});

type FieldsOf = z.output<typeof Fields>;

/** Body of `POST /logger/stats` with `aggregations`. */
export const TableBody = Fields.transform((body, ctx): TableQuery => {
  const refuse = (path: (string | number)[], message: string) => ctx.addIssue({ code: "custom", path, message });
  const keys = keysOf(body);
  const aggregations = aggregationsOf(body, refuse);
  const names = [...keys, ...aggregations].map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) {
    const isKey = keys.filter(({ name }) => name === twice).length > 1;
    const message = `Two columns are named ${twice.slice(0, SHOWN)}.`;
    if (isKey) refuse(["groupBy"], `${message} Group by each of them once.`);
    else refuse(["aggregations"], `${message} Name one of them with \`as\`.`);
  }
  const column = body.sort === undefined ? -1 : names.indexOf(body.sort.by);
  if (body.sort !== undefined && column < 0) {
    refuse(["sort", "by"], `Must be a column: ${names.slice(0, 3).join(", ").slice(0, SHOWN)}.`);
  }
  const snapshot = body.asOf === undefined ? null : decodeSnapshot(body.asOf);
  const instant = snapshot?.instant ?? Date.now();
  const filter = filterOf(body, instant);
  const seconds = filter.from === null || filter.to === null ? null : (filter.to - filter.from) / 1000;
  const plan = planOf(keys, aggregations, seconds);
  const rate = aggregations.findIndex(({ fn }) => fn === "rate");
  if (rate >= 0 && !(plan.rateSeconds !== null && plan.rateSeconds > 0)) {
    refuse(["aggregations", rate, "fn"], "A rate needs a bin in `groupBy`, or `from` and a later `to` in `filters`.");
  }
  if (body.asOf !== undefined && snapshot === null)
    refuse(["asOf"], "Invalid snapshot. Send asOf of an earlier response.");
  return {
    projectId: body.projectId ?? null,
    filter,
    plan,
    sort: body.sort === undefined ? null : { column, order: body.sort.order ?? "desc" },
    limit: body.limit ?? MAX_ROWS,
    asOf: snapshot?.commit ?? null,
    ...(body.q && isRelative(body.q.query.filter) ? { instant } : {}),
  };
});

/** Characters of names in an error. */
const SHOWN = 200;

type Refuse = (path: (string | number)[], message: string) => void;

function keysOf({ groupBy = [] }: FieldsOf): GroupKey[] {
  return groupBy.map((key) => {
    if (typeof key !== "string") return { name: "time", binMs: durationMs(key.bin) };
    return { name: key, field: fieldOf(key) };
  });
}

function durationMs(text: string): number {
  const [, count = "1", unit = "s"] = DURATION.exec(text) ?? [];
  // SAFETY: the pattern accepts only these units.
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

function aggregationsOf({ aggregations }: FieldsOf, refuse: Refuse): Aggregation[] {
  return aggregations.map((wanted, at) => {
    const { fn, as } = wanted;
    const written = "field" in wanted ? wanted.field : null;
    const field = written === null ? null : fieldOf(written);
    if (field !== null && !takes(fn, field)) {
      refuse(["aggregations", at, "field"], `${fn} needs numbers, and this field of an entry has none.`);
    }
    return { fn, field, name: as ?? `${fn}(${written ?? ""})` };
  });
}

/** A request for statistics: a histogram, or a table. */
export type StatsRequest = ({ kind: "histogram" } & StatsQuery) | ({ kind: "table" } & TableQuery);

const documented = [HistogramBody, TableBody].map((schema) => {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
});

/** Body of `POST /logger/stats`. Only one of its forms is tried, so that errors name the members of that form. */
export const StatsBody = z
  .unknown()
  .transform((value, ctx): StatsRequest => {
    const isTable = isRecord(value) && Object.hasOwn(value, "aggregations");
    const result = isTable ? TableBody.safeParse(value) : HistogramBody.safeParse(value);
    if (!result.success) {
      // SAFETY: an issue with its message is as good as one without, whatever its input was.
      ctx.issues.push(...(result.error.issues as z.core.$ZodRawIssue[]));
      return z.NEVER;
    }
    return "plan" in result.data ? { kind: "table", ...result.data } : { kind: "histogram", ...result.data };
  })
  .meta({
    anyOf: documented,
    examples: [
      { interval: "1h", groupBy: "level" },
      { aggregations: [{ fn: "p99", field: "durationMs" }], groupBy: ["route"], sort: { by: "p99(durationMs)" } },
    ],
  });

/** Documents `TableAnswer`. */
export const tableAnswerSchema = z.object({
  kind: z.literal("table"),
  columns: z
    .array(
      z.object({
        name: z.string(),
        type: z
          .enum(["string", "number", "boolean", "time", "json", "mixed", "null"])
          .describe("Type of the values. `time`: ISO 8601 UTC. `mixed`: of several types. `null`: there are none."),
      }),
    )
    .describe("Keys, then aggregations, as in the request."),
  rows: z
    .array(z.array(z.unknown()))
    .describe(`One value for each column; null where there is none. At most ${counted(MAX_ROWS)} rows and 4 MiB.`),
  matched: z.int().describe("Entries that pass the filters."),
  scanned: z.int().describe("Entries whose lines or stored counts were examined."),
  complete: z
    .boolean()
    .describe("False: a limit of work or memory ended the request, so that older entries are missing."),
  exact: z
    .boolean()
    .describe(
      "False: percentiles or distinct counts are approximate, because a group has more than 50,000 values or all groups have more than 1,000,000. Percentiles are then within 1 %, distinct counts have a standard error of 0.8 %.",
    ),
  asOf: z.string().describe("The snapshot that was read. Opaque; send it back to read the same one again."),
  notes: z.array(z.string()).describe("What to know about the values, such as fields with values of several types."),
});
