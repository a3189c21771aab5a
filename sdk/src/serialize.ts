import { REDACTED, type Redactor, type Secrecy } from "./redact.ts";

/** Bytes of one entry as the service takes it at most, and levels of nesting of `data` (`{}` is 1). */
const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 32;
/** Kept free for a last name, for closing brackets, and for the marks that say what was cut, 32 levels of them. */
const RESERVE = 4096;
/** Characters of a member name; longer ones are cut. */
const MAX_NAME = 256;
/** Member names remembered with their JSON; past that the memory starts anew. */
const MAX_NAMES = 1000;
/** Calls inside calls, of getters that log. Deeper ones keep their message and lose their data. */
const MAX_NESTED = 4;
const THROWS = "[Throws]";
/** What holds a secret without any character that calls for a look. */
const SCHEME = /[bB](?:earer|EARER|asic|ASIC) /;
const QUOTE = 34;
const COMMA = 44;
const BRACE = 123;

/** Per ASCII character: 0 needs a closer look (escapes, wide characters, `=` and `:`); 2 is in a space, 4 in a b. */
const KINDS: Uint8Array = new Uint8Array(128).map((_, c) =>
  c === 32 ? 3 : (c | 32) === 98 ? 5 : Number(c > 32 && c < 127 && !'"\\=:'.includes(String.fromCharCode(c))),
);

const utf8: TextEncoder = new TextEncoder();
const decoder: TextDecoder = new TextDecoder();

// One scratch for all loggers: an entry is complete and copied out before the call returns. Made here and hardly ever
// replaced, so that the engine treats it as a constant.
let buf: Uint8Array = /* @__PURE__ */ new Uint8Array(MAX_BYTES + 2 * RESERVE);
let pos = 0;
let limit = 0;
let busy = 0;
let ancestors: (object | undefined)[] = [];
let height = 0;

interface Name {
  /** `"name":` */
  json: Uint8Array;
  secrecy: Secrecy;
}

/** What is the same for all entries of one level, category and child. All of it is JSON, encoded. */
export interface Frame {
  /** All up to the message, after `START`, with the timestamp it last had. */
  before: Uint8Array;
  time: string;
  /** From the end of the message to `data`. */
  after: Uint8Array;
  /** A brace and the members of `data` that every entry has; empty if there are none. */
  meta: Uint8Array;
}

/** How every entry starts; the timestamp's 24 characters follow. */
export const START = '{"timestamp":"';

/** Gets a line with its line feed, lent for the time of the call. */
export type Use = (line: Uint8Array, severity: number, now: number) => void;

export interface Encoder {
  /** Encodes an entry. Never throws for what `message` and `data` hold. */
  entry(
    frame: Frame,
    time: string,
    message: unknown,
    data: object | undefined,
    severity: number,
    now: number,
    use: Use,
  ): void;
  /** A whole entry given as an object. */
  whole(entry: object, severity: number, now: number, use: Use): void;
  /** JSON of any object with secrets masked. */
  json(value: object): string;
}

export function encodeText(text: string): Uint8Array {
  return utf8.encode(text);
}

export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function createEncoder({ key, secrecy, suspects, text: masked }: Redactor): Encoder {
  const names = new Map<string, Name>();

  function name(key: string): Name {
    const shown = key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}[Truncated]` : key;
    const made = { json: utf8.encode(`${quoted(masked(shown))}:`), secrecy: secrecy(shown) };
    if (names.size >= MAX_NAMES) names.clear();
    if (shown === key) names.set(key, made);
    return made;
  }

  function text(s: string): void {
    const n = s.length;
    let p = pos;
    let kinds = n + 2 > limit - p ? 0 : 1;
    if (kinds) {
      const b = buf;
      b[p++] = QUOTE;
      for (let i = 0; i < n; i++) {
        const c = s.charCodeAt(i);
        const kind = c < 128 ? KINDS[c] : 0;
        if (!kind) {
          kinds = 0;
          break;
        }
        kinds |= kind;
        b[p++] = c;
      }
      b[p++] = QUOTE;
    }
    if (!kinds || (kinds > 6 && SCHEME.test(s)) || (n >= key.length && key && s.includes(key))) looked(s);
    else pos = p;
  }

  /** A string that needs escapes, may hold secrets, or is too long. */
  function looked(s: string): void {
    const room = Math.max(limit - pos, 0);
    let shown = s.slice(0, room);
    if (suspects(shown)) shown = redacted(shown);
    for (let isCut = s.length > room || shown.length > room; ; isCut = true) {
      const json = quoted(isCut ? `${shown}[Truncated]` : shown);
      const { read, written } = utf8.encodeInto(json, buf.subarray(pos, Math.max(limit, pos + 64)));
      if (read === json.length) {
        pos += written;
        return;
      }
      // Escapes and wide characters take up to six bytes each.
      shown = shown.slice(0, Math.min(shown.length >> 1, room / 7));
    }
  }

  /** JSON in a string is masked as the structure it is, anything else as running text. */
  function redacted(s: string): string {
    if (/^\s*[{[]/.test(s)) {
      const start = pos;
      try {
        value(JSON.parse(s), 1);
        const json = pos < limit ? decoder.decode(buf.subarray(start, pos)) : "";
        if (json.includes(REDACTED)) return json;
      } catch {
      } finally {
        pos = start;
      }
    }
    return masked(s);
  }

  /** Writes a value; nothing where JSON has none (`undefined`). */
  function value(v: unknown, depth: number): void {
    switch (typeof v) {
      case "string":
        text(v);
        break;
      case "number":
        if (v >= 0 && v < 1e9 && v === (v | 0)) digits(v);
        else ascii(numeral(v));
        break;
      case "object":
        if (v === null) ascii("null");
        else object(v, depth);
        break;
      case "boolean":
        ascii(v ? "true" : "false");
        break;
      case "function":
        text(`[Function ${attempt(() => v.name)}]`);
        break;
      case "undefined":
        break;
      default:
        // A big integer or a symbol.
        text(String(v));
    }
  }

  function object(o: object, depth: number): void {
    let mark = depth > MAX_DEPTH ? "[Depth]" : pos > limit ? "[Truncated]" : "";
    for (let i = 0; i < height; i++) if (ancestors[i] === o) mark = "[Circular]";
    const start = pos;
    ancestors[height++] = o;
    try {
      if (!mark) {
        const prototype = Object.getPrototypeOf(o);
        if (prototype === Object.prototype || prototype === null) plain(o, depth);
        else if (Array.isArray(o)) list(o, depth);
        else other(o, depth);
      }
    } catch {
      pos = start;
      mark = THROWS;
    }
    // The caller's objects are not kept.
    ancestors[--height] = undefined;
    if (mark) ascii(`"${mark}"`);
  }

  function plain(o: object, depth: number): void {
    const start = pos;
    buf[pos++] = BRACE;
    for (const key in o) {
      let v: unknown;
      try {
        // SAFETY: reading any member of any object is sound; its value is unknown.
        v = (o as Record<string, unknown>)[key];
      } catch {
        v = THROWS;
      }
      if (key === "toJSON" && typeof v === "function") {
        pos = start;
        other(o, depth);
        return;
      }
      const { json, secrecy } = names.get(key) ?? name(key);
      const before = pos;
      if (before > start + 1) buf[pos++] = COMMA;
      raw(json);
      const from = pos;
      if (secrecy !== 0 && isSecret(v, secrecy)) ascii(`"${REDACTED}"`);
      else value(v, depth + 1);
      // JSON has no such value.
      if (pos === from) pos = before;
      if (pos > limit) {
        ascii(`${pos > start + 1 ? "," : ""}"[Truncated]":true`);
        break;
      }
    }
    buf[pos++] = 125;
  }

  function list(items: readonly unknown[], depth: number): void {
    buf[pos++] = 91;
    // A pair of header name and value, as `rawHeaders` and `Object.entries` give them.
    const isPair = items.length === 2 && typeof items[0] === "string" && isSecret(items[1], secrecy(items[0]));
    for (let i = 0; i < items.length; i++) {
      if (i > 0) buf[pos++] = COMMA;
      const from = pos;
      if (pos > limit) {
        ascii('"[Truncated]"');
        break;
      }
      let item: unknown;
      try {
        item = items[i];
      } catch {
        item = THROWS;
      }
      value(isPair && i === 1 ? REDACTED : item, depth + 1);
      if (pos === from) ascii("null");
    }
    buf[pos++] = 93;
  }

  /** Everything that is neither a plain object nor an array. May throw what the object's own methods throw. */
  function other(o: object, depth: number): void {
    const tag = Object.prototype.toString.call(o).slice(8, -1);
    // SAFETY: each of these may be missing or anything; what is called is checked, or throws and is marked so.
    const { toJSON, entries, byteLength } = o as {
      toJSON?: unknown;
      entries(): Iterable<unknown[]>;
      byteLength: number;
    };
    let v: unknown = null;
    if (tag === "Error" || isError(o)) {
      // Not enumerable, but what an error is about.
      plain(snapshot(o, ["name", "message", "stack", "cause", "errors", ...Object.keys(o)]), depth);
      return;
    }
    if (typeof toJSON === "function") v = toJSON.call(o) ?? null;
    else if (/Array$|^ArrayBuffer|^DataView/.test(tag)) v = `[${tag} ${byteLength} bytes]`;
    else if (tag === "Set") v = Array.from(entries.call(o), ([item]) => item);
    else if (/^(?:Map|Headers|URLSearchParams|FormData)$/.test(tag)) {
      const pairs = [...entries.call(o)];
      const keys = new Set(pairs.map(([key]) => (typeof key === "string" ? key : pairs)));
      // As an object where every key is a string of its own, else as a list of pairs.
      v = keys.size < pairs.length || keys.has(pairs) ? pairs : Object.fromEntries(pairs);
    } else if (tag === "RegExp") v = String(o);
    else if (/^(?:Number|String|Boolean|BigInt|Symbol)$/.test(tag)) v = o.valueOf();
    else v = o;
    if (v === o) plain(snapshot(o, Object.keys(o)), depth);
    else value(v, depth);
  }

  function write(frame: Frame, time: string, message: unknown, data: object | undefined): void {
    limit = MAX_BYTES / 2;
    const { before } = frame;
    if (frame.time !== time) {
      frame.time = time;
      for (let i = 0; i < time.length; i++) before[START.length + i] = time.charCodeAt(i);
    }
    buf.set(before);
    pos = before.length;
    // Half for the message at most: a long one must not cost the data.
    const said = isError(message) ? attempt(() => message.message) : message;
    text((typeof said === "string" ? said : shown(said)) || "(no message)");
    limit = MAX_BYTES - RESERVE;
    buf.set(frame.after, pos);
    pos += frame.after.length;
    if (data || frame.meta.length > 0) {
      ascii(',"data":');
      raw(frame.meta);
      const from = pos;
      if (data) fields(data, from);
      const isEmpty = pos < from + 3;
      // The brace of the call's own fields becomes what joins them to the others.
      if (frame.meta.length > 0) buf[from] = isEmpty ? 125 : COMMA;
      if (isEmpty && frame.meta.length > 0) pos = from + 1;
    }
    ascii("}\n");
  }

  /** The members of an object in braces. An error or a list gets a name. */
  function fields(data: object, from: number): void {
    const hasName = isError(data);
    if (!hasName) object(data, 1);
    if (hasName || buf[from] !== BRACE) {
      pos = from;
      object(Object.assign(Object.create(null), { [hasName ? "error" : "value"]: data }), 1);
    }
  }

  /** JSON or plain text of a message that is no string. */
  function shown(message: unknown): string {
    const start = pos;
    value(message, 1);
    const json = decoder.decode(buf.subarray(start, pos));
    pos = start;
    return json || String(message);
  }

  return {
    entry(frame, time, message, data, severity, now, use) {
      const outer = enter();
      try {
        write(frame, time, message, busy > MAX_NESTED ? undefined : data);
        use(buf.subarray(0, pos), severity, now);
      } finally {
        leave(outer);
      }
    },
    whole(entry, severity, now, use) {
      const outer = enter();
      try {
        object(entry, 0);
        ascii("\n");
        use(buf.subarray(0, pos), severity, now);
      } finally {
        leave(outer);
      }
    },
    json(v) {
      const outer = enter();
      object(v, 1);
      const json = decoder.decode(buf.subarray(0, pos));
      leave(outer);
      return json;
    },
  };
}

type Saved = [typeof buf, number, number, typeof ancestors, number] | undefined;

/** Takes the scratch, or one of its own where it is in use further up the stack. */
function enter(): Saved {
  const outer: Saved = busy++ > 0 ? [buf, pos, limit, ancestors, height] : undefined;
  if (outer) {
    buf = new Uint8Array(MAX_BYTES + 2 * RESERVE);
    ancestors = [];
    height = 0;
  }
  pos = 0;
  limit = MAX_BYTES - RESERVE;
  return outer;
}

function leave(outer: Saved): void {
  busy--;
  if (outer) [buf, pos, limit, ancestors, height] = outer;
}

/** Members by name, whatever reading one does. */
function snapshot(o: object, names: readonly string[]): object {
  const copy: Record<string, unknown> = Object.create(null);
  // SAFETY: reading any member of any object is sound; its value is unknown.
  for (const name of names) copy[name] = attempt(() => (o as Record<string, unknown>)[name]);
  return copy;
}

function isSecret(v: unknown, secrecy: Secrecy): boolean {
  return secrecy !== 0 && v != null && typeof v !== "boolean" && (secrecy === 2 || typeof v !== "number");
}

/** JSON of a string. Lone surrogates would not survive UTF-8. */
function quoted(s: string): string {
  return JSON.stringify(s.toWellFormed());
}

/** A number as JSON; as a string where JSON has no such number or a reader would lose digits. */
function numeral(v: number): string {
  return !Number.isFinite(v) || (Number.isInteger(v) && !Number.isSafeInteger(v) && Math.abs(v) < 1e21)
    ? `"${v}"`
    : `${v}`;
}

/** A small whole number, without a string in between. */
function digits(v: number): void {
  let rest = v;
  do {
    pos++;
    rest = (rest / 10) | 0;
  } while (rest > 0);
  let p = pos;
  do {
    const next = (v / 10) | 0;
    buf[--p] = 48 + v - next * 10;
    v = next;
  } while (v > 0);
}

function ascii(s: string): void {
  const b = buf;
  let p = pos;
  for (let i = 0; i < s.length; i++) b[p++] = s.charCodeAt(i);
  pos = p;
}

function raw(bytes: Uint8Array): void {
  const b = buf;
  const n = bytes.length;
  let p = pos;
  for (let i = 0; i < n; i++) b[p++] = bytes[i] as number;
  pos = p;
}

/** Asking may throw: a proxy decides what it is an instance of. */
export function isError(value: unknown): value is Error {
  return attempt(() => value instanceof Error) === true;
}

function attempt<T>(read: () => T): T | typeof THROWS {
  try {
    return read();
  } catch {
    return THROWS;
  }
}
