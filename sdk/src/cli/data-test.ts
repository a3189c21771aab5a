import { usage } from "./failure.ts";

type Scalar = string | number | boolean | null;
type Operator = "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "exists";

/** One `--data` test on a member of an entry's `data`. */
export interface DataTest {
  /** The path in the service's syntax. */
  path: string;
  /** The names of the path, in order. */
  names: readonly string[];
  operator: Operator;
  value: Scalar;
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  "=": "eq",
  "!=": "ne",
  ">": "gt",
  ">=": "gte",
  "<": "lt",
  "<=": "lte",
};

// The syntax of the service's paths, except that a bare name ends at an operator.
const QUOTED = /\["(?:[^"\\]|\\.)*"\]/y;
const INDEX = /\[(?:0|[1-9]\d*)\]/y;
const BARE = /[^.[\]=!<>]+/y;
const OPERATOR = /!=|[<>]=?|=/y;
const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** Parses `status>=500`, `user.plan=team`, `user.plan` (exists) or `!user.plan` (does not exist). */
export function parseDataTest(text: string): DataTest {
  const isAbsent = text.startsWith("!");
  const { path, names, operator, rest } = split(isAbsent ? text.slice(1) : text, text);
  if (operator === null) return { path, names, operator: "exists", value: !isAbsent };
  if (isAbsent) throw usage(`--data ${text}: "!" before a path takes no value; for "not equal" write path!=value.`);
  const value = scalarOf(rest);
  if (operator !== "eq" && operator !== "ne" && typeof value !== "number" && typeof value !== "string") {
    throw usage(`--data ${text}: only numbers and strings have an order.`);
  }
  return { path, names, operator, value };
}

/** Parses `user.plan=team` as a member to set. The value is JSON, or a string if it is not valid JSON. */
export function parseDataMember(text: string): { names: readonly string[]; value: unknown } {
  const { names, operator, rest } = split(text, text);
  if (operator !== "eq") throw usage(`--data ${text}: must be path=value.`);
  try {
    return { names, value: JSON.parse(rest) };
  } catch {
    return { names, value: rest };
  }
}

interface Parts {
  path: string;
  names: string[];
  operator: Operator | null;
  rest: string;
}

function split(text: string, shown: string): Parts {
  const names: string[] = [];
  const wrong = () => usage(`--data ${shown}: must be a path, as user.plan or ["a.b"], and then = != > >= < or <=.`);
  for (let at = 0; ; ) {
    const quoted = matchAt(QUOTED, text, at);
    const token = quoted ?? matchAt(INDEX, text, at) ?? matchAt(BARE, text, at);
    if (token === null) throw wrong();
    names.push(quoted === null ? token.replace(/^\[|\]$/g, "") : unquoted(token, wrong));
    at += token.length;
    const operator = matchAt(OPERATOR, text, at);
    const path = text.slice(0, at);
    if (operator !== null) {
      return { path, names, operator: OPERATORS[operator] ?? null, rest: text.slice(at + operator.length) };
    }
    if (at === text.length) return { path, names, operator: null, rest: "" };
    if (text[at] === ".") at++;
    else if (text[at] !== "[") throw wrong();
  }
}

function unquoted(token: string, wrong: () => Error): string {
  try {
    return String(JSON.parse(token.slice(1, -1)));
  } catch {
    throw wrong();
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** Parses `500`, `true`, `null` and `"500"` as JSON, and other texts as strings. */
function scalarOf(text: string): Scalar {
  try {
    const value: unknown = JSON.parse(text);
    // The service stores integers beyond 2 ** 53 only as strings.
    if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) return text;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean" || value === null) {
      return value;
    }
  } catch {}
  return text;
}

/** Converts tests to a query's `filters.data`. Several `=` tests of one path match any of the values. */
export function toDataFilter(tests: readonly DataTest[]): Record<string, Record<string, unknown>> {
  const filter = new Map<string, Map<string, unknown>>();
  for (const { path, operator, value } of tests) {
    const of = filter.get(path) ?? new Map<string, unknown>();
    filter.set(path, of);
    const values = of.get("in");
    if (operator === "eq" && Array.isArray(values)) values.push(value);
    else if (operator === "eq" && of.has("eq")) {
      of.set("in", [of.get("eq"), value]);
      of.delete("eq");
    } else if (of.has(operator)) throw usage(`--data: ${path} has two tests with the same operator.`);
    else of.set(operator, value);
  }
  return Object.fromEntries([...filter].map(([path, of]) => [path, Object.fromEntries(of)]));
}

/** What tests of an entry read. */
interface TestedEntry {
  service?: string;
  host?: string;
  data?: unknown;
}

/** Whether an entry's `data` passes all tests. Applied to tails, which the service filters by other members only. */
export function passes(tests: readonly DataTest[], entry: TestedEntry): boolean {
  return tests.every((test) => {
    const value = testedValue(entry, test.names);
    if (test.operator !== "eq") return holds(test, value);
    return tests.some((other) => other.operator === "eq" && other.path === test.path && other.value === value);
  });
}

/** As in the service, `service` and `host` are an own member if `data` has none or an object of that name. */
function testedValue(entry: TestedEntry, names: readonly string[]): unknown {
  const value = valueAt(entry.data, names);
  const [name] = names;
  if (names.length !== 1 || (name !== "service" && name !== "host")) return value;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return value === undefined || isObject ? (entry[name] ?? value) : value;
}

function holds({ operator, value: wanted }: DataTest, value: unknown): boolean {
  switch (operator) {
    case "eq":
      return value === wanted;
    case "ne":
      return value !== wanted;
    case "exists":
      return (value !== undefined) === wanted;
    default: {
      const order = orderOf(value, wanted);
      if (order === null) return false;
      if (order === 0) return operator === "gte" || operator === "lte";
      return order > 0 === (operator === "gt" || operator === "gte");
    }
  }
}

/** Compares two numbers, or two strings by code unit; `null` for other or different types. */
function orderOf(a: unknown, b: unknown): number | null {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return null;
}

function valueAt(data: unknown, names: readonly string[]): unknown {
  let value = data;
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    if (Array.isArray(value) && !ARRAY_INDEX.test(name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
