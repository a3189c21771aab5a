import type { Field, Filter, OwnField } from "../../query-language/syntax.ts";
import { isOwnMember } from "../query/data-path.ts";

/** Members of a line that are strings of their own, in the order of the line. */
export const LINE_TEXTS = ["category", "type", "message", "session", "traceId", "spanId", "service", "host"] as const;
export type LineText = (typeof LINE_TEXTS)[number];

/** The members of an entry that decide about a filter. */
export interface WantedMembers {
  texts: ReadonlySet<LineText>;
  /** Names of members of `data`. */
  data: ReadonlySet<string>;
}

const OWN_TEXTS: Partial<Record<OwnField, LineText>> = {
  category: "category",
  type: "type",
  message: "message",
  pattern: "message",
  session: "session",
  trace: "traceId",
  span: "spanId",
};
/** More members are not worth reading apart. */
const MAX_NAMES = 32;

/** @returns `null` if the whole entry is needed */
export function wantedMembersOf(filter: Filter): WantedMembers | null {
  const wanted = { texts: new Set<LineText>(), data: new Set<string>() };
  return takes(wanted, filter) && wanted.data.size <= MAX_NAMES ? wanted : null;
}

function takes(wanted: { texts: Set<LineText>; data: Set<string> }, filter: Filter): boolean {
  switch (filter.kind) {
    case "all":
      return true;
    case "text":
      return false;
    case "not":
      return takes(wanted, filter.filter);
    case "and":
    case "or":
      return filter.filters.every((each) => takes(wanted, each));
    case "field": {
      const text = textOf(filter.field);
      if (text !== undefined) wanted.texts.add(text);
      for (const name of namesOf(filter.field)) wanted.data.add(name);
      return true;
    }
  }
}

/** Returns the text of a line that has the values of a field; `service` and `host` are also read as members of `data`. */
function textOf(field: Field): LineText | undefined {
  if (field.kind === "own") return isOwnMember(field.name) ? field.name : OWN_TEXTS[field.name];
  const [name] = field.kind === "data" && field.path.length === 1 ? field.path : [];
  return isOwnMember(name) ? name : undefined;
}

/** Names of members of `data` that have values of a field: the first names of its path, joined by dots. */
function namesOf(field: Field): string[] {
  if (field.kind === "own") {
    return isOwnMember(field.name) ? [field.name, `${field.name}.name`] : [];
  }
  const names: string[] = [];
  for (const part of field.kind === "data" ? field.path : []) {
    if (typeof part !== "string" || names.length > MAX_NAMES) break;
    names.push(names.length === 0 ? part : `${names.at(-1)}.${part}`);
  }
  return names;
}
