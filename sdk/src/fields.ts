import { MAX_ID, MAX_MEMBERS } from "./limits.ts";
import { bytesOf } from "./safe.ts";
import { traceIds } from "./trace.ts";

/** Members of the entry itself; all others are members of its `data`. */
const IDS = /^(?:session|traceId|spanId)$/;

/** Fields by name, each as the JSON of a member: `"a":1`. */
export type Fields = Readonly<Record<string, string>>;

/** Later fields stand for earlier ones of the same name. */
export function merged(...all: (Fields | undefined)[]): Fields {
  return Object.assign(Object.create(null), ...all);
}

/** @param json of an object, with secrets masked  @throws what reading `fields` throws */
export function fieldsOf({ traceparent, ...rest }: { traceparent?: unknown }, json: (value: object) => string): Fields {
  const members: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries({ ...rest, ...traceIds(traceparent) })) {
    // No member where a function named toJSON makes something else of it.
    const member = /^{(.*)}$/s.exec(json({ [name]: IDS.test(name) ? idOf(value) : value }))?.[1];
    if (member) members[name] = member;
  }
  return members;
}

export function idOf(value: unknown): string | undefined {
  return (typeof value === "string" && value.slice(0, MAX_ID)) || undefined;
}

/** JSON of the members of the entry, or of `data`, without braces. */
export function membersOf(fields: Fields, areIds: boolean, without: object = {}): string {
  const names = Object.keys(fields).filter((name) => IDS.test(name) === areIds && !Object.hasOwn(without, name));
  const json = names.map((name) => fields[name]).join();
  return bytesOf(json) > MAX_MEMBERS ? '"[Truncated]":true' : json;
}
