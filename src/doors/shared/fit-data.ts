import { INGEST_LIMITS } from "../../logs/entry.ts";
import { define } from "../../logs/ingest/validate.ts";

/**
 * Makes what a client sent storable: every value that a line cannot have becomes a text, and what is too large is cut.
 * Nothing is dropped but the ends of texts.
 */

/**
 * Makes the values of `data` storable, in place: numbers that JSON does not have and values nested deeper than 32 become
 * texts.
 * @returns the number of values, `data` included
 */
export function fitValues(data: Record<string, unknown>): number {
  return fitMembers(data, 1);
}

function fitMembers(value: object, depth: number): number {
  let values = 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at];
      if (typeof item === "object" && item !== null) {
        if (depth < INGEST_LIMITS.dataDepth) values += fitMembers(item, depth + 1);
        else {
          values++;
          value[at] = textOf(item);
        }
      } else {
        values++;
        if (isUnstorable(item)) value[at] = String(item);
      }
    }
    return values;
  }
  // SAFETY: the value is a plain object of a decoder.
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const item = members[name];
    if (typeof item === "object" && item !== null) {
      if (depth < INGEST_LIMITS.dataDepth) values += fitMembers(item, depth + 1);
      else {
        values++;
        define(members, name, textOf(item));
      }
    } else {
      values++;
      if (isUnstorable(item)) define(members, name, String(item));
    }
  }
  return values;
}

function isUnstorable(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "bigint";
}

/** Returns a value as JSON, however deep it is nested: `JSON.stringify` fails some thousand levels deep. */
export function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, (_, item: unknown) => (isUnstorable(item) ? String(item) : item)) ?? "null";
  } catch {
    return deepTextOf(value);
  }
}

function deepTextOf(value: unknown): string {
  const parts: string[] = [];
  // Values that are still to be written, the next one last, and texts between them.
  const open: ({ value: unknown } | string)[] = [{ value }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    const item = next.value;
    if (typeof item !== "object" || item === null) {
      parts.push(JSON.stringify(isUnstorable(item) ? String(item) : item) ?? "null");
      continue;
    }
    const isList = Array.isArray(item);
    parts.push(isList ? "[" : "{");
    open.push(isList ? "]" : "}");
    const names = Object.keys(item);
    for (let at = names.length - 1; at >= 0; at--) {
      const name = names[at] ?? "";
      open.push({ value: Reflect.get(item, name) });
      const comma = at === 0 ? "" : ",";
      open.push(isList ? comma : `${comma}${JSON.stringify(name)}:`);
    }
  }
  return parts.join("");
}

/** A text of an entry that may be cut. */
interface Text {
  /** Where the text is, as a path with dots. */
  path: string;
  holder: object;
  name: string;
  text: string;
  /** UTF-8 bytes of the text in JSON, without its quotes. */
  bytes: number;
}

/** Texts up to this many bytes are not cut: there are many of them, and each is worth more than a part of a large one. */
const SMALLEST_CUT_BYTES = 64;

/**
 * Cuts the largest texts of a tree, so that its JSON is smaller by `excess` bytes.
 * @param tree of the caller alone: it is changed
 * @returns the original lengths of the cut texts in UTF-16 units, by path; `null` if the texts are not large enough
 */
export function cutTexts(tree: object, excess: number): Record<string, number> | null {
  const texts: Text[] = [];
  collect(tree, "", texts);
  texts.sort((a, b) => b.bytes - a.bytes);
  const bound = boundOf(texts, excess);
  if (bound === null) return null;
  const cut: Record<string, number> = {};
  for (const { path, holder, name, text, bytes } of texts) {
    if (bytes <= bound) break;
    define(cut, path, text.length);
    // SAFETY: `collect` found the text there.
    define(holder as Record<string, unknown>, name, cutTo(text, bound));
  }
  return cut;
}

/** Returns the bytes to which larger texts must be cut; `null` if that would be too few. */
function boundOf(texts: readonly Text[], excess: number): number | null {
  let larger = 0;
  for (let count = 1; count <= texts.length; count++) {
    larger += texts[count - 1]?.bytes ?? 0;
    const bound = Math.floor((larger - excess) / count);
    const next = texts[count]?.bytes ?? 0;
    if (bound >= next || count === texts.length) return bound < SMALLEST_CUT_BYTES ? null : bound;
  }
  return null;
}

function collect(value: object, prefix: string, texts: Text[]): void {
  for (const name of Object.keys(value)) {
    const item: unknown = Reflect.get(value, name);
    const path = prefix === "" ? name : `${prefix}.${name}`;
    if (typeof item === "string") {
      if (item.length * 6 <= SMALLEST_CUT_BYTES) continue;
      texts.push({ path, holder: value, name, text: item, bytes: jsonBytes(item) });
    } else if (typeof item === "object" && item !== null) collect(item, path, texts);
  }
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** Returns a name that data do not have: the given one, or that with underscores. */
export function freeName(data: Record<string, unknown>, name: string): string {
  let free = name;
  while (Object.hasOwn(data, free)) free += "_";
  return free;
}

/** Returns the longest beginning of a text whose JSON has at most `bytes` bytes, without half a character. */
export function cutTo(text: string, bytes: number): string {
  let low = 0;
  let high = Math.min(text.length, bytes);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= bytes) low = middle;
    else high = middle - 1;
  }
  const end = low > 0 && isHighSurrogate(text.charCodeAt(low - 1)) ? low - 1 : low;
  return text.slice(0, end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
