import { ByGroup, type HeldBytes } from "./by-group.ts";

export interface ExtremeState {
  least: Float64Array;
  greatest: Float64Array;
}

/** The least and the greatest number of one field by group. */
export class Extremes {
  readonly #least: ByGroup;
  readonly #greatest: ByGroup;

  constructor(held: HeldBytes) {
    this.#least = new ByGroup(held, Number.NaN);
    this.#greatest = new ByGroup(held, Number.NaN);
  }

  /** @param value finite */
  add(group: number, value: number): void {
    // Comparisons with NaN, of a group without values, are false.
    if (!(value >= this.#least.get(group))) this.#least.set(group, value);
    if (!(value <= this.#greatest.get(group))) this.#greatest.set(group, value);
  }

  /** Returns `null` if the group has no values. */
  least(group: number): number | null {
    const value = this.#least.get(group);
    return Number.isNaN(value) ? null : value;
  }

  greatest(group: number): number | null {
    const value = this.#greatest.get(group);
    return Number.isNaN(value) ? null : value;
  }

  merge({ least, greatest }: ExtremeState, own: Int32Array): void {
    for (const [other, group] of own.entries()) {
      const [low, high] = [least[other] ?? Number.NaN, greatest[other] ?? Number.NaN];
      if (Number.isNaN(low)) continue;
      this.add(group, low);
      this.add(group, high);
    }
  }

  state(count: number): ExtremeState {
    return { least: this.#least.copy(count), greatest: this.#greatest.copy(count) };
  }
}

/** The position of an entry in time. No two entries of a workspace have equal positions. */
export interface EntryPosition {
  /** Epoch milliseconds. */
  timestamp: number;
  seq: number;
  projectId: string;
}

interface Edge extends EntryPosition {
  /** JSON text, bytes of UTF-8, one character each. */
  text: string;
}

export type EdgeState = (readonly [group: number, edge: Edge])[];

/** Approximate bytes of an edge without its text. */
const EDGE_BYTES = 160;

/** The value of one field in the first (or last) entry of each group that has it. */
export class Edges {
  readonly #held: HeldBytes;
  readonly #sign: 1 | -1;
  readonly #maxCharacters: number;
  readonly #edges = new Map<number, Edge>();

  /**
   * @param sign 1 for the first entry, -1 for the last
   * @param maxCharacters of a text; the rest of a longer one is left out
   */
  constructor(held: HeldBytes, sign: 1 | -1, maxCharacters = Number.POSITIVE_INFINITY) {
    this.#held = held;
    this.#sign = sign;
    this.#maxCharacters = maxCharacters;
  }

  /** Whether the value of an entry would replace the known one. */
  accepts(group: number, position: EntryPosition): boolean {
    const known = this.#edges.get(group);
    return known === undefined || this.#sign * comparePositions(position, known) < 0;
  }

  /** Sets the value of a group, after `accepts`. */
  set(group: number, { timestamp, seq, projectId }: EntryPosition, whole: string): void {
    const text = cutText(whole, this.#maxCharacters);
    const known = this.#edges.get(group);
    this.#held.add(text.length - (known?.text.length ?? -EDGE_BYTES));
    this.#edges.set(group, { timestamp, seq, projectId, text });
  }

  /** Returns the JSON text of a group's value; `null` if the group has none. */
  textOf(group: number): string | null {
    return this.#edges.get(group)?.text ?? null;
  }

  merge(state: EdgeState, own: Int32Array): void {
    for (const [other, edge] of state) {
      const group = own[other] ?? 0;
      if (this.accepts(group, edge)) this.set(group, edge, edge.text);
    }
  }

  state(): EdgeState {
    return [...this.#edges];
  }
}

/** Cuts the JSON of a text: bytes of UTF-8, one character each. Other values stay whole. */
function cutText(json: string, maxCharacters: number): string {
  if (json.length - 2 <= maxCharacters) return json;
  const value: unknown = JSON.parse(Buffer.from(json, "latin1").toString("utf8"));
  if (typeof value !== "string" || value.length <= maxCharacters) return json;
  return Buffer.from(JSON.stringify(value.slice(0, maxCharacters).toWellFormed()), "utf8").toString("latin1");
}

function comparePositions(a: EntryPosition, b: EntryPosition): number {
  return (
    a.timestamp - b.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : 0)
  );
}
