import { REDACTED, type Redactor, type Secrecy } from "./redact.ts";

/** Bytes of one entry as the service takes it at most, and levels of nesting of `data` (`{}` is 1). */
const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 32;
/** Kept free for closing brackets and for the marks that say what was cut, 32 levels of them. */
const RESERVE = 4096;
/** Characters of a member name; longer ones are cut. */
const MAX_NAME = 256;
/** Member names remembered with their JSON; past that the memory starts anew. */
const MAX_NAMES = 1000;
/** Calls inside calls: a getter that logs. Deeper ones keep their message and lose their data. */
const MAX_NESTED = 3;

const SCHEME = /[bB](?:earer|EARER|asic|ASIC) /;
/** Members of errors that are not enumerable. */
const ERROR_MEMBERS = ["name", "message", "stack", "cause", "errors"];
const MAPS = ["Map", "Headers", "URLSearchParams", "FormData"];
const PRIMITIVES = ["Number", "String", "Boolean", "BigInt", "Symbol"];

/** Per ASCII character: 0 needs a closer look (escapes, wide characters, `=` and `:`), 2 marks the space. */
const KINDS = new Uint8Array(128).map((_, c) =>
  c < 32 || c > 126 || '"\\=:'.includes(String.fromCharCode(c)) ? 0 : 1,
);
KINDS[32] = 3;

const utf8: TextEncoder = new TextEncoder();
const decoder: TextDecoder = new TextDecoder();

// One scratch for all loggers: an entry is complete and copied out before the call returns.
let buf: Uint8Array = new Uint8Array(0);
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
  /** From the end of the timestamp to the message. */
  before: Uint8Array;
  /** From the end of the message to `data`. */
  after: Uint8Array;
  /** Members of `data` that every entry has, without braces. */
  meta: Uint8Array;
}

export interface Encoder {
  /**
   * Encodes an entry and lends its bytes, a line with its line feed, to `use` for the time of the call.
   * Never throws for what `message` and `data` hold.
   */
  entry(
    frame: Frame,
    time: string,
    message: unknown,
    data: object | undefined,
    severity: number,
    now: number,
    use: (line: Uint8Array, severity: number, now: number) => void,
  ): void;
  /** JSON of any value with secrets masked. */
  json(value: unknown): string;
  secrecy(name: string): Secrecy;
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
    let found = names.get(key);
    if (found === undefined) {
      const shown = key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}[Truncated]` : key;
      found = { json: utf8.encode(`${quoted(masked(shown))}:`), secrecy: secrecy(shown) };
      if (names.size >= MAX_NAMES) names.clear();
      if (shown === key) names.set(key, found);
    }
    return found;
  }

  function text(s: string): void {
    const n = s.length;
    if (n + 2 > limit - pos) {
      looked(s);
      return;
    }
    const b = buf;
    let p = pos;
    let kinds = 0;
    b[p++] = 34;
    for (let i = 0; i < n; i++) {
      const c = s.charCodeAt(i);
      const kind = c < 128 ? KINDS[c] : 0;
      if (!kind) {
        looked(s);
        return;
      }
      kinds |= kind;
      b[p++] = c;
    }
    // `Bearer ...` and the own key hold no character that calls for a look by itself.
    if ((kinds > 1 && SCHEME.test(s)) || (n >= key.length && key !== "" && s.includes(key))) {
      looked(s);
      return;
    }
    b[p++] = 34;
    pos = p;
  }

  /** A string that needs escapes, may hold secrets, or is too long. */
  function looked(s: string): void {
    const room = Math.max(limit - pos, 0);
    let shown = s.length > room ? s.slice(0, room) : s;
    if (suspects(shown)) shown = redacted(shown);
    for (let isCut = shown.length > room || s.length > room; ; isCut = true) {
      const json = quoted(isCut ? `${shown}[Truncated]` : shown);
      const { read, written } = utf8.encodeInto(json, buf.subarray(pos, Math.max(limit, pos + 64)));
      if (read === json.length) {
        pos += written;
        return;
      }
      // Escapes and wide characters take up to six bytes each.
      shown = shown.slice(0, Math.min(shown.length >> 1, Math.max(room / 7, 0)));
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

  /** Writes a value; `false` where JSON has none (`undefined`). */
  function value(v: unknown, depth: number): boolean {
    switch (typeof v) {
      case "string":
        text(v);
        return true;
      case "number":
        if ((v | 0) === v) int(v);
        else ascii(numeral(v));
        return true;
      case "boolean":
        ascii(v ? "true" : "false");
        return true;
      case "object":
        if (v === null) ascii("null");
        else object(v, depth);
        return true;
      case "undefined":
        return false;
      case "bigint":
        ascii(`"${v}"`);
        return true;
      case "symbol":
        text(v.toString());
        return true;
      default:
        text(`[Function ${nameOf(v)}]`);
        return true;
    }
  }

  function object(o: object, depth: number): void {
    if (depth > MAX_DEPTH) {
      ascii('"[Depth]"');
      return;
    }
    if (pos > limit) {
      ascii('"[Truncated]"');
      return;
    }
    for (let i = 0; i < height; i++)
      if (ancestors[i] === o) {
        ascii('"[Circular]"');
        return;
      }
    const start = pos;
    ancestors[height++] = o;
    try {
      const prototype = Object.getPrototypeOf(o);
      if (prototype === Object.prototype || prototype === null) plain(o, depth);
      else if (Array.isArray(o)) list(o, depth);
      else other(o, depth);
    } catch {
      pos = start;
      ascii('"[Throws]"');
    }
    // The caller's objects are not kept.
    ancestors[--height] = undefined;
  }

  function plain(o: object, depth: number): void {
    const start = pos;
    buf[pos++] = 123;
    if (!members(o, depth)) {
      // The object brings a JSON form of its own.
      pos = start;
      other(o, depth);
      return;
    }
    buf[pos++] = 125;
  }

  /** Writes enumerable members without braces; `false` if one of them is a `toJSON` method. */
  function members(o: object, depth: number): boolean {
    const start = pos;
    for (const key in o) {
      let v: unknown;
      try {
        // SAFETY: reading any member of any object is sound; its value is unknown.
        v = (o as Record<string, unknown>)[key];
      } catch {
        v = "[Throws]";
      }
      if (typeof v === "function" && key === "toJSON") return false;
      member(key, v, depth, start);
      if (pos > limit) {
        mark(start);
        break;
      }
    }
    return true;
  }

  function member(key: string, v: unknown, depth: number, start: number): void {
    const { json, secrecy } = name(key);
    const before = pos;
    if (pos !== start) buf[pos++] = 44;
    raw(json);
    if (secrecy !== 0 && isSecret(v, secrecy)) ascii(`"${REDACTED}"`);
    else if (!value(v, depth + 1)) pos = before;
  }

  function list(items: readonly unknown[], depth: number): void {
    buf[pos++] = 91;
    // A pair of header name and value, as `rawHeaders` and `Object.entries` give them.
    const isPair = items.length === 2 && typeof items[0] === "string" && isSecret(items[1], secrecy(items[0]));
    for (let i = 0; i < items.length; i++) {
      if (i > 0) buf[pos++] = 44;
      if (pos > limit) {
        ascii(`"[Truncated ${items.length - i}]"`);
        break;
      }
      let item: unknown;
      try {
        item = items[i];
      } catch {
        item = "[Throws]";
      }
      if (isPair && i === 1) item = REDACTED;
      if (!value(item, depth + 1)) ascii("null");
    }
    buf[pos++] = 93;
  }

  /** Everything that is neither a plain object nor an array. May throw what the object's own methods throw. */
  function other(o: object, depth: number): void {
    const tag = Object.prototype.toString.call(o).slice(8, -1);
    if (tag === "Error" || isError(o)) {
      braced(o, depth, ERROR_MEMBERS);
      return;
    }
    // SAFETY: each of these may be missing or anything; what is called is checked, or throws and is marked so.
    const { toJSON, entries, byteLength } = o as {
      toJSON?: unknown;
      entries: () => Iterable<unknown[]>;
      byteLength?: number;
    };
    if (typeof toJSON === "function") {
      const own: unknown = toJSON.call(o);
      if (own === o) {
        braced(o, depth);
        return;
      }
      if (!value(own, depth + 1)) ascii("null");
    } else if (tag.endsWith("Array") || tag === "ArrayBuffer" || tag === "DataView") {
      text(`[${tag} ${byteLength} bytes]`);
    } else if (tag === "Set") {
      list(
        Array.from(entries.call(o), ([item]) => item),
        depth,
      );
    } else if (MAPS.includes(tag)) {
      map([...entries.call(o)], depth);
    } else if (tag === "RegExp") {
      text(String(o));
    } else if (PRIMITIVES.includes(tag)) {
      value(o.valueOf(), depth);
    } else {
      braced(o, depth);
    }
  }

  /** As an object where every key is a string of its own, else as a list of pairs. */
  function map(pairs: readonly unknown[][], depth: number): void {
    const keys = new Set(pairs.map(([key]) => (typeof key === "string" ? key : pairs)));
    if (keys.size < pairs.length || keys.has(pairs)) {
      list(pairs, depth);
      return;
    }
    braced(Object.assign(Object.create(null), Object.fromEntries(pairs)), depth);
  }

  function braced(o: object, depth: number, hidden: readonly string[] = []): void {
    buf[pos++] = 123;
    const start = pos;
    for (const key of new Set([...hidden, ...Object.keys(o)])) {
      // SAFETY: reading any member of any object is sound; its value is unknown.
      member(
        key,
        attempt(() => (o as Record<string, unknown>)[key]),
        depth,
        start,
      );
      if (pos > limit) {
        mark(start);
        break;
      }
    }
    buf[pos++] = 125;
  }

  function fields(data: object, hasMeta: boolean): void {
    const start = pos;
    if (hasMeta) buf[pos++] = 44;
    const from = pos;
    ancestors[height++] = data;
    let done = false;
    try {
      const prototype = Object.getPrototypeOf(data);
      done = (prototype === Object.prototype || prototype === null) && members(data, 1);
    } catch {}
    ancestors[--height] = undefined;
    if (!done) {
      pos = from;
      // The members of a class's instance stand for themselves; an error or a list gets a name.
      object(data, 1);
      if (buf[from] === 123 && !isError(data)) {
        buf.copyWithin(from, from + 1, pos - 1);
        pos -= 2;
      } else {
        pos = from;
        member(isError(data) ? "error" : "value", data, 1, from);
      }
    }
    if (pos === from) pos = start;
  }

  function write(frame: Frame, time: string, message: unknown, data: object | undefined): void {
    const begin = pos;
    limit = begin + MAX_BYTES - RESERVE;
    ascii('{"timestamp":"');
    ascii(time);
    raw(frame.before);
    // Half for the message at most: a long one must not cost the data.
    limit -= MAX_BYTES / 2;
    const said = isError(message) ? attempt(() => message.message) : message;
    text((typeof said === "string" ? said : shown(said)) || "(no message)");
    limit = begin + MAX_BYTES - RESERVE - frame.after.length;
    raw(frame.after);
    if (data !== undefined || frame.meta.length > 0) {
      ascii(',"data":{');
      raw(frame.meta);
      if (data !== undefined) fields(data, frame.meta.length > 0);
      buf[pos++] = 125;
    }
    buf[pos++] = 125;
    buf[pos++] = 10;
  }

  /** JSON or plain text of a message that is no string. */
  function shown(message: unknown): string {
    const start = pos;
    if (!value(message, 1)) return String(message);
    const json = decoder.decode(buf.subarray(start, pos));
    pos = start;
    return json;
  }

  /** Runs `work` on a scratch of its own, also where one is in use further up the stack. */
  function scratch(work: () => void): void {
    const saved = { buf, pos, limit, ancestors, height };
    ancestors = [];
    height = 0;
    if (busy > 0 || buf.length === 0) buf = new Uint8Array(MAX_BYTES + 2 * RESERVE);
    pos = 0;
    busy++;
    try {
      work();
    } finally {
      busy--;
      if (busy > 0) buf = saved.buf;
      pos = saved.pos;
      limit = saved.limit;
      ancestors = saved.ancestors;
      height = saved.height;
    }
  }

  return {
    secrecy,
    json(v) {
      let json = "";
      scratch(() => {
        limit = MAX_BYTES - RESERVE;
        if (value(v, 1)) json = decoder.decode(buf.subarray(0, pos));
      });
      return json;
    },
    entry(frame, time, message, data, severity, now, use) {
      if (busy === 0 && buf.length > 0) {
        busy = 1;
        try {
          write(frame, time, message, data);
          const end = pos;
          // What `use` logs itself starts after this line.
          use(buf.subarray(0, end), severity, now);
        } finally {
          busy = 0;
          pos = 0;
        }
      } else {
        scratch(() => {
          write(frame, time, message, busy > MAX_NESTED ? undefined : data);
          use(buf.subarray(0, pos), severity, now);
        });
      }
    },
  };
}

function isSecret(v: unknown, secrecy: Secrecy): boolean {
  return (
    secrecy !== 0 && v !== undefined && v !== null && typeof v !== "boolean" && (secrecy === 2 || typeof v !== "number")
  );
}

/** JSON of a string. Lone surrogates would not survive UTF-8. */
function quoted(s: string): string {
  return JSON.stringify(s.isWellFormed() ? s : s.toWellFormed());
}

/** A number as JSON; as a string where JSON has no such number or a reader would lose digits. */
function numeral(v: number): string {
  if (!Number.isFinite(v)) return `"${v}"`;
  return Number.isInteger(v) && !Number.isSafeInteger(v) && Math.abs(v) < 1e21 ? `"${v}"` : String(v);
}

function int(v: number): void {
  if (v < 0) {
    buf[pos++] = 45;
    v = -v;
  }
  let end = pos + 1;
  for (let rest = v; rest >= 10; rest = Math.floor(rest / 10)) end++;
  pos = end;
  do {
    const rest = Math.floor(v / 10);
    buf[--end] = 48 + v - rest * 10;
    v = rest;
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
  for (let i = 0; i < n; i++) b[p++] = bytes[i] ?? 0;
  pos = p;
}

/** Says in an object that members are missing. */
function mark(start: number): void {
  ascii(pos === start ? '"[Truncated]":true' : ',"[Truncated]":true');
}

function nameOf(f: unknown): string {
  const name = attempt(() => (f as { name?: unknown }).name);
  return typeof name === "string" ? name.slice(0, MAX_NAME) : "";
}

/** Asking may throw: a proxy decides what it is an instance of. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

function attempt<T>(read: () => T): T | "[Throws]" {
  try {
    return read();
  } catch {
    return "[Throws]";
  }
}
