import { isOwnMember } from "../query/data-path.ts";
import { pathKey } from "./columns.ts";
import { ValueScanner } from "./value-scanner.ts";

/**
 * Templates: the text of `data` with a mark in place of each value. `#` marks a value in a column, `*` one in
 * `rest`: `{"userId":#,"tags":*,"user":{"plan":#}}`. `?` marks an optional member: the line has it exactly if a column of its
 * path has a value. Outside of a name's quotes JSON has none of these characters.
 *
 * The template of a line with own members (`service`, `host`) begins with `@` and has them beside `data`:
 * `@{"service":#,"data":{"userId":#}}`. They count as members of `data` with their names, in columns and in `rest`. A line
 * that has such a member in both places has no template.
 *
 * `rest` of a line is `data` reduced to the members with `*`: `{"tags":["a"]}`. Both follow from the template, so a line
 * is put together without searching.
 */

const QUOTE = 0x22;
export const IN_COLUMN = 0x23;
export const IN_REST = 0x2a;
export const OPTIONAL = 0x3f;
/** Begins the template of a line with own members. */
const OWN = 0x40;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** In the column `shape`: the whole line is in `rest`, as text or, if it is not UTF-8, in base64. */
export const WHOLE_LINE = "line";
export const WHOLE_BYTES = "base64";

/** Nesting of objects in a template. */
const MAX_DEPTH = 40;

/** A place in a template. */
export interface Slot {
  /** Names from `data` inwards. Empty if the mark is the whole of `data`. */
  path: readonly string[];
  /** Equal for equal paths only; see `pathKey`. */
  key: string;
  inRest: boolean;
  isOptional: boolean;
  /** Index of the mark in the template. */
  at: number;
}

export interface Template {
  bytes: Uint8Array;
  slots: readonly Slot[];
  /** How many of the slots, the first ones, are own members. */
  own: number;
  /** Paths of the objects that it describes, `data` itself first. */
  objects: readonly (readonly string[])[];
  /** Texts of `rest` before, between and after the values with `*`. Empty without such values. */
  restPieces: readonly Uint8Array[];
}

/** Returns the template, or `null` if `compile` cannot put lines together by it, as with a name that occurs twice. */
export function parseTemplate(bytes: Uint8Array): Template | null {
  const parser = new Parser(bytes);
  const end = bytes[0] === OWN ? parser.line(1) : parser.value(0, [], 0);
  const { slots, own, objects } = parser;
  if (end !== bytes.length || isAmbiguous(slots.slice(0, own), slots.slice(own))) return null;
  return { bytes, slots, own, objects, restPieces: parser.restPieces() };
}

/**
 * Whether a value in `data` is at the path of an own member, or may have a value there, or would be in `rest` under the same
 * name.
 */
export function isAmbiguous(own: readonly Slot[], data: readonly Slot[]): boolean {
  if (own.length === 0) return false;
  const areBothInRest = (a: Slot, b: Slot) => a.inRest && b.inRest && a.path[0] === b.path[0];
  return data.some(
    (slot) => slot.path.length === 0 || own.some((member) => member.key === slot.key || areBothInRest(member, slot)),
  );
}

/** Whether a template begins with own members. */
export function hasOwn(template: Uint8Array): boolean {
  return template[0] === OWN;
}

/**
 * Returns the template of a line.
 * @param own marks of its own members by name, in the order of the line
 * @param data template of its `data`; `null` without
 */
export function lineTemplate(
  own: readonly (readonly [name: string, mark: number])[],
  data: Uint8Array | null,
): Uint8Array {
  if (own.length === 0) return data ?? new Uint8Array();
  const parts: Uint8Array[] = [];
  for (const [name, mark] of own) {
    parts.push(Uint8Array.of(...(parts.length === 0 ? [OWN, OPEN_BRACE] : [COMMA])));
    parts.push(encoder.encode(`"${name}":${String.fromCharCode(mark)}`));
  }
  if (data !== null) parts.push(encoder.encode(',"data":'), data);
  parts.push(CLOSE);
  return new Uint8Array(Buffer.concat(parts));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const scanner = new ValueScanner();

class Parser {
  readonly slots: Slot[] = [];
  own = 0;
  readonly objects: (readonly string[])[] = [];
  readonly #bytes: Uint8Array;
  /** Open objects of `rest` at each of its values, and the names before the value. */
  readonly #rest: { path: readonly string[]; names: readonly Uint8Array[] }[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Reads own members and `data`. @returns index after the line, or -1 */
  line(at: number): number {
    const bytes = this.#bytes;
    if (bytes[at] !== OPEN_BRACE) return -1;
    for (let i = at; ; ) {
      const start = i + 1;
      i = bytes[start] === QUOTE ? scanner.text(bytes, start + 1) : -1;
      if (i < 0 || bytes[i] !== COLON) return -1;
      const name = String(JSON.parse(decoder.decode(bytes.subarray(start, i))));
      if (name === "data" && this.own > 0) {
        i = this.value(i + 1, [], 0);
        return i >= 0 && bytes[i] === CLOSE_BRACE ? i + 1 : -1;
      }
      const mark = bytes[++i];
      const isNew = isOwnMember(name) && this.slots.every(({ path: [other] }) => other !== name);
      if (!isNew || (mark !== IN_COLUMN && mark !== IN_REST)) return -1;
      const path = [name];
      this.slots.push({ path, key: pathKey(path), inRest: mark === IN_REST, isOptional: false, at: i });
      if (mark === IN_REST) this.#rest.push({ path, names: [bytes.subarray(start, i - 1)] });
      this.own++;
      if (bytes[++i] === CLOSE_BRACE) return i + 1;
      if (bytes[i] !== COMMA) return -1;
    }
  }

  /** @returns index after the value, or -1 */
  value(at: number, path: readonly string[], depth: number, names: readonly Uint8Array[] = []): number {
    const bytes = this.#bytes;
    const byte = bytes[at];
    // Only members are optional, not `data` itself.
    if (byte === IN_COLUMN || byte === IN_REST || (byte === OPTIONAL && depth > 0)) {
      this.slots.push({ path, key: pathKey(path), inRest: byte === IN_REST, isOptional: byte === OPTIONAL, at });
      if (byte === IN_REST) this.#rest.push({ path, names });
      return at + 1;
    }
    if (byte !== OPEN_BRACE || depth >= MAX_DEPTH) return -1;
    this.objects.push(path);
    if (bytes[at + 1] === CLOSE_BRACE) return at + 2;
    const seen = new Set<string>();
    for (let i = at; ; ) {
      if (bytes[i + 1] !== QUOTE) return -1;
      const start = i + 1;
      i = scanner.text(bytes, start + 1);
      if (i < 0 || bytes[i] !== COLON) return -1;
      const name = String(JSON.parse(decoder.decode(bytes.subarray(start, i))));
      if (seen.has(name)) return -1;
      seen.add(name);
      i = this.value(i + 1, [...path, name], depth + 1, [...names, bytes.subarray(start, i)]);
      if (i < 0) return -1;
      if (bytes[i] === CLOSE_BRACE) return i + 1;
      if (bytes[i] !== COMMA) return -1;
    }
  }

  restPieces(): Uint8Array[] {
    if (this.#rest.length === 0) return [];
    const pieces: Uint8Array[] = [];
    let open: readonly Uint8Array[] = [];
    for (const [index, { names }] of this.#rest.entries()) {
      const text: Uint8Array[] = [];
      // Names are views of the template: equal views are the same member.
      let shared = 0;
      const most = Math.min(open.length, names.length) - 1;
      while (shared < most && open[shared]?.byteOffset === names[shared]?.byteOffset) shared++;
      for (let level = open.length - 1; level > shared; level--) text.push(CLOSE);
      if (index > 0 && names.length > 0) text.push(SEPARATE);
      for (let level = index === 0 ? 0 : shared; level < names.length; level++) {
        if (index === 0 || level > shared) text.push(OPEN);
        text.push(names[level] ?? OPEN, ASSIGN);
      }
      pieces.push(Buffer.concat(text));
      open = names;
    }
    pieces.push(Buffer.concat(open.map(() => CLOSE)));
    return pieces;
  }
}

const OPEN = Uint8Array.of(OPEN_BRACE);
const CLOSE = Uint8Array.of(CLOSE_BRACE);
const SEPARATE = Uint8Array.of(COMMA);
const ASSIGN = Uint8Array.of(COLON);

/**
 * Finds the values in the text of `rest`.
 * @param ends receives the index after each value
 * @returns whether the text is what the template says
 */
export function findRestValues(rest: Uint8Array, { restPieces }: Template, ends: Int32Array): boolean {
  let at = 0;
  for (let index = 0; index < restPieces.length - 1; index++) {
    at = scanner.end(rest, at + (restPieces[index]?.length ?? 0));
    if (at < 0) return false;
    ends[index] = at;
  }
  return at + (restPieces.at(-1)?.length ?? 0) === rest.length;
}

/**
 * Where the value of a path is, in lines of one template. `column`: in a column of the path, or null if none has it.
 * `optional`: in a column of the path, or absent if none has it. `rest`: in `rest`, if the line has it. `object`: the value is an object. `absent`: the line does not have it.
 */
export type ValuePlace = "column" | "optional" | "rest" | "object" | "absent";

/** @param path names from `data` inwards, without indices of arrays */
export function placeOf({ slots, objects }: Template, path: readonly string[]): ValuePlace {
  for (const { path: own, inRest, isOptional } of slots) {
    // A mark at the beginning of the path may be an array or an object that the template does not describe.
    if (inRest && isPrefix(own, path)) return "rest";
    if (!inRest && own.length === path.length && isPrefix(own, path)) return isOptional ? "optional" : "column";
  }
  return objects.some((own) => own.length === path.length && isPrefix(own, path)) ? "object" : "absent";
}

function isPrefix(shorter: readonly string[], path: readonly string[]): boolean {
  return shorter.length <= path.length && shorter.every((name, index) => name === path[index]);
}

/** A part of an object's text: a member with a value, or the first or last bytes of a nested object. */
export type Token =
  /** `name` with its quotes and the colon. */
  { kind: "member" | "open"; name: Uint8Array } | { kind: "close" };

/**
 * Returns the parts of a valid template between its outer braces, without commas. `null` if it describes no members. Own
 * members are members, and `data` beside them is a member or a nested object.
 */
export function tokensOf(template: Uint8Array): Token[] | null {
  const from = hasOwn(template) ? 1 : 0;
  if (template[from] !== OPEN_BRACE) return null;
  const tokens: Token[] = [];
  for (let i = from + 1; i < template.length - 1; ) {
    const byte = template[i];
    if (byte === COMMA) i++;
    else if (byte === CLOSE_BRACE) {
      tokens.push({ kind: "close" });
      i++;
    } else {
      const end = scanner.text(template, i + 1) + 1;
      const isObject = template[end] === OPEN_BRACE;
      tokens.push({ kind: isObject ? "open" : "member", name: template.subarray(i, end) });
      i = end + 1;
    }
  }
  return tokens;
}

/**
 * Returns a template.
 * @param markOf mark of each member by its index; `null` leaves the member out
 */
export function templateOf(tokens: readonly Token[], markOf: (member: number) => number | null): Uint8Array {
  const texts: Uint8Array[] = [OPEN];
  let member = 0;
  let isFirst = true;
  for (const token of tokens) {
    if (token.kind === "close") {
      texts.push(CLOSE);
      isFirst = false;
      continue;
    }
    const mark = token.kind === "open" ? OPEN_BRACE : markOf(member++);
    if (mark === null) continue;
    if (!isFirst) texts.push(SEPARATE);
    texts.push(token.name, Uint8Array.of(mark));
    isFirst = token.kind === "open";
  }
  texts.push(CLOSE);
  return new Uint8Array(Buffer.concat(texts));
}
