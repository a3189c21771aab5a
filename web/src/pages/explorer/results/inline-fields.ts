import type { LogEntry } from "../../../model/types.ts";

/** Which members of `data` a row shows beside its message. */

/** Bounds: entries looked at, members of one and depth. They keep the choice fast. */
const LOOK = { entries: 200, members: 60, depth: 3, length: 60 } as const;
/** Members that a row shows: in a list of usual width, and at most; the pixels of each further one, beside a usual message. */
const FIELDS = { usual: 6, most: 14, beside: 500, each: 140 } as const;

export type InlineValue = string | number | boolean;

interface Seen {
  path: readonly string[];
  entries: number;
  /** Different values, up to the number of entries. */
  values: Set<InlineValue>;
  /** Entries whose message has the value. */
  inMessage: number;
  length: number;
}

/**
 * Chooses the members that tell the loaded entries apart: those with different values, which are short, not in the message
 * already, and not another one in each entry, as an id is. The best ones come first. If all entries have the same values, chooses those
 * that no message has.
 */
export function inlineFields(entries: readonly LogEntry[], most: number = FIELDS.usual): (readonly string[])[] {
  const looked = entries.slice(0, LOOK.entries);
  const seen = new Map<string, Seen>();
  for (const { data, message } of looked) {
    if (data !== undefined) visit(data, [], message, seen, { left: LOOK.members });
  }
  const all = [...seen.values()];
  const chosen = best(all, (each) => score(each, looked.length), most);
  return chosen.length > 0 ? chosen : best(all, (each) => (each.inMessage > 0 ? 0 : worth(each, looked.length)), most);
}

/** How many members fit into the rows of a list of some width in pixels. */
export function fieldsWithin(width: number): number {
  const fitting = Math.floor((width - FIELDS.beside) / FIELDS.each);
  return Math.min(FIELDS.most, Math.max(FIELDS.usual, fitting));
}

/** Whether a member is the service of its entry, which may have a column of its own. */
export function isServiceName(path: readonly string[]): boolean {
  return path.join(".") === "service" || path.join(".") === "service.name";
}

function best(all: readonly Seen[], scoreOf: (each: Seen) => number, most: number): (readonly string[])[] {
  return all
    .map((each) => ({ path: each.path, score: scoreOf(each) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ path }) => path);
}

function visit(
  value: object,
  path: readonly string[],
  message: string,
  seen: Map<string, Seen>,
  budget: { left: number },
): void {
  for (const [name, member] of Object.entries(value)) {
    if (budget.left-- <= 0) return;
    const at = [...path, name];
    if (isInline(member)) {
      const key = JSON.stringify(at);
      const known = seen.get(key) ?? { path: at, entries: 0, values: new Set<InlineValue>(), inMessage: 0, length: 0 };
      seen.set(key, known);
      known.entries++;
      known.values.add(member);
      known.length += String(member).length;
      if (message.includes(String(member))) known.inMessage++;
    } else if (typeof member === "object" && member !== null && !Array.isArray(member) && at.length < LOOK.depth) {
      visit(member, at, message, seen, budget);
    }
  }
}

/** Values that identify: UUIDs, and numbers in hexadecimal of at least 12 digits. */
const ID = /^(?:[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|(?=.*\d)[\da-f]{12,})$/i;
/** Names of members that identify a span, a trace or a request. */
const ID_NAME = /^(?:(?:parent)?(?:span|trace)(?:[._-]?id)?|uuid|guid)$/i;
/** Different values up to which a member tells kinds of entries apart. */
const KINDS = 12;

/** Returns 0 for a member that all entries have with one value, if there are several. */
function score(seen: Seen, all: number): number {
  const varies = seen.values.size > 1 || (seen.entries < all && all > 1);
  return !varies && all > 1 ? 0 : worth(seen, all);
}

function worth({ entries, values, inMessage, length, path }: Seen, all: number): number {
  if (isIdentity(path, values)) return 0;
  const isId = entries > 4 && values.size > entries * 0.9 && [...values].every((value) => typeof value === "string");
  return (
    (entries / all) *
    (1 - (0.9 * inMessage) / entries) *
    (isId ? 0.15 : 1) *
    (values.size <= KINDS ? 2 : 1) *
    (1 / (1 + length / entries / 16)) *
    (1 / path.length ** 0.5)
  );
}

function isIdentity(path: readonly string[], values: ReadonlySet<InlineValue>): boolean {
  if (ID_NAME.test(path.at(-1) ?? "")) return true;
  return [...values].every((value) => typeof value === "string" && ID.test(value));
}

/** Control sequences of terminals, also those whose numbers are the marks of a pattern. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one.
const SEQUENCES = /\u001b\[(?:<N>|[0-9;:])*[@-~]/g;

/** Returns a text without the control sequences of terminals, for a place that shows no colours. */
export function withoutColours(text: string): string {
  return text.includes("\u001b[") ? text.replace(SEQUENCES, "") : text;
}

/** Whether a value has a place in one line. */
export function isInline(value: unknown): value is InlineValue {
  if (typeof value === "string") return value !== "" && value.length <= LOOK.length && !value.includes("\n");
  return typeof value === "number" || typeof value === "boolean";
}
