import { LEVELS } from "../../../src/logs/entry.ts";
import type { DataTest, TestFilters } from "./arbitraries.ts";
import type { TestEntry, TestRow } from "./store.ts";

/** A direct implementation of the contract: no masks, no bytes, every entry tested as a whole. */
export function passes(entry: TestEntry, filters: TestFilters, data: readonly DataTest[]): boolean {
  const levels: readonly string[] = LEVELS;
  const severity = (level: string) => levels.indexOf(level);
  const isOneOf = (wanted: string | string[] | undefined, value: string) =>
    wanted === undefined || [wanted].flat().includes(value);
  return (
    isOneOf(filters.level, entry.level) &&
    isOneOf(filters.category, entry.category) &&
    isOneOf(filters.type, entry.type) &&
    (filters.minLevel === undefined || severity(entry.level) >= severity(filters.minLevel)) &&
    (filters.session === undefined || entry.session === filters.session) &&
    (filters.traceId === undefined || entry.traceId === filters.traceId) &&
    (filters.from === undefined || entry.timestamp >= new Date(filters.from).getTime()) &&
    (filters.to === undefined || entry.timestamp < new Date(filters.to).getTime()) &&
    (filters.search === undefined || hasText([entry.message, entry.data], folded(filters.search))) &&
    data.every((test) => passesData(entry.data, test))
  );
}

function hasText(value: unknown, needle: string): boolean {
  if (typeof value === "string") return folded(value).includes(needle);
  if (typeof value === "number" || typeof value === "boolean") return folded(JSON.stringify(value)).includes(needle);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((member) => hasText(member, needle));
}

function passesData(data: unknown, { names, test }: DataTest): boolean {
  const found = names.reduce<{ value: unknown } | null>((at, name) => (at ? member(at.value, name) : null), {
    value: data,
  });
  const operators = typeof test === "object" && test !== null ? Object.entries(test) : [["eq", test] as const];
  return operators.every(([operator, wanted]) => {
    switch (operator) {
      case "eq":
        return found !== null && found.value === wanted;
      case "ne":
        return found === null || found.value !== wanted;
      case "in":
        return found !== null && Array.isArray(wanted) && wanted.includes(found.value);
      case "exists":
        return (found !== null) === wanted;
      default:
        return found !== null && typeof found.value === typeof wanted && compares(operator, found.value, wanted);
    }
  });
}

function compares(operator: string, value: unknown, wanted: unknown): boolean {
  if (
    (typeof value !== "number" && typeof value !== "string") ||
    (typeof wanted !== "number" && typeof wanted !== "string")
  ) {
    return false;
  }
  if (operator === "gt") return value > wanted;
  if (operator === "gte") return value >= wanted;
  if (operator === "lt") return value < wanted;
  return value <= wanted;
}

function member(value: unknown, name: string): { value: unknown } | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) return null;
  const own = Object.entries(value).find(([key]) => key === name);
  return own ? { value: own[1] } : null;
}

export function inOrder(rows: readonly TestRow[], order: "asc" | "desc"): TestRow[] {
  const rising = [...rows].sort(
    (a, b) => a.entry.timestamp - b.entry.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : 1),
  );
  return order === "asc" ? rising : rising.reverse();
}

/** Both small sigmas are equal. */
function folded(text: string): string {
  return text.toLowerCase().replace(/\u03c2/g, "\u03c3");
}
