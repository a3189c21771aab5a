import { patternOf } from "../../../../../src/logs/search/pattern.ts";
import { printFilter } from "../../../../../src/query-language/print.ts";
import { type Filter, joined } from "../../../../../src/query-language/syntax.ts";
import type { Release } from "../../../charts/releases.ts";
import type { LogEntry } from "../../../model/types.ts";
import { not, valueTest } from "../added-test.ts";

/** What the entries of a release have that those of the release before do not. */

/** A member of `data`, with its values as text; `null`: it is missing. */
export interface MemberChange {
  /** Path, as queries name it without quotes. */
  name: string;
  before: string | null;
  now: string | null;
}

export interface ReleaseChanges {
  /** The version before; `null` if none is known. */
  previous: string | null;
  /** `null`: no entry of the version before is like one of the release, so nothing can be compared. */
  members: readonly MemberChange[] | null;
}

/** A query of a batch about part of the time. */
interface SpanQuery {
  query: string;
  from: string;
  to: string;
}

/** Entries of each version that are compared. */
const ENTRIES = 20;
/** Milliseconds before a release in which the version before is looked for: the default retention. */
const BEFORE_MS = 30 * 86_400_000;
/** Milliseconds in which the hosts of a service start one after the other. */
export const STARTING_MS = 2 * 60_000;

/** The test for the entries of a version of a service. */
export function releaseTest(field: string, { version, service }: Pick<Release, "version" | "service">): Filter | null {
  const exists = valueTest(field, undefined);
  if (exists === null || exists.kind !== "field") return null;
  const isVersion: Filter = { ...exists, test: { kind: "is", text: version } };
  const isService = service === null ? null : valueTest("service", service);
  return isService === null ? isVersion : joined("and", [isVersion, isService]);
}

/**
 * Asks for the first entries of a release, the newest ones with another version before it, and the first ones of the version before, if it
 * is known: 3 queries at most.
 */
export function changeQueries(field: string, release: Release): SpanQuery[] {
  const [exists, own] = [valueTest(field, undefined), releaseTest(field, release)];
  if (exists === null || own === null) return [];
  const { service, at, previous } = release;
  const of = service === null ? [] : [valueTest("service", service)].filter((test) => test !== null);
  const before = printFilter(joined("and", [exists, ...of, not(own)]));
  const [from, to] = [new Date(at - BEFORE_MS).toISOString(), new Date(at).toISOString()];
  const until = new Date(at + STARTING_MS).toISOString();
  const first = previous === null ? null : releaseTest(field, { version: previous, service });
  return [
    { query: `${printFilter(own)} | sort time | limit ${ENTRIES}`, from: to, to: until },
    { query: `${before} | limit ${ENTRIES}`, from, to },
    ...(first === null ? [] : [{ query: `${printFilter(first)} | sort time | limit ${ENTRIES}`, from, to }]),
  ];
}

/**
 * Compares the entries that `changeQueries` finds: those of the first kind that both versions have, its entries of a start before
 * others. A member that differs between entries of one version, such as an id of a process, is left out.
 */
export function changesOf(
  field: string,
  { previous }: Release,
  answers: readonly (readonly LogEntry[])[],
): ReleaseChanges {
  const [own = [], newest = [], first = []] = answers;
  const name = plainName(field);
  const versionOf = (entry: LogEntry): string | null => textOf(membersOf(entry).get(name));
  const known = previous ?? (newest[0] === undefined ? null : versionOf(newest[0]));
  const old = [...first, ...newest].filter((entry) => versionOf(entry) === known);
  // The version in a message is no difference of kind, nor are its other parts that vary.
  const kindOf = (entry: LogEntry): string => {
    const { category, type, message } = entry;
    return `${category} ${type} ${patternOf(message.replaceAll(versionOf(entry) || "\n", "<N>"))}`;
  };
  const kinds = new Map(own.map((entry) => [kindOf(entry), entry]));
  const oldKinds = new Set(old.map(kindOf));
  const kind = [...kinds]
    .sort(([, a], [, b]) => Number(isStart(b)) - Number(isStart(a)))
    .find(([each]) => oldKinds.has(each))?.[0];
  if (kind === undefined) return { previous: known, members: null };
  const [before, now] = [old, own].map((entries) => settled(entries.filter((entry) => kindOf(entry) === kind)));
  const names = [...new Set([...(now?.keys() ?? []), ...(before?.keys() ?? [])])];
  const members = names.flatMap((each): MemberChange[] => {
    const [a, b] = [before?.get(each) ?? null, now?.get(each) ?? null];
    return each === name || a === b || a === VARIES || b === VARIES ? [] : [{ name: each, before: a, now: b }];
  });
  return { previous: known, members };
}

function isStart({ category, type }: LogEntry): boolean {
  return category === "system" && type === "startup";
}

/** Stands for the values of a member of which entries have different ones. No JSON text is empty. */
const VARIES = "";

/** Returns the members that all entries have with one value, and `VARIES` for the others. */
function settled(entries: readonly LogEntry[]): Map<string, string> {
  const all = entries.map(membersOf);
  const names = new Set(all.flatMap((members) => [...members.keys()]));
  return new Map(
    [...names].map((name) => {
      const values = new Set(all.map((members) => members.get(name)));
      const [value] = values;
      return [name, values.size === 1 && value !== undefined ? value : VARIES];
    }),
  );
}

/** Members of an entry that are compared. */
const MEMBERS = 500;
const DEPTH = 8;

/** Returns the members of `data` that are not objects, as JSON by their paths. */
function membersOf({ data }: LogEntry): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  const add = (value: unknown, path: string, depth: number): void => {
    if (members.size >= MEMBERS) return;
    if (typeof value !== "object" || value === null || Array.isArray(value) || depth === DEPTH) {
      members.set(path, JSON.stringify(value));
      return;
    }
    for (const [name, member] of Object.entries(value)) add(member, path === "" ? name : `${path}.${name}`, depth + 1);
  };
  for (const [name, value] of Object.entries(data ?? {})) add(value, name, 1);
  return members;
}

/** The path of a field without quotes, as `membersOf` writes it. */
function plainName(field: string): string {
  return field.replaceAll('"', "").replace(/^data\./, "");
}

/** Returns the text of a JSON string, and other values as they are written. */
export function textOf(json: string): string;
export function textOf(json: string | undefined): string | null;
export function textOf(json: string | undefined): string | null {
  if (json === undefined) return null;
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : json;
}
