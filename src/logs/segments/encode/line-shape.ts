import { LEVELS } from "../../entry.ts";
import { TEXT_MEMBERS } from "../members.ts";
import { parseTemplate, type Slot, type Token, templateOf } from "../template.ts";
import { isAt } from "../value-scanner.ts";

const encoder = new TextEncoder();
/** Bytes before the value of each of `TEXT_MEMBERS`, and before `data`. */
export const HEADS = TEXT_MEMBERS.map((name) => encoder.encode(`,"${name}":`));
export const DATA_HEAD = encoder.encode(',"data":');
/** Members that every line has. */
export const REQUIRED_MEMBERS = 4;
export const MARK = Uint8Array.of(0x23);
const END = encoder.encode("}");
/** A level's bytes with quotes, by its first letter. No two levels begin with the same letter. */
export const LEVEL_TEXTS = new Map(LEVELS.map((level) => [level.charCodeAt(0), encoder.encode(`"${level}"`)]));

/** Classes of value that a column can hold, as counted by a shape. */
export const VALUE_CLASSES = 4;
/** Class of each kind: 0 text, 1 integer, 2 other number, 3 boolean; -1 if no column holds it. */
const CLASS_OF_KIND = [0, 0, 1, 2, 3, 3, -1, -1];

export function classOf(kind: number): number {
  return CLASS_OF_KIND[kind] ?? -1;
}

/** The shape of lines with the same members, or with some of the same members: all bytes but their values. */
export class LineShape {
  /** Bytes before, between and after the values, from the end of the timestamp on. */
  readonly pieces: readonly Uint8Array[];
  /** Slot of each of `TEXT_MEMBERS`; -1 if the lines do not have it. */
  readonly members: readonly number[];
  /** Slots of values in `data`; they follow those of the members. */
  readonly data: readonly Slot[];
  readonly firstData: number;
  /** The template with a `#` for every value; `null` if the lines have no `data`. */
  readonly template: Uint8Array | null;
  /** Number of values by slot in `data` and class. */
  readonly counts: Int32Array;
  /** Whether it describes the members of nested objects. Any value may be in place of those that it does not describe. */
  readonly isDeep: boolean;
  /**
   * The members of `data` in order if a line may lack any of them; `null` if every line has all. Then a value that a line
   * lacks is recorded as `KIND.absent`, with the end that places the next value behind its piece.
   */
  readonly union: readonly Token[] | null;
  lines = 0;

  constructor(
    pieces: readonly Uint8Array[],
    members: readonly number[],
    data: readonly Slot[],
    template: Uint8Array | null,
    isDeep: boolean,
    union: readonly Token[] | null = null,
  ) {
    this.isDeep = isDeep;
    this.union = union;
    this.pieces = pieces;
    this.members = members;
    this.data = data;
    this.firstData = pieces.length - 1 - data.length;
    this.template = template;
    this.counts = new Int32Array(data.length * VALUE_CLASSES);
  }

  get slots(): number {
    return this.pieces.length - 1;
  }
}

/** Returns the shape of lines that have any of these members of `data`; `null` if a member occurs twice. */
export function unionShape(union: readonly Token[]): LineShape | null {
  const template = templateOf(union, () => MARK[0] ?? 0);
  const parsed = parseTemplate(template);
  if (parsed === null) return null;
  const { slots } = parsed;
  const text = Buffer.concat([DATA_HEAD, template, END]);
  const pieces = [...HEADS];
  let from = 0;
  for (const { at } of slots) {
    pieces.push(new Uint8Array(text.subarray(from, DATA_HEAD.length + at)));
    from = DATA_HEAD.length + at + 1;
  }
  pieces.push(new Uint8Array(text.subarray(from)));
  return new LineShape(pieces, [...HEADS.keys()], slots, template, true, union);
}

/** Where a scan has found the values of a line. */
export interface FoundValues {
  starts: Int32Array;
  ends: Int32Array;
  count: number;
}

/** Returns the shape of lines with exactly the members of this one; `null` if no template describes it. */
export function exactShape(
  bytes: Uint8Array,
  from: number,
  to: number,
  { starts, ends, count }: FoundValues,
  isDeep: boolean,
): LineShape | null {
  const pieces: Uint8Array[] = [];
  const members: number[] = TEXT_MEMBERS.map(() => -1);
  let at = from;
  let slot = 0;
  for (const [member, head] of HEADS.entries()) {
    if (!isAt(bytes, at, head)) continue;
    members[member] = slot;
    pieces.push(head);
    at = ends[slot++] ?? to;
  }
  const firstData = slot;
  const texts: Uint8Array[] = [];
  for (; slot <= count; slot++) {
    // A copy, for the body may be reused; `slice` of a Buffer is a view.
    const piece = new Uint8Array(bytes.subarray(at, slot < count ? starts[slot] : to));
    pieces.push(piece);
    texts.push(piece);
    if (slot < count) texts.push(MARK);
    at = ends[slot] ?? to;
  }
  const text = Buffer.concat(texts);
  // The last byte closes the line.
  const hasData = text.length > 1;
  const template = hasData ? new Uint8Array(text.subarray(DATA_HEAD.length, text.length - 1)) : null;
  const parsed = template === null ? { slots: [] } : parseTemplate(template);
  if (parsed === null || parsed.slots.length !== count - firstData) return null;
  return new LineShape(pieces, members, parsed.slots, template, isDeep);
}
