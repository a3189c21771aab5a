import { isError, memberOf } from "./safe.ts";

/**
 * What stands for an object that is neither plain nor an array: a text, a list, or a copy without a prototype.
 * @throws what the object's own methods throw
 */
export function replacement(o: object): unknown {
  const tag = Object.prototype.toString.call(o).slice(8, -1);
  // SAFETY: each of these may be missing or anything; what is called is checked, or throws and is marked so.
  const { toJSON, entries, byteLength } = o as {
    toJSON?: unknown;
    entries(): Iterable<unknown[]>;
    byteLength: number;
  };
  let names = Object.keys(o);
  if (tag === "Error" || isError(o)) {
    // Not enumerable, but what an error is about.
    names = ["name", "message", "stack", "cause", "errors", ...names];
  } else if (byteLength >= 0 && /(?:Array|Buffer|View)$/.test(tag)) {
    // Node's buffers would make a list of numbers of themselves.
    return `[${tag} ${byteLength} bytes]`;
  } else if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(o);
    if (json !== o) return json ?? null;
  } else if (tag === "Set") {
    // SAFETY: or it throws, and is marked so.
    return [...(o as Set<unknown>)];
  } else if (/^(?:Map|Headers|URLSearchParams|FormData)$/.test(tag)) {
    const pairs = [...entries.call(o)];
    const keys = new Set(pairs.map(([key]) => (typeof key === "string" ? key : pairs)));
    // As an object where every key is a string of its own, else as a list of pairs.
    return keys.size < pairs.length || keys.has(pairs) ? pairs : Object.fromEntries(pairs);
  } else if (tag === "RegExp") {
    return String(o);
  } else if (/^(?:Number|String|Boolean|BigInt|Symbol)$/.test(tag)) {
    return o.valueOf();
  }
  const copy: Record<string, unknown> = Object.create(null);
  for (const name of names) copy[name] = memberOf(o, name);
  return copy;
}
