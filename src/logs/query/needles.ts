import { bytePattern, tellingPart, toByteString } from "./case-folding.ts";
import { isArrayIndex } from "./data-path.ts";
import { type DataCondition, isOrdered, type LogFilter, type Scalar } from "./filter.ts";

/**
 * Something that every line must contain to pass a filter. A line that does may still fail it, never the other way
 * round: this is what spares most lines the parse.
 *
 * Lines are written by `JSON.stringify`, so a member and its value have one spelling: `"name":value`.
 */
export interface Needle {
  /** Bytes that stand wherever the needle does; null where there are none. A body without them needs no further look. */
  readonly bytes: Buffer | null;
  /** A place in the line of the next occurrence at or behind `from`; -1 when there is none. */
  next(bytes: string, from: number): number;
}

export function needlesOf(filter: LogFilter): Needle[] {
  const needles: Needle[] = [];
  if (filter.session !== null) needles.push(textNeedle(memberText("session", filter.session)));
  if (filter.traceId !== null) needles.push(textNeedle(memberText("traceId", filter.traceId)));
  for (const condition of filter.data) {
    const needle = dataNeedle(condition);
    if (needle !== null) needles.push(needle);
  }
  if (filter.search !== null) needles.push(patternNeedle(bytePattern(tellingPart(filter.search))));
  return needles;
}

function dataNeedle(condition: DataCondition): Needle | null {
  if (condition.op === "ne" || (condition.op === "exists" && !condition.value)) return null;
  const name = condition.path.at(-1);
  // A number may be an array's index, which is not written: only the last name before it surely is.
  if (name === undefined || isArrayIndex(name)) {
    const parent = condition.path.findLast((part) => !isArrayIndex(part));
    return parent === undefined ? null : textNeedle(nameText(parent));
  }
  switch (condition.op) {
    case "exists":
      return textNeedle(nameText(name));
    case "eq":
      return textNeedle(memberText(name, condition.value));
    case "in":
      return oneOfNeedle(name, condition.value);
    default:
      return typeof condition.value === "number"
        ? numberNeedle(name, condition.op, condition.value)
        : textNeedle(`${nameText(name)}"`);
  }
}

function nameText(name: string): string {
  return `${JSON.stringify(name)}:`;
}

function memberText(name: string, value: Scalar): string {
  return `${nameText(name)}${JSON.stringify(value)}`;
}

function textNeedle(text: string): Needle {
  const wanted = toByteString(text);
  return { bytes: Buffer.from(wanted, "latin1"), next: (bytes, from) => bytes.indexOf(wanted, from) };
}

function patternNeedle(pattern: RegExp): Needle {
  return {
    bytes: null,
    next(bytes, from) {
      pattern.lastIndex = from;
      // The last byte of the match: like every other, it is in the line that the match is in.
      return pattern.test(bytes) ? pattern.lastIndex - 1 : -1;
    },
  };
}

function oneOfNeedle(name: string, values: readonly Scalar[]): Needle {
  const [only] = values;
  if (only !== undefined && values.length === 1) return textNeedle(memberText(name, only));
  const wanted = values.map((value) => toByteString(JSON.stringify(value)));
  return memberNeedle(name, (bytes, at) => wanted.some((text) => bytes.startsWith(text, at)));
}

const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]\d+)?/y;

function numberNeedle(name: string, op: "gt" | "gte" | "lt" | "lte", bound: number): Needle {
  return memberNeedle(name, (bytes, at) => {
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(bytes);
    return number !== null && isOrdered(op, Number(number[0]), bound);
  });
}

/** Members of a name whose value, which begins at `at`, passes a test. */
function memberNeedle(name: string, passes: (bytes: string, at: number) => boolean): Needle {
  const wanted = toByteString(nameText(name));
  return {
    bytes: Buffer.from(wanted, "latin1"),
    next(bytes, from) {
      for (let at = bytes.indexOf(wanted, from); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
        if (passes(bytes, at + wanted.length)) return at;
      }
      return -1;
    },
  };
}

/** Whether bytes occur in others that come in pieces. Those are not put together for it, which takes half as long again. */
export function isInPieces(bytes: Buffer, pieces: readonly Uint8Array[]): boolean {
  const rest = bytes.length - 1;
  let before: Buffer = Buffer.alloc(0);
  for (const { buffer, byteOffset, byteLength } of pieces) {
    const piece = Buffer.from(buffer, byteOffset, byteLength);
    const seam = Buffer.concat([before, piece.subarray(0, rest)]);
    if (piece.includes(bytes) || seam.includes(bytes)) return true;
    // What may begin here and end in the pieces to come; more than one where they are shorter than what is looked for.
    before = byteLength < rest ? seam.subarray(Math.max(0, seam.length - rest)) : piece.subarray(byteLength - rest);
  }
  return false;
}
