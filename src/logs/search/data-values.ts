import { isRecord } from "../query/data-path.ts";

/** Called for each value that a path finds. @returns whether the search can end */
type Visit = (value: unknown) => boolean;

/**
 * Visits the values at a path as the query language finds them: a name is also found if it has dots (`a.b` finds
 * `{"a": {"b": 1}}` and `{"a.b": 1}`), and in an array a name is looked up in each item. A number is the index of an item.
 * @returns whether a visit ended the search
 */
export function someAt(value: unknown, path: readonly (string | number)[], visit: Visit, from = 0): boolean {
  const next = path[from];
  if (next === undefined) return visit(value);
  if (Array.isArray(value)) {
    if (typeof next === "number") return next < value.length && someAt(value[next], path, visit, from + 1);
    return value.some((item) => isRecord(item) && someAt(item, path, visit, from));
  }
  if (!isRecord(value)) return false;
  let name = "";
  for (let to = from; to < path.length; to++) {
    const part = path[to];
    if (typeof part !== "string") return false;
    name = to === from ? part : `${name}.${part}`;
    if (Object.hasOwn(value, name) && someAt(value[name], path, visit, to + 1)) return true;
  }
  return false;
}

/** Visits a value, or each item of an array, also of arrays in it. @returns whether a visit ended the search */
export function someItem(value: unknown, visit: Visit): boolean {
  return Array.isArray(value) ? value.some((item) => someItem(item, visit)) : visit(value);
}

/**
 * Visits every string, number and boolean at any depth as text: what a text of the query language is searched for in.
 * @returns whether a visit ended the search
 */
export function someText(value: unknown, visit: (text: string) => boolean): boolean {
  if (typeof value === "string") return visit(value);
  if (typeof value === "number" || typeof value === "boolean") return visit(String(value));
  if (Array.isArray(value)) return value.some((item) => someText(item, visit));
  return isRecord(value) && Object.values(value).some((member) => someText(member, visit));
}
