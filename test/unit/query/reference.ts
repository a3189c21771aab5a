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
    isResource("service", filters.service, entry) &&
    isResource("host", filters.host, entry) &&
    (filters.from === undefined || entry.timestamp >= new Date(filters.from).getTime()) &&
    (filters.to === undefined || entry.timestamp < new Date(filters.to).getTime()) &&
    (filters.search === undefined ||
      hasText([entry.message, entry.service, entry.host, entry.data], folded(filters.search))) &&
    data.every((test) => passesData(dataFor(entry, test.names), test))
  );
}

/** Whether the own member, or what stands in its place in `data`, is one of the wanted texts. */
function isResource(name: "service" | "host", wanted: string | string[] | undefined, entry: TestEntry): boolean {
  if (wanted === undefined) return true;
  const isWanted = (value: unknown) =>
    [value, ...(Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [])].some(
      (each) => typeof each === "string" && [wanted].flat().includes(each),
    );
  if (entry[name] !== undefined) return isWanted(entry[name]);
  const data: unknown = entry.data === undefined ? undefined : JSON.parse(JSON.stringify(entry.data));
  const plain = member(data, name);
  if (plain !== null && (typeof plain.value !== "object" || plain.value === null || Array.isArray(plain.value)))
    return isWanted(plain.value);
  return isWanted(member(plain?.value, "name")?.value) || isWanted(member(data, `${name}.name`)?.value);
}

/** `data` with the own member of a path, unless `data` has another value than an object there. */
function dataFor(entry: TestEntry, [name, ...more]: readonly string[]): unknown {
  if ((name !== "service" && name !== "host") || more.length > 0 || entry[name] === undefined) return entry.data;
  const own = member(entry.data, name)?.value;
  const isOther = own !== undefined && (typeof own !== "object" || own === null || Array.isArray(own));
  return isOther ? entry.data : { [name]: entry[name] };
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
