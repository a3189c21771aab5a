import { parseDataMember } from "./data-test.ts";
import { usage } from "./failure.ts";
import { levelOf } from "./filters.ts";
import { list, once, text, type Values } from "./values.ts";

/** Returns the members that the options set in every entry created from text. */
export function membersOf(values: Values): Record<string, unknown> {
  const level = once(values, "level");
  const [category, type, service, host, session, trace] = [
    once(values, "category"),
    once(values, "type"),
    once(values, "service"),
    once(values, "host"),
    text(values, "session"),
    text(values, "trace"),
  ];
  const data = list(values, "data").map(parseDataMember);
  return {
    ...(level === null ? {} : { level: levelOf("--level", level) }),
    ...(category === null ? {} : { category }),
    ...(type === null ? {} : { type }),
    ...(service === null ? {} : { service }),
    ...(host === null ? {} : { host }),
    ...(session === null ? {} : { session }),
    ...(trace === null ? {} : { traceId: trace }),
    ...(data.length === 0 ? {} : { data: nested(data) }),
  };
}

function nested(members: readonly { names: readonly string[]; value: unknown }[]): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const { names, value } of members) {
    let into = data;
    names.forEach((name, i) => {
      const next: unknown = i === names.length - 1 ? value : Object.hasOwn(into, name) ? into[name] : {};
      if (i < names.length - 1 && (typeof next !== "object" || next === null || Array.isArray(next))) {
        throw usage(`--data: ${names.slice(0, i + 1).join(".")} is a value and cannot have members.`);
      }
      // Defined instead of assigned, because `__proto__` is a valid name.
      Object.defineProperty(into, name, { value: next, enumerable: true, configurable: true, writable: true });
      // SAFETY: checked above for all names but the last, whose value is not used as an object.
      into = next as Record<string, unknown>;
    });
  }
  return data;
}
