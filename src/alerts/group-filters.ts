import type { Field, Filter, ValueTest } from "../query-language/syntax.ts";
import type { Counted } from "./matcher.ts";
import { ALERT_LIMITS } from "./rule.ts";
import type { GroupValue } from "./template.ts";

/** A text, a number or a boolean: what groups entries, and what is counted of different values. */
const ANY_VALUE: ValueTest = { kind: "regex", source: "^", ignoreCase: false };
/** Numbers alone. */
const ANY_NUMBER: ValueTest = {
  kind: "anyOf",
  tests: (["<", ">="] as const).map((operator) => ({ kind: "compare", operator, value: numberOf(0) })),
};

/** Returns what entries of a group have besides passing the filter of their rule. @param key of the group, as the matcher writes it */
export function groupFilters({ by, measure }: Pick<Counted, "by" | "measure">, key: string): Filter[] {
  // SAFETY: only the matcher writes keys.
  const values = JSON.parse(key) as GroupValue[];
  const groups = by.flatMap((field, index): Filter | Filter[] => {
    const value = values[index] ?? null;
    if (typeof value === "boolean") return booleanFilters(field, value);
    if (value !== null) return { kind: "field", field, test: groupTest(value) };
    // A member may be null, an object or an empty list. An own field is there or not.
    const test: ValueTest = field.kind === "data" ? ANY_VALUE : { kind: "exists" };
    return { kind: "not", filter: { kind: "field", field, test } };
  });
  if (measure === null) return groups;
  const { fn, field } = measure;
  const test = field.kind !== "data" ? { kind: "exists" as const } : fn === "count_distinct" ? ANY_VALUE : ANY_NUMBER;
  return [...groups, { kind: "field", field, test }];
}

/** No test finds booleans alone, so the text is left out: also of a list that has both. */
function booleanFilters(field: Field, value: boolean): Filter[] {
  const spelled: Filter = { kind: "field", field, test: { kind: "regex", source: `^${value}$`, ignoreCase: false } };
  const asText: Filter = { kind: "field", field, test: { kind: "exact", text: String(value) } };
  return [spelled, { kind: "not", filter: asText }];
}

function groupTest(value: string | number): ValueTest {
  if (typeof value === "number") return { kind: "range", from: numberOf(value), to: numberOf(value) };
  if (value.length < ALERT_LIMITS.groupValue) return { kind: "exact", text: value };
  // The rest of a longer text is not in the key, and the last character may be half of one: of each that begins with it.
  const [half = ""] = /[\ud800-\udbff]$/.exec(value) ?? [];
  const start = value.slice(0, value.length - half.length).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const source = `^${start.replace(/[\p{Cc}\p{Cs}]/gu, escaped)}${half === "" ? "" : charactersFrom(half)}`;
  return { kind: "regex", source, ignoreCase: false };
}

/** Returns the class of characters whose first half in UTF-16 is this one, and of the half alone. */
function charactersFrom(half: string): string {
  const first = 0x10000 + (half.charCodeAt(0) - 0xd800) * 0x400;
  return `[\\x{${first.toString(16)}}-\\x{${(first + 0x3ff).toString(16)}}${escaped(half)}]`;
}

/** Escapes what a URL or a query does not keep: a control character, and half of a character. */
function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 2 ? `\\x{${code}}` : `\\x${code.padStart(2, "0")}`;
}

/** Returns a number as tests have it. */
export function numberOf(value: number) {
  return { kind: "number" as const, value };
}
