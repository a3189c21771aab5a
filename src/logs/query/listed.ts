/** Values up to which it is quicker to look at each. */
const FEW = 8;

/** Sets of long lists. A list is asked for every line that a query looks at, and may have a thousand values. */
const sets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Whether a list, which does not change, has a value. */
export function isListed(list: readonly unknown[], value: unknown): boolean {
  if (list.length <= FEW) return list.includes(value);
  let set = sets.get(list);
  if (set === undefined) {
    set = new Set(list);
    sets.set(list, set);
  }
  return set.has(value);
}

/** Names as JSON strings with both their quotes, as bytes, one character each. As a quote inside is escaped, a prefix is equality. */
export class ListedNames {
  readonly #names: readonly string[];
  readonly #next: string;

  /** @param next what stands behind each in a line, from its closing quote on */
  constructor(names: readonly string[], next: string) {
    this.#names = names;
    this.#next = next;
  }

  /** Whether one of them stands at this place of a line. */
  isAt(bytes: string, at: number): boolean {
    if (this.#names.length <= FEW) return this.#names.some((name) => bytes.startsWith(name, at));
    const end = bytes.indexOf(this.#next, at);
    return end >= 0 && isListed(this.#names, bytes.slice(at, end + 1));
  }
}
