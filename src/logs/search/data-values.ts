import { printField } from "../../query-language/fields.ts";
import type { Field, ValueTest } from "../../query-language/syntax.ts";
import { isRecord } from "../query/data-path.ts";

/** Work units of looking at an item of an array or object, and of joining and looking up a name in an object. */
const ITEM_WORK = 12;
const NAME_WORK = 40;
/** Further work units of a member of an object with many members, which V8 keeps in another form, and of the text of a number. */
const WIDE_MEMBER_WORK = 130;
const NARROW_MEMBERS = 100;
const NUMBER_TEXT_WORK = 20;

let work = 0;

/** Begins to count: what others have read of entries before, such as keys of groups, is not the work of a test. */
export function beginPathWork(): void {
  work = 0;
}

/** Returns the work units of what paths have looked at since the beginning: an entry may have thousands of items. */
export function takePathWork(): number {
  return work;
}

/** Adds work units of a test of a value that a path has found. */
export function addPathWork(units: number): void {
  work += units;
}

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
    work += value.length * ITEM_WORK;
    return value.some((item) => isRecord(item) && someAt(item, path, visit, from));
  }
  if (!isRecord(value)) return false;
  let name = "";
  for (let to = from; to < path.length; to++) {
    const part = path[to];
    if (typeof part !== "string") return false;
    // In long names each further one would cost its length, for each of many objects.
    if (to - from >= MOST_JOINED || name.length > MOST_NAME) return someNamed(value, path, visit, { from, to });
    work += NAME_WORK;
    name = to === from ? part : `${name}.${part}`;
    if (Object.hasOwn(value, name) && someAt(value[name], path, visit, to + 1)) return true;
  }
  return false;
}

/** Names that are joined and looked up, and the characters of a joined name to which another is added. */
const MOST_JOINED = 4;
const MOST_NAME = 200;

/** Visits the members whose names are those of a path from `from` to `to` or further, joined by dots. Takes time linear in the names. */
function someNamed(
  value: Record<string, unknown>,
  path: readonly (string | number)[],
  visit: Visit,
  { from, to }: { from: number; to: number },
): boolean {
  const names = Object.keys(value);
  work += wideWorkOf(names.length);
  return names.some((name) => {
    work += NAME_WORK;
    let at = 0;
    for (let index = from; index < path.length; index++) {
      const part = path[index];
      if (typeof part !== "string" || !name.startsWith(part, at)) return false;
      at += part.length;
      if (at === name.length) return index >= to && someAt(value[name], path, visit, index + 1);
      if (name[at++] !== ".") return false;
    }
    return false;
  });
}

/** Visits a value, or each item of an array, also of arrays in it. @returns whether a visit ended the search */
export function someItem(value: unknown, visit: Visit): boolean {
  if (!Array.isArray(value)) return visit(value);
  work += value.length * ITEM_WORK;
  return value.some((item) => someItem(item, visit));
}

/**
 * Visits every string, number and boolean at any depth as text: what a text of the query language is searched for in.
 * @returns whether a visit ended the search
 */
export function someText(value: unknown, visit: (text: string) => boolean): boolean {
  if (typeof value === "string") return visit(value);
  if (typeof value === "number" || typeof value === "boolean") {
    work += NUMBER_TEXT_WORK;
    return visit(String(value));
  }
  if (!Array.isArray(value) && !isRecord(value)) return false;
  const items = Array.isArray(value) ? value : Object.values(value);
  work += NAME_WORK + items.length * ITEM_WORK + (items === value ? 0 : wideWorkOf(items.length));
  return items.some((item) => someText(item, visit));
}

/** Returns the work units that listing the members of an object takes besides those of each item. */
export function wideWorkOf(members: number): number {
  return members > NARROW_MEMBERS ? members * WIDE_MEMBER_WORK : 0;
}

/** Types that a comparison with numbers does not find. */
const SKIPPED = { text: 1, boolean: 2 } as const;
const SKIPPED_NAMES = [
  [SKIPPED.text, "text"],
  [SKIPPED.boolean, "a boolean"],
] as const;

/** A member of `data` that a filter compares with numbers. */
export class ComparedMember {
  /** Bits of `SKIPPED`: what was met in place of a number. */
  skipped = 0;

  /** Called for values that are no numbers. */
  skip(value: unknown): void {
    if (typeof value === "string") this.skipped |= SKIPPED.text;
    else if (typeof value === "boolean") this.skipped |= SKIPPED.boolean;
  }

  /** Called if some entry has a value of a column's type. */
  skipType(type: "text" | "boolean"): void {
    this.skipped |= SKIPPED[type];
  }

  hasSkipped(type: "text" | "boolean"): boolean {
    return (this.skipped & SKIPPED[type]) !== 0;
  }
}

/** Members with their bits of `SKIPPED`. Plain data. */
export type SkippedTypes = readonly (readonly [name: string, bits: number])[];

/** Members that the notes of one answer name. */
const MAX_NOTED = 10;

/** The members of `data` that the filters of one request compare with numbers. */
export class ComparedMembers {
  readonly #byName = new Map<string, ComparedMember>();

  /** @returns `null` if the test compares no member of `data` with numbers */
  of(field: Field, test: ValueTest): ComparedMember | null {
    return field.kind === "data" && comparesNumbers(test) ? this.#named(printField(field)) : null;
  }

  /** The members with values that are no numbers. */
  get skipped(): SkippedTypes {
    return [...this.#byName].flatMap(([name, { skipped }]) => (skipped === 0 ? [] : [[name, skipped] as const]));
  }

  /** Adds what another part of the request met. */
  add(skipped: SkippedTypes): void {
    for (const [name, bits] of skipped) this.#named(name).skipped |= bits;
  }

  /** Returns a note for each of the first members with values that are no numbers. @param notes of the same answer */
  notes(notes: readonly string[]): string[] {
    return this.skipped
      .filter(([name]) => !notes.some((note) => note.startsWith(`\`${name}\` has mixed types`)))
      .slice(0, MAX_NOTED)
      .map(([name, bits]) => {
        const types = SKIPPED_NAMES.filter(([bit]) => (bits & bit) !== 0).map(([, type]) => type);
        return `\`${name}\` is ${types.join(" or ")} in some entries; comparisons find numbers only.`;
      });
  }

  #named(name: string): ComparedMember {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const made = new ComparedMember();
    this.#byName.set(name, made);
    return made;
  }
}

function comparesNumbers(test: ValueTest): boolean {
  switch (test.kind) {
    case "anyOf":
      return test.tests.some(comparesNumbers);
    case "compare":
      return test.value.kind === "number";
    case "range":
      return test.from.kind === "number";
    default:
      return false;
  }
}
