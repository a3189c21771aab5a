import type { FieldFacts } from "../explorer/fields/field-facts.ts";

/** Finds the fields from which the slowest paths of any application can be told. */

export interface Slowest {
  query: string;
  /** Fields of the query, as queries name them. */
  duration: string;
  path: string;
}

/** A unit that the name of a field states; `null`: the name leaves it open. */
type Unit = "ns" | "µs" | "ms" | "s" | null;

/**
 * Ends of names of durations, by precedence: without case, `_`, `-` and dots. Where the usual writer of a name has one unit, the
 * unit counts as stated: pino-http writes `responseTime` in milliseconds, OpenTelemetry `http.server.request.duration` in seconds
 * and nginx `request_time`, too. `duration` is any unit, depending on the writer.
 */
const DURATIONS: readonly (readonly [end: string, unit: Unit])[] = [
  ["httpserverrequestduration", "s"],
  ["httpserverduration", "ms"],
  ...(["duration", "elapsed", "latency", "took", "responsetime", "requesttime", "processingtime"] as const).flatMap(
    (name) => units(name),
  ),
  ["elapsedmilliseconds", "ms"],
  ["durationmillis", "ms"],
  ["timetaken", "ms"],
  ["responsetime", "ms"],
  ["requesttime", "s"],
  ["tookms", "ms"],
  ["took", "ms"],
  ["duration", null],
  ["latency", null],
  ["elapsed", null],
  ["ms", "ms"],
];

function units(name: string): (readonly [string, Unit])[] {
  return [
    [`${name}ms`, "ms"],
    [`${name}us`, "µs"],
    [`${name}micros`, "µs"],
    [`${name}ns`, "ns"],
    [`${name}nano`, "ns"],
    [`${name}nanos`, "ns"],
    [`${name}seconds`, "s"],
    [`${name}s`, "s"],
  ];
}

/** Ends of names of what is requested, by precedence: a route has few values, a URL has many. */
const PATHS = [
  "httproute",
  "routepath",
  "route",
  "path",
  "requestpath",
  "endpoint",
  "httptarget",
  "requesturi",
  "uri",
  "url",
  "httpurl",
  "handler",
  "operation",
] as const;

/** Types of fields whose numbers a percentile reads. */
const NUMBERS: ReadonlySet<string> = new Set(["number", "mixed"]);

/** A field that states how long something took. */
export interface DurationField {
  name: string;
  unit: Unit;
}

/** Returns the durations among the fields of some entries, the most likely one first. */
export function durationFields(fields: readonly FieldFacts[]): DurationField[] {
  return fields
    .map(unquoted)
    .filter(({ type }) => NUMBERS.has(type))
    .flatMap(({ name, entries }) => {
      const rank = DURATIONS.findIndex(([end]) => endsWith(name, end));
      return rank < 0 ? [] : [{ name, unit: DURATIONS[rank]?.[1] ?? null, rank, entries }];
    })
    .sort((a, b) => a.rank - b.rank || b.entries - a.entries)
    .map(({ name, unit }) => ({ name, unit }));
}

/** Returns the field with the path among those of the entries that have a duration; `null` without one. */
export function pathField(fields: readonly FieldFacts[]): string | null {
  const ranked = fields.map(unquoted).flatMap(({ name, type, entries }) => {
    const rank = type === "string" || type === "mixed" ? PATHS.findIndex((end) => endsWith(name, end)) : -1;
    return rank < 0 ? [] : [{ name, rank, entries }];
  });
  return ranked.sort((a, b) => a.rank - b.rank || b.entries - a.entries)[0]?.name ?? null;
}

/** A dotted path finds a member whose name has the dots, too: `"http.route"` needs no quotes, and is a better heading without. */
function unquoted<F extends { name: string }>(field: F): F {
  return { ...field, name: field.name.replace(/^"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"$/, "$1") };
}

/** Whether the last members of a path, written together, are a name: `req.url` ends with `url`, `curl` does not. */
function endsWith(name: string, end: string): boolean {
  const members = name.split(/[."[\]]+/).filter((member) => member !== "");
  return members.some((_, at) => plain(members.slice(at).join("")) === end);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_\- ]/g, "");
}

/** Returns the query of the slowest paths. The heading of the percentile has the unit, or the field if its name states none. */
export function slowestQuery({ name, unit }: DurationField, path: string): string {
  const percentile = `p95(${name})`;
  const heading = unit === null ? percentile : `"p95 ${unit}"`;
  const column = unit === null ? percentile : `${percentile} as ${heading}`;
  return `${name}:* ${path}:* | stats count(), ${column} by ${path} | sort ${heading} desc | limit 10`;
}
