import { TYPE_BITS } from "./aggregator.ts";
import type { FieldNode } from "./fields.ts";
import type { FoundField } from "./found-field.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Returned as an index if the text is not JSON as ingest writes it. */
const MALFORMED = -1;

/** Work units of a member or item that is looked at, besides those of its bytes. */
const VALUE_WORK = 40;

/** Finds the values of fields in the JSON of an entry's `data`. */
export class DataFields {
  readonly #root: FieldNode;
  readonly #found: readonly FoundField[];
  readonly #searched: readonly FoundField[];
  #text = "";
  #end = 0;
  /** Members and items since the last `takeWork`. */
  #values = 0;

  /** @param found by field; those of the tree get values */
  constructor(root: FieldNode, found: readonly FoundField[]) {
    this.#root = root;
    this.#found = found;
    this.#searched = [...new Set(fieldsOf(root))].flatMap((field) => found[field] ?? []);
  }

  /** Returns the work units of members and items since the last call: an entry may have thousands. */
  takeWork(): number {
    const work = this.#values * VALUE_WORK;
    this.#values = 0;
    return work;
  }

  /**
   * Reads `data` up to the last member that a field needs.
   * @param at index of the opening brace
   * @param end of the line
   * @returns whether it is an object, as far as it was read
   */
  read(text: string, at: number, end: number): boolean {
    this.#text = text;
    this.#end = end;
    return text.charCodeAt(at) === OPEN_BRACE && this.#object(at, this.#root, true) >= 0;
  }

  /** @returns the index after the object, or before it if nothing more is needed and `mayEnd` */
  #object(open: number, node: FieldNode, mayEnd: boolean): number {
    const text = this.#text;
    if (text.charCodeAt(open + 1) === CLOSE_BRACE) return open + 2;
    for (let at = open + 1; ; ) {
      if (text.charCodeAt(at) !== QUOTE) return MALFORMED;
      this.#values++;
      const name = at + 1;
      const nameEnd = stringEnd(text, name, this.#end);
      if (nameEnd < 0 || text.charCodeAt(nameEnd + 1) !== COLON) return MALFORMED;
      const child = node.member(text, name, nameEnd);
      at = child === null ? this.#skip(nameEnd + 2) : this.#value(nameEnd + 2, child, false);
      if (at < 0) return MALFORMED;
      if (mayEnd && child !== null && this.#hasAll()) return at;
      const byte = text.charCodeAt(at++);
      if (byte === CLOSE_BRACE) return at;
      if (byte !== COMMA) return MALFORMED;
    }
  }

  #hasAll(): boolean {
    for (let at = 0; at < this.#searched.length; at++) if (!this.#searched[at]?.isFinal) return false;
    return true;
  }

  /** @param isItem whether the value is an item of an array at the node's path */
  #value(at: number, node: FieldNode, isItem: boolean): number {
    const byte = this.#text.charCodeAt(at);
    if (byte === OPEN_BRACE) {
      const to = node.hasChildren ? this.#object(at, node, false) : this.#skip(at);
      if (to >= 0) this.#add(node, TYPE_BITS.nested, at, to, isItem);
      return to;
    }
    if (byte === OPEN_BRACKET) {
      if (!isItem) return this.#array(at, node);
      const to = this.#skip(at);
      if (to >= 0) this.#add(node, TYPE_BITS.nested, at, to, true);
      return to;
    }
    const to = this.#skip(at);
    if (to < 0) return MALFORMED;
    const kind = this.#kindAt(byte, at, to);
    if (kind === 0) return MALFORMED;
    this.#add(node, kind, at, to, isItem);
    return to;
  }

  #array(open: number, node: FieldNode): number {
    const text = this.#text;
    for (const { field, rank } of node.fields) this.#found[field]?.beginArray(rank, open);
    let at = open + 1;
    if (text.charCodeAt(at) === CLOSE_BRACKET) at++;
    else {
      for (let index = 0; ; index++) {
        this.#values++;
        const item = node.items.get(index);
        if (item && this.#value(at, item, false) < 0) return MALFORMED;
        at = this.#value(at, node, true);
        if (at < 0) return MALFORMED;
        const byte = text.charCodeAt(at++);
        if (byte === CLOSE_BRACKET) break;
        if (byte !== COMMA) return MALFORMED;
      }
    }
    for (const { field, rank } of node.fields) this.#found[field]?.endArray(rank, open, at);
    return at;
  }

  #add(node: FieldNode, kind: number, from: number, to: number, isItem: boolean): void {
    for (const { field, rank } of node.fields) {
      if (isItem) this.#found[field]?.addItem(rank, kind, from, to);
      else this.#found[field]?.add(rank, kind, from, to);
    }
  }

  /** Returns the type of a scalar; 0 for any other value. */
  #kindAt(byte: number, from: number, to: number): number {
    const text = this.#text;
    switch (byte) {
      case QUOTE:
        return TYPE_BITS.string;
      case LETTER_T:
        return to - from === 4 && text.startsWith("true", from) ? TYPE_BITS.boolean : 0;
      case LETTER_F:
        return to - from === 5 && text.startsWith("false", from) ? TYPE_BITS.boolean : 0;
      case LETTER_N:
        return to - from === 4 && text.startsWith("null", from) ? TYPE_BITS.null : 0;
      default:
        NUMBER.lastIndex = from;
        return NUMBER.test(text) && NUMBER.lastIndex === to ? TYPE_BITS.number : 0;
    }
  }

  /** @returns the index after a value */
  #skip(from: number): number {
    const text = this.#text;
    const end = this.#end;
    const first = text.charCodeAt(from);
    if (first === QUOTE) return stringEnd(text, from + 1, end) + 1 || MALFORMED;
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return this.#scalarEnd(from);
    let depth = 0;
    for (let at = from; at < end; at++) {
      const byte = text.charCodeAt(at);
      if (byte === QUOTE) {
        at = stringEnd(text, at + 1, end);
        if (at < 0) return MALFORMED;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (--depth === 0) return at + 1;
      }
    }
    return MALFORMED;
  }

  /** @returns the index of the comma or bracket after a number or word */
  #scalarEnd(from: number): number {
    const text = this.#text;
    for (let at = from; at < this.#end; at++) {
      const byte = text.charCodeAt(at);
      if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return at;
    }
    return MALFORMED;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;

function* fieldsOf(node: FieldNode): Generator<number> {
  for (const { field } of node.fields) yield field;
  for (const child of node.children()) yield* fieldsOf(child);
}

/**
 * @param from index after the opening quote
 * @returns the index of the closing quote; -1 if it is not before `end`
 */
export function stringEnd(text: string, from: number, end: number): number {
  for (let at = text.indexOf('"', from); at >= 0 && at < end; at = text.indexOf('"', at + 1)) {
    let escapes = at;
    while (escapes > from && text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    // An even number of backslashes escape each other, not the quote.
    if ((at - escapes) % 2 === 0) return at;
  }
  return -1;
}
