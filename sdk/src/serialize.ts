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
/** Schemes whose credentials have none of the characters for which `writeText` checks. */
const SCHEME = /b(?:earer|asic) /i;

// The buffer of all loggers: an entry is encoded and copied before the call returns. Created here and rarely replaced,
// so that the engine treats it as a constant.
let buf: Uint8Array = /* @__PURE__ */ scratch();
let pos = 0;
let limit = 0;
/** Number of values that the entry may still have. */
let valuesLeft = 0;
let nestings = 0;
/** The ancestors of the object that is written. In a getter that logs, also those of the outer call. */
const ancestors: (object | undefined)[] = [];
let ancestorCount = 0;

interface Name {
  key: string;
  /** `,"name":` */
  json: Uint8Array;
  secrecy: Secrecy;
  /** The name that followed this one last time: one place in a program logs the same names in the same order. */
  next?: Name;
}

/** The encoded JSON that entries of one level, category and child share. */
export interface EntryPrefix {
  /** The members before the message. */
  head: Uint8Array;
  /** The timestamp in `head`. */
  time: string;
  /** Session and trace, each after a comma. They follow the message as in the service's canonical form. */
  ids: Uint8Array;
  /** A brace and the common members of `data`; empty if there are none. */
  meta: Uint8Array;
}

/** The start of every entry, before the timestamp. */
const START = '{"timestamp":"';

/** Encodes entries as JSON with a line feed. The result is only valid until the next call. */
export interface Encoder {
  /** Never throws, whatever `message` and `data` are. */
  entry(prefix: EntryPrefix, time: string, message: unknown, data: object | undefined): Uint8Array;
  /** Returns the JSON of an object with secrets masked. */
  json(value: object): string;
}

/** @param ownKey the logger's API key, which is masked in all texts */
export function createEncoder([secrecy, suspects, redactedText]: Redactor, ownKey: string): Encoder {
  const key = ownKey.length < MIN_KEY ? "" : ownKey;
  const names = new Map<string, Name>();
  /** Name of the member whose value is written. */
  let memberName = "";
  let last = nameOf("");

  function nameOf(key: string): Name {
    const known = names.get(key);
    if (known) return known;
    const shown = key.length > MAX_NAME ? key.slice(0, MAX_NAME) + CUT : key;
    const made = { key, json: encodeText(`,${jsonString(masked(shown))}:`), secrecy: secrecy(key) };
    if (names.size >= MAX_NAMES) names.clear();
    if (shown === key) names.set(key, made);
    return made;
  }

  /**
   * Writes a string. Copies ASCII texts without escapes and suspicious characters, and passes others to `writeChecked`.
   */
  function writeText(s: string): void {
    const n = s.length;
    const from = pos + 1;
    // Bits: 1 if the text can be copied so far, 2 if it has a space, 4 if it has a b.
    let seen = from + n < limit ? 1 : 0;
    // Number of digits without a letter between them.
    let run = 0;
    for (let i = 0; seen > 0 && i < n; i++) {
      const c = s.charCodeAt(i);
      buf[from + i] = c;
      // Excludes escapes, wide characters, the `=` and `:` of pairs, and 13 digits or more (payment cards). Comparisons
      // are faster than a table.
      if (c > 62) {
        run = 0;
        if (c === 92 || c > 126) seen = 0;
        else if ((c | 32) === 98) seen |= 4;
      } else if (c > 47) {
        if (c === 58 || c === 61 || ++run > 12) seen = 0;
      } else if (c === 32) seen |= 2;
      else if (c < 32 || c === QUOTE) seen = 0;
    }
    if (seen === 0 || (seen > 6 && SCHEME.test(s)) || (n >= key.length && key && s.includes(key))) writeChecked(s);
    else {
      buf[pos] = buf[from + n] = QUOTE;
      pos = from + n + 1;
    }
  }

  /** Writes a string that needs escapes, may contain secrets, or is too long. */
  function writeChecked(s: string): void {
    const room = Math.max(limit - pos, 0);
    // Has room for a key across the cut, so that no part of it remains.
    let shown = s.slice(0, room + key.length);
    let isCut = shown !== s;
    if (suspects(shown) || (key && shown.includes(key))) shown = redacted(shown);
    for (;;) {
      const json = encodeText(jsonString(isCut ? shown + CUT : shown));
      if (json.length <= room || !shown) {
        writeBytes(json);
        return;
      }
      // Escapes and wide characters take up to six bytes each, and are not distributed evenly.
      shown = shown.slice(0, shown.length * Math.min(room / json.length, 0.9));
      isCut = true;
    }
  }

  function masked(s: string): string {
    return redactedText(key ? s.replaceAll(key, REDACTED) : s, memberName);
  }

  /** Masks JSON in a string by its structure, and other text by patterns. */
  function redacted(s: string): string {
    if (/^\s*[{[]/.test(s)) {
      const json = textOf(() => writeValue(JSON.parse(s), 1));
      if (json.includes(REDACTED)) return json;
    }
    return masked(s);
  }

  /** Returns the text that `write` writes, and removes it from the buffer. Empty if it throws or does not fit. */
  function textOf(write: () => void): string {
    const start = pos;
    let json = "";
    ancestorCount++;
    try {
      write();
      if (pos < limit) json = decodeText(buf.subarray(start, pos));
    } catch {}
    ancestorCount--;
    pos = start;
    return json;
  }

  /** Writes a value; writes nothing for `undefined`. */
  function writeValue(v: unknown, depth: number): void {
    // After the last value the rest is truncated as after the last byte.
    if (valuesLeft-- < 0) limit = 0;
    switch (typeof v) {
      case "string":
        writeText(v);
        break;
      case "number":
        writeNumber(v);
        break;
      case "object":
        if (v) writeObject(v, depth);
        else writeAscii("null");
        break;
      case "boolean":
        writeAscii(`${v}`);
        break;
      case "function":
        writeText(attempt(() => `[Function ${v.name}]`));
        break;
      case "undefined":
        break;
      default:
        // A bigint or a symbol.
        writeText(String(v));
    }
  }

  function writeObject(o: object, depth: number): void {
    let mark = depth > MAX_DEPTH ? "[Depth]" : pos > limit ? CUT : "";
    for (let i = 0; i < ancestorCount; i++) if (ancestors[i] === o) mark = "[Circular]";
    const start = pos;
    ancestors[ancestorCount++] = o;
    try {
      if (!mark) {
        const prototype = Object.getPrototypeOf(o);
        if (prototype === Object.prototype || prototype === null) writePlainObject(o, depth);
        else if (Array.isArray(o)) writeList(o, depth);
        else writeValue(replacement(o), depth);
      }
    } catch {
      pos = start;
      mark = THROWS;
    }
    // Keeps no reference to the caller's object.
    ancestors[--ancestorCount] = undefined;
    if (mark) writeAscii(`"${mark}"`);
  }

  function writePlainObject(o: object, depth: number): void {
    const start = pos;
    for (const key in o) {
      let v: unknown = THROWS;
      try {
        // Not in a separate function, because engines optimize member reads within a `for in` loop.
        // SAFETY: members of any object can be read by name; their types are unknown.
        v = (o as Record<string, unknown>)[key];
      } catch {}
      if (key === "toJSON" && typeof v === "function") {
        pos = start;
        writeValue(replacement(o), depth);
        return;
      }
      let name = last.next;
      if (name?.key !== key) name = last.next = nameOf(key);
      last = name;
      const before = pos;
      writeBytes(name.json);
      const from = pos;
      memberName = key;
      if (isSecret(v, name.secrecy)) writeAscii(`"${REDACTED}"`);
      else writeValue(v, depth + 1);
      // Removes the name of a value that JSON cannot represent.
      if (pos === from) pos = before;
      if (pos > limit) {
        writeAscii(`,"${CUT}":true`);
        break;
      }
    }
    closeBrackets(start, OPEN);
  }

  function writeList(items: readonly unknown[], depth: number): void {
    const start = pos;
    let kind: Secrecy = 0;
    for (let i = 0; i < items.length; i++) {
      buf[pos++] = COMMA;
      const from = pos;
      const item = memberOf(items, i);
      const shown = isSecret(item, kind) ? REDACTED : item;
      // Header names and values alternate in `rawHeaders` and in the pairs of `Object.entries`.
      kind = (i | items.length) % 2 === 0 && typeof item === "string" && suspects(item) ? secrecy(item) : 0;
      writeValue(pos > limit ? CUT : shown, depth + 1);
      if (pos === from) writeAscii("null");
      if (from > limit) break;
    }
    closeBrackets(start, 91);
  }

  /** Writes `data` as an object. A value without members, like a list, becomes the member `value`. */
  function writeData(data: object): void {
    const start = pos;
    writeObject(data, 1);
    if (buf[start] !== OPEN) {
      pos = start;
      writeObject({ value: data }, 1);
    }
  }

  /**
   * Returns the text of a message, or its JSON. At most half of the entry, so that a long message leaves room for data.
   */
  function messageText(message: unknown): string {
    const shown = isError(message) ? attempt(() => message.message) : message;
    memberName = "";
    pos = 0;
    limit = MAX_BYTES / 2;
    valuesLeft = MAX_VALUES;
    return (
      (typeof shown === "string" ? shown : textOf(() => writeValue(shown, 1)) || `${shown && CUT}`) || "(no message)"
    );
  }

  function entry(prefix: EntryPrefix, time: string, message: unknown, data: object | undefined): Uint8Array {
    const { head, ids, meta } = prefix;
    if (prefix.time !== time) {
      prefix.time = time;
      head.set(encodeText(time), START.length);
    }
    // Read before anything is written, because a getter or a proxy may log.
    const members = isError(data) ? { error: data } : data;
    const shown = messageText(message);
    buf.set(head);
    pos = head.length;
    memberName = "";
    writeText(shown);
    buf.set(ids, pos);
    pos += ids.length;
    limit = MAX_BYTES;
    valuesLeft = MAX_VALUES;
    if (data || meta.length > 0) {
      writeAscii(',"data":');
      writeBytes(meta);
      const from = pos;
      if (members) writeData(members);
      const isEmpty = pos < from + 3;
      // Replaces the opening brace of the call's fields by a comma after the common members.
      if (meta.length > 0) {
        buf[from] = isEmpty ? CLOSE : COMMA;
        if (isEmpty) pos = from + 1;
      }
    }
    writeAscii("}\n");
    return buf.subarray(0, pos);
  }

  function encodeObject(o: object): Uint8Array {
    pos = 0;
    limit = MAX_BYTES;
    valuesLeft = MAX_VALUES;
    writeObject(o, 1);
    return buf.subarray(0, pos);
  }

  return {
    entry: (prefix, time, message, data) =>
      ancestorCount > 0
        ? nested(() =>
            nestings > MAX_NESTED ? entry(prefix, time, CUT, undefined) : entry(prefix, time, message, data),
          )
        : entry(prefix, time, message, data),
    json: (o) => decodeText(nested(() => encodeObject(o))),
  };
}

/** Encodes with a new buffer if a getter logs while another entry is written. */
function nested(write: () => Uint8Array): Uint8Array {
  if (ancestorCount === 0) return write();
  const outer = buf;
  const outerPos = pos;
  const outerLimit = limit;
  const outerLeft = valuesLeft;
  buf = scratch();
  nestings++;
  try {
    return write();
  } finally {
    nestings--;
    buf = outer;
    pos = outerPos;
    limit = outerLimit;
    valuesLeft = outerLeft;
  }
}

function scratch(): Uint8Array {
  return new Uint8Array(SCRATCH_BYTES);
}

function isSecret(v: unknown, secrecy: Secrecy): boolean {
  return secrecy > (typeof v === "number" ? 1 : 0) && v != null && typeof v !== "boolean";
}

/** Returns the JSON of a string, with lone surrogates replaced, which UTF-8 cannot represent. */
function jsonString(s: string): string {
  return JSON.stringify(s.toWellFormed());
}

/** Writes a number; as a string if JSON cannot represent it or a reader would lose digits. */
function writeNumber(v: number): void {
  const size = Math.abs(v);
  const thousandths = Math.round(v * 1000);
  if (v >= 0 && v === (v | 0)) writeDigits(v);
  else if (v > 0 && v < 1e6 && thousandths / 1000 === v) {
    // At most three decimals, as in durations and prices: written without a temporary string.
    writeDigits(v | 0);
    buf[pos++] = 46;
    let unit = 100;
    for (let rest = thousandths % 1000; rest > 0; rest %= unit, unit /= 10) buf[pos++] = 48 + ((rest / unit) | 0);
  } else writeAscii(size < 2 ** 53 || (size >= 1e21 && size < 1 / 0) ? `${v}` : `"${v}"`);
}

/** Writes a whole number below 2 ** 31. */
function writeDigits(v: number): void {
  let end = pos;
  for (let rest = v; rest > 0 || end === pos; rest = (rest / 10) | 0) end++;
  pos = end;
  do {
    const next = (v / 10) | 0;
    buf[--end] = 48 + v - next * 10;
    v = next;
  } while (v > 0);
}

/** Adds brackets around members that begin with a comma, or around none. */
function closeBrackets(start: number, bracket: number): void {
  if (pos === start) pos++;
  buf[start] = bracket;
  buf[pos++] = bracket + 2;
}

function writeAscii(s: string): void {
  for (let i = 0; i < s.length; i++) buf[pos + i] = s.charCodeAt(i);
  pos += s.length;
}

function writeBytes(bytes: Uint8Array): void {
  const n = bytes.length;
  // SAFETY: `i` is below the length.
  for (let i = 0; i < n; i++) buf[pos + i] = bytes[i] as number;
  pos += n;
}
