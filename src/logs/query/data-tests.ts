import { WORK, type WorkMeter } from "./budget.ts";
import { toByteString } from "./case-folding.ts";
import { isArrayIndex } from "./data-path.ts";
import { type DataCondition, isOrdered, type Scalar } from "./filter.ts";
import type { JsonStrings } from "./json-bytes.ts";

/**
 * A list of scalars with a test for membership by `===`. Numbers use binary search, because a client could choose
 * numbers that collide in a hash table. The hash of strings is seeded.
 */
export class ScalarSet {
  readonly #numbers: Float64Array;
  readonly #others: ReadonlySet<unknown>;

  constructor(values: readonly Scalar[]) {
    this.#numbers = Float64Array.from(values.filter((value) => typeof value === "number")).sort();
    this.#others = new Set(values.filter((value) => typeof value !== "number"));
  }

  has(value: unknown): boolean {
    return typeof value === "number" ? this.#hasNumber(value) : this.#others.has(value);
  }

  #hasNumber(value: number): boolean {
    const numbers = this.#numbers;
    let low = 0;
    let high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return numbers[low] === value;
  }
}

/** The type of the value at a path. */
export const VALUE = { none: 0, string: 1, number: 2, true: 3, false: 4, null: 5, nested: 6 } as const;

/** Maximum number of members for which comparing a name with each is faster than a lookup. */
const FEW_MEMBERS = 4;

/** A path that a test names, or a prefix of one. */
export class PathNode {
  /** Tested items of an array, by index. */
  items: Map<number, PathNode> | null = null;
  /** Child nodes by the name as written in JSON, as bytes, one character each. */
  readonly #members = new Map<string, PathNode>();
  readonly #few: [name: string, node: PathNode][] = [];
  /** The last line with a value at this path, the type of the value and its position. */
  line = 0;
  kind: number = VALUE.none;
  from = 0;
  to = 0;
  /** The last line with an own member that counts at this path in place of an object, and the position of its text. */
  ownLine = 0;
  ownFrom = 0;
  ownTo = 0;
  /** The last line whose value was decoded. */
  decodedLine = 0;
  decoded: unknown;

  /** Returns the child with a name, which it creates if needed. */
  make(name: string): PathNode {
    const written = toByteString(JSON.stringify(name).slice(1, -1));
    const known = this.#members.get(written);
    if (known) return known;
    const node = new PathNode();
    this.#members.set(written, node);
    this.#few.push([written, node]);
    if (isArrayIndex(name)) {
      this.items ??= new Map();
      this.items.set(Number(name), node);
    }
    return node;
  }

  /** Returns the child whose name is at the given position; `null` if no test names it. */
  member(text: string, from: number, to: number): PathNode | null {
    if (this.#few.length > FEW_MEMBERS) return this.#members.get(text.slice(from, to)) ?? null;
    for (const [name, node] of this.#few) {
      if (name.length === to - from && text.startsWith(name, from)) return node;
    }
    return null;
  }

  /** Discards the values found below this path in this line: its name occurs twice, and the last one counts. */
  forget(): void {
    for (const [, node] of this.#few) {
      node.line = 0;
      node.forget();
    }
  }
}

type Test = { node: PathNode } & (
  | { op: "eq" | "ne"; value: Scalar }
  | { op: "gt" | "gte" | "lt" | "lte"; value: number | string }
  | { op: "in"; value: ScalarSet }
  | { op: "exists"; value: boolean }
);

/**
 * The tests of `data`, with their paths as a tree. A line is read once, however many tests there are. The tree stores
 * positions of values; only tests decode them.
 */
export class DataTests {
  /** Node of `data` itself; `null` if there are no tests. */
  readonly root: PathNode | null;
  readonly #tests: readonly Test[];
  #line = 0;

  constructor(conditions: readonly DataCondition[]) {
    const root = new PathNode();
    this.#tests = conditions.map((condition) => testOf(root, condition));
    this.root = conditions.length === 0 ? null : root;
  }

  beginLine(): void {
    this.#line++;
  }

  /** Records the value at a path. @param from,to of a string between its quotes */
  found(node: PathNode, kind: number, from: number, to: number): void {
    if (node.line === this.#line) node.forget();
    if (kind === VALUE.nested && node.ownLine === this.#line) {
      this.#set(node, VALUE.string, node.ownFrom, node.ownTo);
    } else this.#set(node, kind, from, to);
  }

  /** Records an own member, before the members of `data`; see `dataAt`. @param from,to of its text */
  foundOwn(node: PathNode, from: number, to: number): void {
    node.ownLine = this.#line;
    node.ownFrom = from;
    node.ownTo = to;
    this.#set(node, VALUE.string, from, to);
  }

  #set(node: PathNode, kind: number, from: number, to: number): void {
    node.line = this.#line;
    node.kind = kind;
    node.from = from;
    node.to = to;
    node.decodedLine = 0;
  }

  /** Whether all tests hold for the values found in the line. */
  hold(raw: Buffer, strings: JsonStrings, meter: WorkMeter): boolean {
    for (const test of this.#tests) {
      meter.add(WORK.condition);
      if (!this.#holds(test, raw, strings, meter)) return false;
    }
    return true;
  }

  #holds(test: Test, raw: Buffer, strings: JsonStrings, meter: WorkMeter): boolean {
    const isThere = test.node.line === this.#line;
    if (test.op === "exists") return isThere === test.value;
    const value = isThere ? this.#valueOf(test.node, raw, strings, meter) : undefined;
    if (typeof value === "string") meter.add(value.length * WORK.comparedCharacter);
    switch (test.op) {
      case "eq":
        return value === test.value;
      case "ne":
        return value !== test.value;
      case "in":
        return test.value.has(value);
      default:
        return isOrdered(test.op, value, test.value);
    }
  }

  /** Returns the scalar at a node. An object or array is returned as a value that equals no scalar. */
  #valueOf(node: PathNode, raw: Buffer, strings: JsonStrings, meter: WorkMeter): unknown {
    const { kind, from, to } = node;
    if (kind === VALUE.nested) return node;
    if (kind === VALUE.null) return null;
    if (kind === VALUE.true || kind === VALUE.false) return kind === VALUE.true;
    if (node.decodedLine === this.#line) return node.decoded;
    meter.add(WORK.text + (to - from) * WORK.textByte);
    node.decodedLine = this.#line;
    node.decoded = kind === VALUE.number ? Number(raw.toString("latin1", from, to)) : strings.decoded(raw, from, to);
    return node.decoded;
  }
}

function testOf(root: PathNode, condition: DataCondition): Test {
  let node = root;
  for (const name of condition.path) node = node.make(name);
  if (condition.op === "in") return { node, op: "in", value: new ScalarSet(condition.value) };
  return { node, ...condition };
}
