import type { Field, Filter, OwnField } from "../../query-language/syntax.ts";
import type { Entry } from "../entry.ts";
import { LEVELS } from "../entry.ts";
import { JsonStrings, PathNode } from "../query/data-tests.ts";

/** Members of a line that are strings of their own, in the order of the line. */
export const LINE_TEXTS = ["category", "type", "message", "session", "traceId", "spanId"] as const;
type LineText = (typeof LINE_TEXTS)[number];

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
      const text = filter.field.kind === "own" ? OWN_TEXTS[filter.field.name] : undefined;
      if (text !== undefined) wanted.texts.add(text);
      for (const name of namesOf(filter.field)) wanted.data.add(name);
      return true;
    }
  }
}

/** Names of members of `data` that have values of a field: the first names of its path, joined by dots. */
function namesOf(field: Field): string[] {
  if (field.kind === "own") {
    return field.name === "service" || field.name === "host" ? [field.name, `${field.name}.name`] : [];
  }
  const names: string[] = [];
  for (const part of field.kind === "data" ? field.path : []) {
    if (typeof part !== "string" || names.length > MAX_NAMES) break;
    names.push(names.length === 0 ? part : `${names.at(-1)}.${part}`);
  }
  return names;
}

/** Where wanted members are in a line. */
export class MemberSlices {
  readonly #wanted: WantedMembers;
  readonly #names = new PathNode();
  readonly #strings = new JsonStrings();
  /** By index in `LINE_TEXTS`: beginning and end between the quotes; -1 without the member. */
  readonly #texts = new Int32Array(LINE_TEXTS.length * 2);
  /** Beginnings and ends of members of `data`, with their names. */
  #data: number[] = [];
  #hasData = false;
  #bytes = 0;

  constructor(wanted: WantedMembers) {
    this.#wanted = wanted;
    for (const name of wanted.data) this.#names.make(name);
  }

  begin(): void {
    this.#texts.fill(-1);
    this.#data.length = 0;
    this.#hasData = false;
    this.#bytes = 0;
  }

  /** Records a text. @param index in `LINE_TEXTS` @param from,to between the quotes */
  text(index: number, from: number, to: number): void {
    this.#texts[index * 2] = from;
    this.#texts[index * 2 + 1] = to;
  }

  /** Records that the line has `data`. */
  data(): void {
    this.#hasData = true;
  }

  /** Whether a member of `data` is wanted. @param text bytes, one character each @param from,to of its name */
  wants(text: string, from: number, to: number): boolean {
    return this.#names.member(text, from, to) !== null;
  }

  /** Records a member of `data`. @param from,to with its name and its value */
  member(from: number, to: number): void {
    this.#data.push(from, to);
    this.#bytes += to - from;
  }

  /** Bytes of members of `data` that `entry` parses. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the entry with the wanted members. The line was read before, so they are JSON. */
  entry(raw: Buffer, severity: number): Entry {
    const textOf = (name: LineText): string | undefined => {
      const index = LINE_TEXTS.indexOf(name) * 2;
      const from = this.#texts[index] ?? -1;
      if (from < 0 || !this.#wanted.texts.has(name)) return undefined;
      return this.#strings.decoded(raw, from, this.#texts[index + 1] ?? from);
    };
    const [session, traceId, spanId] = [textOf("session"), textOf("traceId"), textOf("spanId")];
    return {
      timestamp: "",
      level: LEVELS[severity] ?? "trace",
      category: textOf("category") ?? "",
      type: textOf("type") ?? "",
      message: textOf("message") ?? "",
      ...(session !== undefined && { session }),
      ...(traceId !== undefined && { traceId }),
      ...(spanId !== undefined && { spanId }),
      ...(this.#hasData && { data: this.#members(raw) }),
    };
  }

  #members(raw: Buffer): Record<string, unknown> {
    const parts: string[] = [];
    for (let at = 0; at < this.#data.length; at += 2) {
      parts.push(raw.toString("utf8", this.#data[at], this.#data[at + 1]));
    }
    // SAFETY: members between braces are an object.
    return parts.length === 0 ? {} : (JSON.parse(`{${parts.join(",")}}`) as Record<string, unknown>);
  }
}
