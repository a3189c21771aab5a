import { TYPE_BITS } from "./aggregator.ts";

/** Added to the rank of a path with an object: another path of the field with another value comes first. */
const OBJECT_RANK = 1000;
const NO_RANK = 10_000;

/** The values of one field in one entry. Several if there are arrays on the way. */
export class FoundField {
  /** Number of values. */
  count = 0;
  /** Types of the values; see `TYPE_BITS`. */
  types = 0;
  /** Whether the entry has the field, be it an empty array. */
  isThere = false;
  /** Type of each value. */
  readonly kinds: number[] = [];
  /** Position of each value's JSON in the text. */
  readonly #froms: number[] = [];
  readonly #tos: number[] = [];
  /** Position of the first array or value; -1 if there is none. */
  #wholeFrom = -1;
  #wholeTo = 0;
  #rank = NO_RANK;
  #text = "";
  #number = Number.NaN;

  reset(text: string): void {
    this.count = 0;
    this.types = 0;
    this.isThere = false;
    this.#rank = NO_RANK;
    this.#wholeFrom = -1;
    this.#text = text;
    this.#number = Number.NaN;
  }

  /** Whether the value was found at the first path of the field or before, so that no other path can take its place. */
  get isFinal(): boolean {
    return this.#rank <= 0;
  }

  /** Adds a value at a path of the field. @param from,to of its JSON */
  add(rank: number, kind: number, from: number, to: number): void {
    if (this.#takes(kind === TYPE_BITS.nested ? rank + OBJECT_RANK : rank)) this.#push(kind, from, to);
  }

  /** Adds an item of an array at a path of the field, after `beginArray`. */
  addItem(rank: number, kind: number, from: number, to: number): void {
    if (this.#takes(rank)) this.#push(kind, from, to);
  }

  /** Records an array at a path of the field, before its items. */
  beginArray(rank: number, from: number): void {
    if (!this.#takes(rank)) return;
    this.types |= TYPE_BITS.array;
    if (this.#wholeFrom < 0) this.#wholeFrom = from;
  }

  endArray(rank: number, from: number, to: number): void {
    if (rank === this.#rank && this.#wholeFrom === from) this.#wholeTo = to;
  }

  /** Sets the only value, which is not in the line as JSON. @param number NaN if it is no number */
  set(text: string, kind: number, number: number): void {
    this.reset(text);
    this.add(0, kind, 0, text.length);
    this.#number = number;
  }

  /** Returns the JSON of a value: bytes of UTF-8, one character each. */
  textAt(index: number): string {
    return this.#text.slice(this.#froms[index], this.#tos[index]);
  }

  /** Whether the value has a number besides its text. */
  get hasNumber(): boolean {
    return !Number.isNaN(this.#number);
  }

  /** Returns the number of a value that is one. */
  numberAt(index: number): number {
    return Number.isNaN(this.#number) ? Number(this.textAt(index)) : this.#number;
  }

  /** Returns the JSON of all that the entry has at the field. */
  whole(): string {
    return this.#text.slice(this.#wholeFrom, this.#wholeTo);
  }

  /** Whether a value of this rank counts. A lower rank takes the place of a higher one. */
  #takes(rank: number): boolean {
    if (rank > this.#rank) return false;
    if (rank < this.#rank) {
      this.#rank = rank;
      this.count = 0;
      this.types = 0;
      this.#wholeFrom = -1;
    }
    this.isThere = true;
    return true;
  }

  #push(kind: number, from: number, to: number): void {
    this.kinds[this.count] = kind;
    this.#froms[this.count] = from;
    this.#tos[this.count] = to;
    this.count++;
    this.types |= kind;
    if (this.#wholeFrom >= 0) return;
    this.#wholeFrom = from;
    this.#wholeTo = to;
  }
}
