import type { DataCondition, Filters, Scalar } from "../filters.ts";

export type DataFilters = NonNullable<Filters["data"]>;

/** Operators of a condition with their labels. */
export const OPERATORS = [
  { op: "eq", label: "is" },
  { op: "ne", label: "is not" },
  { op: "gt", label: "is more than" },
  { op: "gte", label: "is at least" },
  { op: "lt", label: "is less than" },
  { op: "lte", label: "is at most" },
  { op: "in", label: "is one of" },
  { op: "exists", label: "exists" },
] as const;

export type Operator = (typeof OPERATORS)[number]["op"];
export type OperatorValue = Scalar | Scalar[];

/** One test of a path, shown as one chip. */
export interface Test {
  path: string;
  op: Operator;
  value: OperatorValue;
}

/** Lists the tests of all conditions in order. */
export function testsOf(data: DataFilters | undefined): Test[] {
  return Object.entries(data ?? {}).flatMap(([path, condition]) =>
    Object.entries(spelledOut(condition)).flatMap(([op, value]) => {
      const operator = OPERATORS.find((each) => each.op === op)?.op;
      return operator === undefined || value === undefined ? [] : [{ path, op: operator, value }];
    }),
  );
}

/** Adds a test and replaces one with the same operator on the same path. */
export function withTest(data: DataFilters | undefined, { path, op, value }: Test): DataFilters {
  const before = data !== undefined && Object.hasOwn(data, path) ? data[path] : undefined;
  const condition: DataCondition =
    op === "eq" && before === undefined && !Array.isArray(value)
      ? value
      : { ...(before === undefined ? {} : spelledOut(before)), [op]: value };
  // A computed name in a literal, because a path may be `__proto__`.
  return { ...data, [path]: condition };
}

/** Removes a test; `undefined` if no test remains. */
export function withoutTest(
  data: DataFilters | undefined,
  { path, op }: Pick<Test, "path" | "op">,
): DataFilters | undefined {
  const { [path]: condition, ...others } = data ?? {};
  const left = condition === undefined ? [] : Object.entries(spelledOut(condition)).filter(([name]) => name !== op);
  const kept: DataFilters = left.length === 0 ? others : { ...others, [path]: Object.fromEntries(left) };
  return Object.keys(kept).length === 0 ? undefined : kept;
}

type SpelledOut = Exclude<DataCondition, Scalar>;

function spelledOut(condition: DataCondition): SpelledOut {
  return typeof condition === "object" && condition !== null ? condition : { eq: condition };
}

/** Text of a test. */
export function testText({ path, op, value }: Test): string {
  if (op === "exists") return `${path} ${value === false ? "does not exist" : "exists"}`;
  const label = OPERATORS.find((each) => each.op === op)?.label ?? op;
  const text = Array.isArray(value) ? value.map((each) => JSON.stringify(each)).join(", ") : JSON.stringify(value);
  return `${path} ${label} ${text}`;
}

/** Kinds of values that can be typed. */
export const VALUE_KINDS = ["text", "number", "true or false", "null"] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

/** Parses a value of a kind, or returns an error message. */
export function readValue(text: string, kind: ValueKind): { ok: true; value: Scalar } | { ok: false; message: string } {
  switch (kind) {
    case "text":
      return { ok: true, value: text };
    case "number": {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) return { ok: false, message: "Enter a number." };
      return { ok: true, value };
    }
    case "true or false": {
      const word = text.trim().toLowerCase();
      if (word !== "true" && word !== "false") return { ok: false, message: "Enter true or false." };
      return { ok: true, value: word === "true" };
    }
    case "null":
      return { ok: true, value: null };
  }
}

export function kindOf(value: unknown): ValueKind {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "true or false";
  return value === null ? "null" : "text";
}
