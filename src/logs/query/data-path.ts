import { type Entry, OWN_MEMBERS, type OwnMember } from "../entry.ts";

/**
 * Paths into an entry's `data`: names joined by ".", as in `user.plan`. A name with a dot or a bracket in it is written
 * as a JSON string in brackets: `["user.plan"]`, `request["x.id"].length`. A number indexes an array, as in
 * `items.0.id` or `items[0].id`, and names a member of an object. There is no wildcard for array elements.
 */

const NAME = String.raw`\["(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"\]|\[(?:0|[1-9]\d*)\]`;
const STEP = String.raw`(?:${NAME}|[^.[\]]+)`;

/** The pattern of a path, as published in OpenAPI. */
export const DATA_PATH = new RegExp(String.raw`^${STEP}(?:\.${STEP}|${NAME})*$`);

const QUOTED = /\["(?:[^"\\]|\\.)*"\]/y;
const INDEX = /\[(?:0|[1-9]\d*)\]/y;
const BARE = /[^.[\]]+/y;
const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** Returns the names of a path in order, or `null` if the text is not a path. */
export function parseDataPath(text: string): string[] | null {
  if (!DATA_PATH.test(text)) return null;
  const names: string[] = [];
  for (let at = 0; ; ) {
    const quoted = matchAt(QUOTED, text, at);
    const token = quoted ?? matchAt(INDEX, text, at) ?? matchAt(BARE, text, at);
    if (token === null) return null;
    const name = quoted === null ? token.replace(/^\[|\]$/g, "") : jsonString(token.slice(1, -1));
    if (name === null) return null;
    names.push(name);
    at += token.length;
    if (at === text.length) return names;
    if (text[at] === ".") at++;
    else if (text[at] !== "[") return null;
  }
}

/** Whether a name can index an array. No other name selects anything in an array, so `length` does not. */
export function isArrayIndex(name: string): boolean {
  return ARRAY_INDEX.test(name);
}

/**
 * Returns the value at a path; `undefined` if there is none. Reads own members only, because inherited ones are not
 * data.
 */
export function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const name of path) {
    if (Array.isArray(value)) value = isArrayIndex(name) ? value[Number(name)] : undefined;
    else if (isRecord(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/**
 * Returns `data` as a path finds its values in it. `service` and `host` were members of `data` before they were own members,
 * and saved queries name them there. So a path that is exactly one of these names finds, in this order: a member of
 * `data` that is no object, the own member, an object in `data`. (The fields `service` and `host` of the query language read
 * the own member first.)
 */
export function dataAt(entry: Entry, path: readonly (string | number)[]): unknown {
  const { data } = entry;
  const [name] = path;
  if (path.length !== 1 || !isOwnMember(name)) return data;
  const own = entry[name];
  if (own === undefined) return data;
  const inner = data !== undefined && Object.hasOwn(data, name) ? data[name] : undefined;
  return inner === undefined || isRecord(inner) ? { [name]: own } : data;
}

export function isOwnMember(name: unknown): name is OwnMember {
  return OWN_MEMBERS.some((own) => own === name);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function jsonString(quoted: string): string | null {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
