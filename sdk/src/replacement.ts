import { isError, memberOf } from "./safe.ts";

/**
 * Returns the value that is encoded for an object that is neither plain nor an array: a text, a list, or a copy.
 * @throws errors of the object's own methods
 */
export function replacement(o: object): unknown {
  const tag = Object.prototype.toString.call(o).slice(8, -1);
  // SAFETY: the members may be missing or of other types. They are checked before the call, or the caller marks the error.
  const { toJSON, entries, byteLength } = o as {
    toJSON?: unknown;
    entries(): Iterable<unknown[]>;
    byteLength: number;
  };
  let names = Object.keys(o);
  if (tag === "Error" || isError(o)) {
    // The members of an error that are not enumerable.
    names = ["name", "message", "stack", "cause", "errors", ...names];
  } else if (byteLength >= 0 && /(?:Array|Buffer|View)$/.test(tag)) {
    // The `toJSON` of Node's buffers would return a list of numbers.
    return `[${tag} ${byteLength} bytes]`;
  } else if (typeof toJSON === "function") {
    const json: unknown = toJSON.call(o);
    if (json !== o) return json ?? null;
  } else if (tag === "Set") {
    // SAFETY: if the tag is wrong the spread throws, and the caller marks that.
    return [...(o as Set<unknown>)];
  } else if (/^(?:Map|Headers|URLSearchParams|FormData)$/.test(tag)) {
    const pairs = [...entries.call(o)];
    const keys = new Set(pairs.map(([key]) => (typeof key === "string" ? key : pairs)));
    // An object if all keys are distinct strings, else a list of pairs.
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
