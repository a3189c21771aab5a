import { toByteString } from "./case-folding.ts";
import { isArrayIndex } from "./data-path.ts";
import { type DataCondition, isOrdered, type Scalar } from "./filter.ts";
import type { JsonStrings } from "./json-strings.ts";
import { ScalarSet } from "./scalar-set.ts";
import { WORK, type WorkMeter } from "./work.ts";

/** What stands at a path. */
export const VALUE = { none: 0, string: 1, number: 2, true: 3, false: 4, null: 5, nested: 6 } as const;

/** Members up to which comparing the name with each is quicker than looking it up. */
const FEW_MEMBERS = 4;

/** A path that a test asks for, or that leads to one. */
export class PathNode {
  /** Items of an array that tests ask for, by index. */
  items: Map<number, PathNode> | null = null;
  /** By the name as it is written in JSON, as bytes, one character each. */
  readonly #members = new Map<string, PathNode>();
  readonly #few: [name: string, node: PathNode][] = [];
  /** The line in which a value was found here, what it is and where it stands. */
  line = 0;
  kind: number = VALUE.none;
  from = 0;
  to = 0;
  /** The value of that line once it has been decoded. */
  decodedLine = 0;
  decoded: unknown;

  /** The path behind this one. */
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

  /** The path behind this one whose name stands there; null where no test asks for it. */
  member(text: string, from: number, to: number): PathNode | null {
    if (this.#few.length > FEW_MEMBERS) return this.#members.get(text.slice(from, to)) ?? null;
    for (const [name, node] of this.#few) {
      if (name.length === to - from && text.startsWith(name, from)) return node;
    }
    return null;
  }

  /** Forgets what was found behind this path in this line: its name stands there twice, and the last one counts. */
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
 * The tests of `data`: paths as a tree, which a line is walked along once, however many tests there are. What is found is
 * noted by its place, and decoded only for the tests.
 */
export class DataTests {
  /** `data` itself; null where there are no tests. */
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

  /** A value stands at a path. @param from,to of a string between its quotes */
  found(node: PathNode, kind: number, from: number, to: number): void {
    if (node.line === this.#line) node.forget();
    node.line = this.#line;
    node.kind = kind;
    node.from = from;
    node.to = to;
    node.decodedLine = 0;
  }

  /** Whether all tests hold for what was found in the line. */
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

  /** A scalar; an object or array is none that any test names, and stands for itself. */
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
