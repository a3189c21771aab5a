import { LEVELS, OWN_MEMBERS } from "../../entry.ts";
import { pathKey, TEXT_MEMBERS } from "../columns.ts";
import { isAmbiguous, parseTemplate, type Slot, type Token, templateOf } from "../template.ts";
import { isAt } from "../value-scanner.ts";

const encoder = new TextEncoder();
/** Bytes before the value of each of `TEXT_MEMBERS` and of `OWN_MEMBERS`, and before `data`. */
export const HEADS = TEXT_MEMBERS.map((name) => encoder.encode(`,"${name}":`));
export const OWN_HEADS = OWN_MEMBERS.map((name) => encoder.encode(`,"${name}":`));
/** Those of all members before `data`. */
export const ALL_HEADS = [...HEADS, ...OWN_HEADS];
/** Slots of own members, which no template has a place for before the columns are chosen. */
const OWN_SLOTS = OWN_MEMBERS.map((name): Slot => {
  return { path: [name], key: pathKey([name]), inRest: false, isOptional: false, at: -1 };
});
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
  /** Indices in `OWN_MEMBERS` of the own members that every line has. */
  readonly own: readonly number[];
  /** Slots of own members, then of values in `data`; they follow those of the members. */
  readonly data: readonly Slot[];
  readonly firstData: number;
  /** Number of slots, the first ones, that only have strings. */
  readonly texts: number;
  /** The template of `data` with a `#` for every value; `null` if the lines have no `data`. */
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

  /** @param data slots of values in `data` alone */
  constructor(
    pieces: readonly Uint8Array[],
    members: readonly number[],
    own: readonly number[],
    data: readonly Slot[],
    template: Uint8Array | null,
    isDeep: boolean,
    union: readonly Token[] | null = null,
  ) {
    this.isDeep = isDeep;
    this.union = union;
    this.pieces = pieces;
    this.members = members;
    this.own = own;
    this.data = [...ownSlots(own), ...data];
    this.firstData = pieces.length - 1 - this.data.length;
    this.texts = this.firstData + own.length;
    this.template = template;
    this.counts = new Int32Array(this.data.length * VALUE_CLASSES);
  }

  get slots(): number {
    return this.pieces.length - 1;
  }
}

function ownSlots(own: readonly number[]): Slot[] {
  return own.flatMap((member) => OWN_SLOTS[member] ?? []);
}

/**
 * Returns the shape of lines that have any of these members of `data`; `null` if a member occurs twice.
 * @param own indices of the own members that all of them have
 */
export function unionShape(union: readonly Token[], own: readonly number[]): LineShape | null {
  const template = templateOf(union, () => MARK[0] ?? 0);
  const parsed = parseTemplate(template);
  if (parsed === null || isAmbiguous(ownSlots(own), parsed.slots)) return null;
  const { slots } = parsed;
  const text = Buffer.concat([DATA_HEAD, template, END]);
  const pieces = [...HEADS, ...own.flatMap((member) => OWN_HEADS[member] ?? [])];
  let from = 0;
  for (const { at } of slots) {
    pieces.push(new Uint8Array(text.subarray(from, DATA_HEAD.length + at)));
    from = DATA_HEAD.length + at + 1;
  }
  pieces.push(new Uint8Array(text.subarray(from)));
  return new LineShape(pieces, [...HEADS.keys()], own, slots, template, true, union);
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
  const own: number[] = [];
  for (const [member, head] of OWN_HEADS.entries()) {
    if (!isAt(bytes, at, head)) continue;
    own.push(member);
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
  if (isAmbiguous(ownSlots(own), parsed.slots)) return null;
  return new LineShape(pieces, members, own, parsed.slots, template, isDeep);
}
