import { MAX_ID, MAX_MEMBERS } from "./limits.ts";
import { bytesOf } from "./safe.ts";
import { traceIds } from "./trace.ts";

/** Fields that are members of the entry itself. The others are members of `data`. */
const IDS = /^(?:session|traceId|spanId)$/;

/** Fields by name, each as the JSON of a member: `"a":1`. */
export type Fields = Readonly<Record<string, string>>;

/** Merges fields. Later ones replace earlier ones of the same name. */
export function merged(...all: (Fields | undefined)[]): Fields {
  return Object.assign(Object.create(null), ...all);
}

/** @param json returns the JSON of an object with secrets masked  @throws errors of getters of the fields */
export function fieldsOf({ traceparent, ...rest }: { traceparent?: unknown }, json: (value: object) => string): Fields {
  const members: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries({ ...rest, ...traceIds(traceparent) })) {
    // Skips a field named `toJSON` that is a function, which would replace the object.
    const member = /^{(.*)}$/s.exec(json({ [name]: IDS.test(name) ? idOf(value) : value }))?.[1];
    if (member) members[name] = member;
  }
  return members;
}

export function idOf(value: unknown): string | undefined {
  return (typeof value === "string" && value.slice(0, MAX_ID)) || undefined;
}

/** Returns the JSON of the members of the entry, or of `data`, without braces. */
export function membersOf(fields: Fields, areIds: boolean, without: object = {}): string {
  const names = Object.keys(fields).filter((name) => IDS.test(name) === areIds && !Object.hasOwn(without, name));
  const json = names.map((name) => fields[name]).join();
  return bytesOf(json) > MAX_MEMBERS ? '"[Truncated]":true' : json;
}
