import { type Token, tokensOf } from "../template.ts";
import { type LineShape, unionShape } from "./line-shape.ts";
import { MemberUnion, structureOf } from "./member-union.ts";

/** Unions of one row group: one for each structure of nested objects. Each costs a comparison for lines of no known shape. */
const MAX_UNIONS = 8;
/** Shapes of all unions of a row group. A union has a new one when a member or an order is new. */
const MAX_VERSIONS = 256;
/** Lines in a row that fit no union, after which no further one is tried. */
const MAX_FAILURES = 256;

/** The shapes of lines that have some of many optional members. */
export class UnionShapes {
  readonly #unions: MemberUnion[] = [];
  /** Own members of the lines of each union. */
  readonly #own: string[] = [];
  /** Index of the newest shape of each union. */
  readonly indices: number[] = [];
  #versions = 0;
  #failures = 0;

  /** Whether a further line may be joined. */
  get mayUnite(): boolean {
    return this.#versions < MAX_VERSIONS && this.#failures < MAX_FAILURES;
  }

  /**
   * Joins a line with others that have the same nested objects.
   * @param exact shape of the line
   * @param shapes of the row group
   * @returns a shape that the line may be of, and a function that adds it to the shapes and returns its index
   */
  unite(exact: LineShape, shapes: LineShape[]): { shape: LineShape; add: () => number } | null {
    this.#failures++;
    const tokens = exact.template === null ? null : tokensOf(exact.template);
    if (tokens === null || exact.data.length === 0) return null;
    const at = this.#indexOf(tokens, exact.own.join(), shapes);
    const united = this.#unions[at]?.add(tokens) ?? null;
    const shape = united === null ? null : unionShape(united, exact.own);
    if (shape === null) return null;
    const add = () => {
      this.#failures = 0;
      this.#versions++;
      const index = shapes.push(shape) - 1;
      this.indices[at] = index;
      return index;
    };
    return { shape, add };
  }

  /** Returns the index of the union for these tokens; -1 if there are too many. A new one has all shapes so far. */
  #indexOf(tokens: readonly Token[], members: string, shapes: readonly LineShape[]): number {
    const structure = structureOf(tokens);
    const known = this.#unions.findIndex(
      (union, index) => union.structure === structure && this.#own[index] === members,
    );
    if (known >= 0 || this.#unions.length === MAX_UNIONS) return known;
    const union = new MemberUnion(tokens);
    for (const { template, isDeep, union: joined, own } of shapes) {
      const isOther = template === null || !isDeep || joined !== null || own.join() !== members;
      const others = isOther ? null : tokensOf(template);
      if (others !== null && structureOf(others) === structure) union.add(others);
    }
    this.#own.push(members);
    return this.#unions.push(union) - 1;
  }
}
