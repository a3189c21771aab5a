import type { Table } from "../../../charts/chart-data.ts";
import type { Release } from "../../../charts/releases.ts";
import { columnPlaces } from "../column-places.ts";
import type { TimeSpan } from "../compare/spans-of-time.ts";

/** Which versions begin in a span of time, by the entries that carry them. */

/** Names of members of `data` that hold a version, as senders write them, without their parents, the most specific first. */
const SPELLINGS = [
  ...["service.version", "service_version", "serviceVersion"],
  ...["app.version", "app_version", "appVersion", "release", "version"],
];
const NAMES = SPELLINGS.map((name) => name.toLowerCase());
/** Members that hold the attributes of a sender. */
const PARENTS = ["data", "resource", "attributes", "labels"];
const PARENT = new RegExp(`^(?:${PARENTS.join("|")})\\.`);
/** Entries in which a field with versions is looked for. */
const EXAMINED = 20;

/** Asks for the newest entries with a member that may hold a version. */
export function versionedQuery(): string {
  const names = ["", ...PARENTS.map((parent) => `${parent}.`)].flatMap((parent) =>
    SPELLINGS.map((name) => `${parent}${name}:*`),
  );
  return `(${names.join(" OR ")}) | limit ${EXAMINED}`;
}

/** Returns the field of a list that holds versions, as queries name it; `null` if none does. */
export function versionFieldIn(fields: readonly { name: string; type: string }[]): string | null {
  let best: string | null = null;
  let place = NAMES.length;
  for (const { name, type } of fields) {
    if (type !== "string" && type !== "number") continue;
    const plain = name.replaceAll('"', "").toLowerCase();
    const found = [plain, plain.replace(PARENT, "")].map((each) => NAMES.indexOf(each)).filter((at) => at >= 0);
    const at = Math.min(NAMES.length, ...found);
    if (at < place) [best, place] = [name, at];
  }
  return best;
}

/** Values from which a field numbers records and not releases. */
const MANY = 200;
/** Releases that are shown, the newest. */
const SHOWN = 20;
/**
 * Times the usual time between two entries of a version, within which the first one of a version that ran before the span
 * is expected: of entries at random times, 1 in 150 is later.
 */
const GAPS = 5;

/** Parts of a span: the time of one before it shows which versions ran before, so that one that begins with the span is found. */
const LEADS = 12;

/** Returns where to look from for the releases of a span, epoch milliseconds: a date also for the first span that dates have. */
export function leadStart({ start, end }: TimeSpan): number {
  return Math.max(Math.floor(start - (end - start) / LEADS), Math.min(start, 0));
}

/** Asks for the first and last time of each version. */
export function releasesQuery(field: string): string {
  const stats = "min(time) as first, max(time) as last, count() as entries";
  return `${field}:* | stats ${stats} by ${field}, service | sort first desc | limit ${MANY + 1}`;
}

/**
 * Reads the answer to `releasesQuery`: the versions that begin in a span, the oldest first. Leaves out those that ran before it.
 * @param start of the span, epoch milliseconds
 * @param leastMs after the start in which a version may have run before, at least
 */
export function releasesOf(table: Table, start: number, leastMs: number): Release[] {
  if (table.rows.length > MANY) return [];
  const [first, last, entries] = columnPlaces(table, ["first", "last", "entries"]);
  const versions = table.rows
    .flatMap((row) => {
      const [version, service] = row;
      const [at, end, count] = [timeOf(row[first]), timeOf(row[last]), Number(row[entries])];
      if (typeof version !== "string" && typeof version !== "number") return [];
      const gap = count > 1 ? (end - at) / (count - 1) : 0;
      const isNew = at - start >= Math.max(leastMs, GAPS * gap);
      return [{ version: String(version), service: typeof service === "string" ? service : null, at, isNew }];
    })
    .sort((a, b) => a.at - b.at);
  return versions
    .flatMap(({ isNew, ...release }, index): Release[] => {
      const before = versions.slice(0, index).findLast(({ service }) => service === release.service);
      return isNew ? [{ ...release, previous: before?.version ?? null }] : [];
    })
    .slice(-SHOWN);
}

/** Epoch milliseconds; `NaN` for other values. */
function timeOf(value: unknown): number {
  return typeof value === "number" ? value : Date.parse(String(value));
}

/** Parts of all time, which has nothing before it: a version that begins in the first one may have run before the entries that are kept. */
const PARTS = 60;

/**
 * Returns where the releases of a span are looked for, and what finds them in the answer: every page shows the same ones.
 * @param isAll whether the span is all time
 */
export function releasesSearch(span: TimeSpan, isAll: boolean): { start: number; read: (answer: Table) => Release[] } {
  const start = isAll ? span.start : leadStart(span);
  const leastMs = isAll ? (span.end - span.start) / PARTS : 0;
  return { start, read: (answer) => releasesOf(answer, start, leastMs).filter(({ at }) => at >= span.start) };
}

/** Parts of a span whose entries show what a release has changed. */
const PART = 4;
const MINUTE = 60_000;

/** Returns the time to compare with the one before: from a release to the next of its service, at most a part of the whole span. */
export function spanAfter(release: Release, releases: readonly Release[], { start, end }: TimeSpan): TimeSpan {
  const next = releases.find(({ service, at }) => service === release.service && at > release.at)?.at ?? end;
  const last = Math.min(next, end, release.at + Math.round((end - start) / PART));
  return { start: release.at, end: Math.max(last, release.at + MINUTE) };
}

/** Parameters of a comparison with the span whose releases are offered, while one of them is chosen: the compared one is shorter. */
export const OFFERED = ["releasesFrom", "releasesTo"] as const;

/** Returns the parameters of `OFFERED`, to append to an address that has others. */
export function offeredSearch({ start, end }: TimeSpan): string {
  const [from, to] = OFFERED;
  return `&${new URLSearchParams({ [from]: new Date(start).toISOString(), [to]: new Date(end).toISOString() })}`;
}

/** Compares a range with the one before, with further parameters of the address. */
export type CompareRange = (start: number, end: number, further?: string) => void;

/** Returns how a release of a span is compared: the time after it with the one before; `undefined` where nothing compares. */
export function comparing(
  compare: CompareRange | undefined,
  releases: readonly Release[],
  span: TimeSpan,
): ((release: Release) => void) | undefined {
  return (
    compare &&
    ((release) => {
      const { start, end } = spanAfter(release, releases, span);
      compare(start, end, offeredSearch(span));
    })
  );
}
