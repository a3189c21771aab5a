import { isRelative } from "../logs/search/query-text.ts";
import { InvalidQuery } from "../logs/search/search-plan.ts";
import { parse } from "../query-language/parse.ts";
import { type Field, type Filter, joined, type Query } from "../query-language/syntax.ts";
import { ALERT_LIMITS, type Condition, type Mute, type Watch } from "./rule.ts";

/** A rule as members write it. Plain data, stored as JSON. A router has validated it. */
export interface RuleDefinition {
  name: string;
  /** In the query language: a filter, then at most `count`. */
  query: string;
  condition: Condition;
  windowMs: number;
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
  by: readonly Exclude<Field, { kind: "column" }>[];
}

/**
 * Returns what a query counts.
 * @throws InvalidQuery if a rule cannot have the query
 */
export function countedQuery({ filter, pipes }: Query): CountedQuery {
  const filters = [filter];
  let by: CountedQuery["by"] = [];
  let isCounted = false;
  for (const pipe of pipes) {
    if (isCounted) throw new InvalidQuery("In a rule, nothing may follow the pipe that counts.");
    if (pipe.kind === "where") filters.push(pipe.filter);
    else if (pipe.kind === "count" || pipe.kind === "stats") {
      isCounted = true;
      const others = pipe.kind === "stats" ? pipe.aggregates.filter(({ fn, field }) => fn !== "count" || field) : [];
      if (others.length > 0 || (pipe.kind === "stats" && pipe.aggregates.length !== 1))
        throw new InvalidQuery("A rule counts entries: its aggregation is `count` or `stats count()`.");
      by = pipe.by.map((key) => {
        if (key.kind === "bin") throw new InvalidQuery("A rule has a window of its own: leave out `bin(...)`.");
        if (key.field.kind === "column") throw new RangeError("Entries have fields and no columns.");
        return key.field;
      });
    } else throw new InvalidQuery(`A rule has a filter and \`count\`, and no \`${pipe.kind}\`.`);
  }
  if (by.length > ALERT_LIMITS.fields)
    throw new InvalidQuery(`A rule groups entries by at most ${ALERT_LIMITS.fields} fields.`);
  const wanted = filters.filter(({ kind }) => kind !== "all");
  const all = wanted.length === 0 ? { kind: "all" as const } : joined("and", wanted);
  if (isRelative(all))
    throw new InvalidQuery("A rule has a window of its own: leave out times that count from now, such as `time:1h`.");
  return { filter: all, by };
}

/** Returns what the query of a stored rule counts. */
export function countedQueryOf({ query }: Pick<RuleDefinition, "query">): CountedQuery {
  const parsed = parse(query);
  if (!parsed.ok) throw new RangeError("The query of a stored rule cannot be read.");
  return countedQuery(parsed.query);
}

export function watchOf({ condition, windowMs, forMs, recovery, mutes }: RuleDefinition, isGrouped: boolean): Watch {
  return { condition, windowMs, forMs, recovery, mutes, isGrouped };
}

/** Whether two definitions count and decide alike, so that a change from one to the other keeps what was counted. */
export function decidesAlike(a: RuleDefinition, b: RuleDefinition): boolean {
  const essence = ({ query, condition, windowMs, forMs, recovery }: RuleDefinition) =>
    JSON.stringify([query, Object.entries(condition).sort(), windowMs, forMs, recovery]);
  return essence(a) === essence(b);
}
