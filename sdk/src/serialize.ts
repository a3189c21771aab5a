import {
  CLOSE,
  COMMA,
  MAX_BYTES,
  MAX_DEPTH,
  MAX_NAME,
  MAX_NAMES,
  MAX_NESTED,
  MAX_VALUES,
  MIN_KEY,
  OPEN,
  QUOTE,
  SCRATCH_BYTES,
} from "./limits.ts";
import { REDACTED, type Redactor, type Secrecy } from "./redact.ts";
import { replacement } from "./replacement.ts";
import { attempt, decodeText, encodeText, isError, memberOf, THROWS } from "./safe.ts";

const CUT = "[Truncated]";
/** What holds a secret without any character that calls for a look. */
const SCHEME = /b(?:earer|asic) /i;

// One scratch for all loggers: an entry is complete and copied out before the call returns. Made here and hardly ever
// replaced, so that the engine treats it as a constant.
let buf: Uint8Array = /* @__PURE__ */ scratch();
let pos = 0;
let limit = 0;
/** Values that the entry may still have. */
let left = 0;
let nestings = 0;
/** The objects around the one that is written; of a getter that logs, those around the outer call too. */
const above: (object | undefined)[] = [];
let height = 0;

interface Name {
  key: string;
  /** `,"name":` */
  json: Uint8Array;
  secrecy: Secrecy;
  /** The one that came after it last: entries of one place in a program have the same names in the same order. */
  next?: Name;
}

/** What is the same for all entries of one level, category and child. All of it is JSON, encoded. */
export interface Frame {
  /** All up to the message. */
  head: Uint8Array;
  /** What its timestamp says. */
  time: string;
  /** Session and trace, each behind a comma; the service stores them behind the message, and takes it so as it is. */
  ids: Uint8Array;
  /** A brace and the members of `data` that every entry has; empty if there are none. */
  meta: Uint8Array;
}

/** How every entry starts; the timestamp follows. */
const START = '{"timestamp":"';

/** Encoded JSON ends with a line feed, and is lent for the time of the call. */
export interface Encoder {
  /** Never throws for what `message` and `data` hold. */
  entry(frame: Frame, time: string, message: unknown, data: object | undefined): Uint8Array;
  /** JSON of any object with secrets masked. */
  json(value: object): string;
}

/** @param ownKey masked wherever it stands */
export function createEncoder([secrecy, suspects, redactedText]: Redactor, ownKey: string): Encoder {
  const key = ownKey.length < MIN_KEY ? "" : ownKey;
  const names = new Map<string, Name>();
  /** The member whose value is written. */
  let place = "";
  let last = nameOf("");

  function nameOf(key: string): Name {
    const known = names.get(key);
    if (known) return known;
    const shown = key.length > MAX_NAME ? key.slice(0, MAX_NAME) + CUT : key;
    const made = { key, json: encodeText(`,${quoted(masked(shown))}:`), secrecy: secrecy(key) };
    if (names.size >= MAX_NAMES) names.clear();
    if (shown === key) names.set(key, made);
    return made;
  }

  function text(s: string): void {
    const n = s.length;
    const from = pos + 1;
    // Bits: 1 for what needs no closer look, 2 for a space, 4 for a b.
    let seen = from + n < limit ? 1 : 0;
    // Digits without a letter between them.
    let run = 0;
    for (let i = 0; seen > 0 && i < n; i++) {
      const c = s.charCodeAt(i);
      buf[from + i] = c;
      // Escapes, wide characters, the `=` and `:` of a pair, and as many digits as a card has. Comparing is faster than a table.
      if (c > 62) {
        run = 0;
        if (c === 92 || c > 126) seen = 0;
        else if ((c | 32) === 98) seen |= 4;
      } else if (c > 47) {
        if (c === 58 || c === 61 || ++run > 12) seen = 0;
      } else if (c === 32) seen |= 2;
      else if (c < 32 || c === QUOTE) seen = 0;
    }
    if (seen === 0 || (seen > 6 && SCHEME.test(s)) || (n >= key.length && key && s.includes(key))) looked(s);
    else {
      buf[pos] = buf[from + n] = QUOTE;
      pos = from + n + 1;
    }
  }

  /** A string that needs escapes, may hold secrets, or is too long. */
  function looked(s: string): void {
    const room = Math.max(limit - pos, 0);
    // A key that the cut would leave the first part of is masked whole.
    let shown = s.slice(0, room + key.length);
    let isCut = shown !== s;
    if (suspects(shown) || (key && shown.includes(key))) shown = redacted(shown);
    for (;;) {
      const json = encodeText(quoted(isCut ? shown + CUT : shown));
      if (json.length <= room || !shown) {
        raw(json);
        return;
      }
      // Escapes and wide characters take up to six bytes each, and not all parts have as many.
      shown = shown.slice(0, shown.length * Math.min(room / json.length, 0.9));
      isCut = true;
    }
  }

  function masked(s: string): string {
    return redactedText(key ? s.replaceAll(key, REDACTED) : s, place);
  }

  /** JSON in a string is masked as the structure it is, anything else as running text. */
  function redacted(s: string): string {
    if (/^\s*[{[]/.test(s)) {
      const json = apart(() => value(JSON.parse(s), 1));
      if (json.includes(REDACTED)) return json;
    }
    return masked(s);
  }

  /** What `write` writes, taken back; nothing if it throws or there is too little room. */
  function apart(write: () => void): string {
    const start = pos;
    let json = "";
    height++;
    try {
      write();
      if (pos < limit) json = decodeText(buf.subarray(start, pos));
    } catch {}
    height--;
    pos = start;
    return json;
  }

  /** Writes a value; nothing where JSON has none (`undefined`). */
  function value(v: unknown, depth: number): void {
    // Past the last one, all that follows is cut as past the last byte.
    if (left-- < 0) limit = 0;
    switch (typeof v) {
      case "string":
        text(v);
        break;
      case "number":
        number(v);
        break;
      case "object":
        if (v) object(v, depth);
        else ascii("null");
        break;
      case "boolean":
        ascii(`${v}`);
        break;
      case "function":
        text(attempt(() => `[Function ${v.name}]`));
        break;
      case "undefined":
        break;
      default:
        // A big integer or a symbol.
        text(String(v));
    }
  }

  function object(o: object, depth: number): void {
    let mark = depth > MAX_DEPTH ? "[Depth]" : pos > limit ? CUT : "";
    for (let i = 0; i < height; i++) if (above[i] === o) mark = "[Circular]";
    const start = pos;
    above[height++] = o;
    try {
      if (!mark) {
        const prototype = Object.getPrototypeOf(o);
        if (prototype === Object.prototype || prototype === null) plain(o, depth);
        else if (Array.isArray(o)) list(o, depth);
        else value(replacement(o), depth);
      }
    } catch {
      pos = start;
      mark = THROWS;
    }
    // The caller's objects are not kept.
    above[--height] = undefined;
    if (mark) ascii(`"${mark}"`);
  }

  function plain(o: object, depth: number): void {
    const start = pos;
    for (const key in o) {
      let v: unknown = THROWS;
      try {
        // Here rather than in a function of its own: reading what `in` names is fast where it stands in the loop.
        // SAFETY: reading any member of any object is sound; its value is unknown.
        v = (o as Record<string, unknown>)[key];
      } catch {}
      if (key === "toJSON" && typeof v === "function") {
        pos = start;
        value(replacement(o), depth);
        return;
      }
      let name = last.next;
      if (name?.key !== key) name = last.next = nameOf(key);
      last = name;
      const before = pos;
      raw(name.json);
      const from = pos;
      place = key;
      if (isSecret(v, name.secrecy)) ascii(`"${REDACTED}"`);
      else value(v, depth + 1);
      // JSON has no such value.
      if (pos === from) pos = before;
      if (pos > limit) {
        ascii(`,"${CUT}":true`);
        break;
      }
    }
    close(start, OPEN);
  }

  function list(items: readonly unknown[], depth: number): void {
    const start = pos;
    let kind: Secrecy = 0;
    for (let i = 0; i < items.length; i++) {
      buf[pos++] = COMMA;
      const from = pos;
      const item = memberOf(items, i);
      const shown = isSecret(item, kind) ? REDACTED : item;
      // Header names and values by turns, as `rawHeaders` and the pairs of `Object.entries` have them.
      kind = (i | items.length) % 2 === 0 && typeof item === "string" && suspects(item) ? secrecy(item) : 0;
      value(pos > limit ? CUT : shown, depth + 1);
      if (pos === from) ascii("null");
      if (from > limit) break;
    }
    close(start, 91);
  }

  /** The members of an object in braces. What has none, a list for one, gets a name. */
  function fields(data: object): void {
    const start = pos;
    object(data, 1);
    if (buf[start] !== OPEN) {
      pos = start;
      object({ value: data }, 1);
    }
  }

  /** Text of a message, or JSON of one that has none. Half of the room is for it: a long one must not cost the data. */
  function said(message: unknown): string {
    const shown = isError(message) ? attempt(() => message.message) : message;
    place = "";
    pos = 0;
    limit = MAX_BYTES / 2;
    left = MAX_VALUES;
    return (typeof shown === "string" ? shown : apart(() => value(shown, 1)) || `${shown && CUT}`) || "(no message)";
  }

  function entry(frame: Frame, time: string, message: unknown, data: object | undefined): Uint8Array {
    const { head, ids, meta } = frame;
    if (frame.time !== time) {
      frame.time = time;
      head.set(encodeText(time), START.length);
    }
    // Before anything is written: a getter or a proxy that is asked may log.
    const members = isError(data) ? { error: data } : data;
    const shown = said(message);
    buf.set(head);
    pos = head.length;
    place = "";
    text(shown);
    buf.set(ids, pos);
    pos += ids.length;
    limit = MAX_BYTES;
    left = MAX_VALUES;
    if (data || meta.length > 0) {
      ascii(',"data":');
      raw(meta);
      const from = pos;
      if (members) fields(members);
      const isEmpty = pos < from + 3;
      // The brace of the call's own fields becomes what joins them to the others.
      if (meta.length > 0) {
        buf[from] = isEmpty ? CLOSE : COMMA;
        if (isEmpty) pos = from + 1;
      }
    }
    ascii("}\n");
    return buf.subarray(0, pos);
  }

  function whole(o: object): Uint8Array {
    pos = 0;
    limit = MAX_BYTES;
    left = MAX_VALUES;
    object(o, 1);
    return buf.subarray(0, pos);
  }

  return {
    entry: (frame, time, message, data) =>
      height > 0
        ? nested(() => (nestings > MAX_NESTED ? entry(frame, time, CUT, undefined) : entry(frame, time, message, data)))
        : entry(frame, time, message, data),
    json: (o) => decodeText(nested(() => whole(o))),
  };
}

/** Where a getter logs while another entry is written, that gets a scratch of its own. */
function nested(write: () => Uint8Array): Uint8Array {
  if (height === 0) return write();
  const outer = buf;
  const outerPos = pos;
  const outerLimit = limit;
  const outerLeft = left;
  buf = scratch();
  nestings++;
  try {
    return write();
  } finally {
    nestings--;
    buf = outer;
    pos = outerPos;
    limit = outerLimit;
    left = outerLeft;
  }
}

function scratch(): Uint8Array {
  return new Uint8Array(SCRATCH_BYTES);
}

function isSecret(v: unknown, secrecy: Secrecy): boolean {
  return secrecy > (typeof v === "number" ? 1 : 0) && v != null && typeof v !== "boolean";
}

/** JSON of a string. Lone surrogates would not survive UTF-8. */
function quoted(s: string): string {
  return JSON.stringify(s.toWellFormed());
}

/** A number; as a string where JSON has no such number or a reader would lose digits. */
function number(v: number): void {
  const size = Math.abs(v);
  const thousandths = Math.round(v * 1000);
  if (v >= 0 && v === (v | 0)) digits(v);
  else if (v > 0 && v < 1e6 && thousandths / 1000 === v) {
    // Durations and prices, without a text in between.
    digits(v | 0);
    buf[pos++] = 46;
    let unit = 100;
    for (let rest = thousandths % 1000; rest > 0; rest %= unit, unit /= 10) buf[pos++] = 48 + ((rest / unit) | 0);
  } else ascii(size < 2 ** 53 || (size >= 1e21 && size < 1 / 0) ? `${v}` : `"${v}"`);
}

/** A whole number below 2 ** 31. */
function digits(v: number): void {
  let end = pos;
  for (let rest = v; rest > 0 || end === pos; rest = (rest / 10) | 0) end++;
  pos = end;
  do {
    const next = (v / 10) | 0;
    buf[--end] = 48 + v - next * 10;
    v = next;
  } while (v > 0);
}

/** Brackets around what begins with a comma, or is empty. */
function close(start: number, bracket: number): void {
  if (pos === start) pos++;
  buf[start] = bracket;
  buf[pos++] = bracket + 2;
}

function ascii(s: string): void {
  for (let i = 0; i < s.length; i++) buf[pos + i] = s.charCodeAt(i);
  pos += s.length;
}

function raw(bytes: Uint8Array): void {
  const n = bytes.length;
  // SAFETY: `i` is below the length.
  for (let i = 0; i < n; i++) buf[pos + i] = bytes[i] as number;
  pos += n;
}
