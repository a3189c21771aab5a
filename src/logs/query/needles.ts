import { bytePattern, toByteString } from "./case-folding.ts";
import { isArrayIndex } from "./data-path.ts";
import type { DataCondition, LogFilter, Scalar } from "./filter.ts";

/**
 * Something that every line must contain to pass a filter. A line that does may still fail it, never the other way
 * round: this is what spares most lines the parse.
 */
export interface Needle {
  /** A place in the line of the next occurrence at or behind `from`; -1 when there is none. */
  next(bytes: string, from: number): number;
}

export function needlesOf(filter: LogFilter): Needle[] {
  const texts = new Set<string>();
  if (filter.session !== null) texts.add(`"session":${JSON.stringify(filter.session)}`);
  if (filter.traceId !== null) texts.add(`"traceId":${JSON.stringify(filter.traceId)}`);
  for (const condition of filter.data) {
    const text = textOf(condition);
    if (text !== null) texts.add(text);
  }
  const needles = [...texts].map(textNeedle);
  const pattern = filter.search === null ? null : bytePattern(filter.search);
  return pattern === null ? needles : [...needles, patternNeedle(pattern)];
}

function textNeedle(text: string): Needle {
  const wanted = toByteString(text);
  return { next: (bytes, from) => bytes.indexOf(wanted, from) };
}

function patternNeedle(pattern: RegExp): Needle {
  return {
    next(bytes, from) {
      pattern.lastIndex = from;
      // The last byte of the match: like every other, it is in the line that the match is in.
      return pattern.test(bytes) ? pattern.lastIndex - 1 : -1;
    },
  };
}

/** Lines are written by `JSON.stringify`, so a member and its value have one spelling: `"name":value`. */
function textOf(condition: DataCondition): string | null {
  switch (condition.op) {
    case "eq":
      return valueText(condition.path, condition.value);
    case "in":
      return condition.value.length === 1 && condition.value[0] !== undefined
        ? valueText(condition.path, condition.value[0])
        : nameText(condition.path);
    case "ne":
      return null;
    case "exists":
      return condition.value ? nameText(condition.path) : null;
    default:
      return nameText(condition.path);
  }
}

function valueText(path: readonly string[], value: Scalar): string | null {
  const name = path.at(-1);
  if (name !== undefined && !isArrayIndex(name)) return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return typeof value === "string" ? JSON.stringify(value) : nameText(path);
}

/** The last name that must be a member's: a number may be an array's index, which is not written. */
function nameText(path: readonly string[]): string | null {
  const name = path.findLast((part) => !isArrayIndex(part));
  return name === undefined ? null : `${JSON.stringify(name)}:`;
}
