import type { Token } from "../template.ts";
import { latin1 } from "../value-scanner.ts";

/** Members of one union. A row has 5 bytes for each of them. */
const MAX_MEMBERS = 64;
/** Lines that may not fit before a union takes no others. */
const MAX_CONFLICTS = 64;

/** Members between two parts of the structure: by name, each with the names that follow it in some line. */
type Gap = Map<string, { token: Token; next: Set<string> }>;

/**
 * The members of lines that have the same nested objects but not the same members, in an order that every line has. So
 * lines of which each has some of many optional members are of one shape.
 */
export class MemberUnion {
  /** Equal for lines that may be of one union. */
  readonly structure: string;
  readonly #objects: readonly Token[];
  #gaps: readonly Gap[];
  #conflicts = 0;

  constructor(tokens: readonly Token[]) {
    this.structure = structureOf(tokens);
    this.#objects = tokens.filter(({ kind }) => kind !== "member");
    this.#gaps = gapsOf(tokens);
  }

  /** Adds the members of a line. @returns the members in order; `null` if the line does not fit, which changes nothing */
  add(tokens: readonly Token[]): Token[] | null {
    if (this.#conflicts === MAX_CONFLICTS) return null;
    const added = gapsOf(tokens);
    const gaps = this.#gaps.map((gap, index) => joined(gap, added[index] ?? new Map()));
    const lists = gaps.map(ordered);
    const members = gaps.reduce((sum, { size }) => sum + size, 0);
    if (members > MAX_MEMBERS || lists.includes(null)) {
      this.#conflicts++;
      return null;
    }
    this.#gaps = gaps;
    return lists.flatMap((list, index) => [...(list ?? []), ...this.#objects.slice(index, index + 1)]);
  }
}

export function structureOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.kind === "open" ? keyOf(token.name) : token.kind === "close" ? "}" : ""))
    .join("");
}

function keyOf(name: Uint8Array): string {
  return latin1(name, 0, name.length);
}

function gapsOf(tokens: readonly Token[]): Gap[] {
  let gap: Gap = new Map();
  const gaps = [gap];
  let last: { next: Set<string> } | null = null;
  for (const token of tokens) {
    if (token.kind !== "member") {
      gap = new Map();
      gaps.push(gap);
      last = null;
      continue;
    }
    const name = keyOf(token.name);
    const own = { token, next: new Set<string>() };
    gap.set(name, own);
    last?.next.add(name);
    last = own;
  }
  return gaps;
}

function joined(gap: Gap, added: Gap): Gap {
  const all: Gap = new Map();
  for (const [name, { token, next }] of [...gap, ...added]) {
    const known = all.get(name);
    if (known === undefined) all.set(name, { token, next: new Set(next) });
    else for (const other of next) known.next.add(other);
  }
  return all;
}

/** Returns the members in an order in which each follows all that are before it in a line; `null` without such an order. */
function ordered(gap: Gap): Token[] | null {
  const before = new Map([...gap.keys()].map((name) => [name, 0]));
  for (const { next } of gap.values()) for (const name of next) before.set(name, (before.get(name) ?? 0) + 1);
  const tokens: Token[] = [];
  const free = [...gap.keys()].filter((name) => before.get(name) === 0);
  for (let name = free.shift(); name !== undefined; name = free.shift()) {
    const member = gap.get(name);
    if (member === undefined) continue;
    tokens.push(member.token);
    for (const other of member.next) {
      const left = (before.get(other) ?? 0) - 1;
      before.set(other, left);
      if (left === 0) free.push(other);
    }
  }
  return tokens.length === gap.size ? tokens : null;
}
