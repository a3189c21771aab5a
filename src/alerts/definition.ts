import { isRelative } from "../logs/search/query-text.ts";
import { InvalidQuery } from "../logs/search/search-plan.ts";
import { parse } from "../query-language/parse.ts";
import { type Aggregate, type Field, type Filter, joined, type Query } from "../query-language/syntax.ts";
import type { Condition } from "./condition.ts";
import type { Counting } from "./matcher.ts";
import { MEASURE_FUNCTIONS, type MeasureFunction } from "./measure.ts";
import type { Mute } from "./mutes.ts";
import { ALERT_LIMITS, stepOf, stepsOf, type Watch } from "./rule.ts";

/** A rule as members write it. Plain data, stored as JSON. A router has validated it. */
export interface RuleDefinition {
  name: string;
  /** In the query language: a filter, then at most one aggregation. */
  query: string;
  condition: Condition;
  windowMs: number;
  /** See `Watch.delayMs`. Absent from rules of earlier versions: `null`. */
  delayMs?: number | null;
  forMs: number;
  recovery: number | null;
  labels: Readonly<Record<string, string>>;
  /** Text of a notification; see `fillTemplate`. */
  message: string;
  /** `dest_...` */
  destinationIds: readonly string[];
  mutes: readonly Mute[];
}

/** What a rule's query counts. */
export interface CountedQuery {
  filter: Filter;
  /** Fields that group the entries. */
  by: readonly EntryField[];
  /** What is computed of the values of a field; `null`: the number of entries. */
  measure: { fn: MeasureFunction; field: EntryField } | null;
}

type EntryField = Exclude<Field, { kind: "column" }>;

/**
 * Returns what a query counts.
 * @throws InvalidQuery if a rule cannot have the query
 */
export function countedQuery({ filter, pipes }: Query): CountedQuery {
  const filters = [filter];
  let by: CountedQuery["by"] = [];
  let measure: CountedQuery["measure"] = null;
  let isCounted = false;
  for (const pipe of pipes) {
    if (isCounted) throw new InvalidQuery("In a rule, nothing may follow the aggregation.");
    if (pipe.kind === "where") filters.push(pipe.filter);
    else if (pipe.kind === "count" || pipe.kind === "stats") {
      isCounted = true;
      if (pipe.kind === "stats") measure = measureOf(pipe.aggregates);
      by = pipe.by.map((key) => {
        if (key.kind === "bin") throw new InvalidQuery("A rule has a window of its own: leave out `bin(...)`.");
        return entryField(key.field);
      });
    } else throw new InvalidQuery(`A rule has a filter and an aggregation, and no \`${pipe.kind}\`.`);
  }
  if (by.length > ALERT_LIMITS.fields)
    throw new InvalidQuery(`A rule groups entries by at most ${ALERT_LIMITS.fields} fields.`);
  const wanted = filters.filter(({ kind }) => kind !== "all");
  const all = wanted.length === 0 ? { kind: "all" as const } : joined("and", wanted);
  if (isRelative(all))
    throw new InvalidQuery("A rule has a window of its own: leave out times that count from now, such as `time:1h`.");
  return { filter: all, by, measure };
}

/** Returns what a rule computes; `null`: it counts entries. */
function measureOf(aggregates: readonly Aggregate[]): CountedQuery["measure"] {
  const [only, ...more] = aggregates;
  if (only === undefined || more.length > 0) throw new InvalidQuery("A rule has one aggregation.");
  const { fn, field } = only;
  if (fn === "count" && field === null) return null;
  const known = MEASURE_FUNCTIONS.find((name) => name === fn);
  if (known === undefined || field === null) {
    const names = MEASURE_FUNCTIONS.map((name) => `\`${name}\``).join(", ");
    throw new InvalidQuery(`The aggregation of a rule is \`count()\`, or of a field: ${names}.`);
  }
  const isNumeric = known === "count_distinct" || field.kind !== "own" || field.name === "seq";
  if (!isNumeric) throw new InvalidQuery(`\`${known}\` needs a field with numbers, a member of \`data\`.`);
  return { fn: known, field: entryField(field) };
}

function entryField(field: Field): EntryField {
  if (field.kind === "column") throw new RangeError("Entries have fields and no columns.");
  return field;
}

/** Returns what the query of a stored rule counts. */
export function countedQueryOf({ query }: Pick<RuleDefinition, "query">): CountedQuery {
  const parsed = parse(query);
  if (!parsed.ok) throw new RangeError("The query of a stored rule cannot be read.");
  return countedQuery(parsed.query);
}

/** Returns how a rule decides. */
export function watchOf(definition: RuleDefinition, query: CountedQuery = countedQueryOf(definition)): Watch {
  const { condition, windowMs, forMs, recovery, mutes, delayMs = null } = definition;
  const isGrouped = query.by.length > 0 || condition.kind === "new-pattern";
  const measure = query.measure?.fn ?? null;
  return { condition, measure, windowMs, delayMs, forMs, recovery, mutes, isGrouped };
}

/** The field by which a rule that looks for new patterns groups its entries. */
const PATTERN: EntryField = { kind: "own", name: "pattern" };

/** Returns what matching counts for a rule. */
export function countedOf(definition: RuleDefinition, query: CountedQuery = countedQueryOf(definition)): Counting {
  const { condition, windowMs, delayMs = null } = definition;
  const by = condition.kind === "new-pattern" ? [PATTERN] : query.by;
  return { ...query, by, stepMs: stepOf(windowMs), steps: stepsOf({ condition }), delayMs };
}

/** Whether two definitions count and decide alike, so that a change from one to the other keeps what was counted. */
export function decidesAlike(a: RuleDefinition, b: RuleDefinition): boolean {
  const essence = ({ query, condition, windowMs, delayMs = null, forMs, recovery }: RuleDefinition) => {
    const members = Object.entries(condition).filter(([name, value]) => name !== "direction" || value !== "above");
    return JSON.stringify([query, members.sort(), windowMs, delayMs, forMs, recovery]);
  };
  return essence(a) === essence(b);
}
