import { createHash } from "node:crypto";
import type { SentBatch, SentEntry } from "./batch.ts";
import type { Project, Row } from "./project.ts";
import type { Look } from "./protocol.ts";
import type { Bucket, Count, Read } from "./reader.ts";
import type { TailReader } from "./tail.ts";

/** All entries of a project in order of `seq`, beginning with 1. */
export type Truth = readonly Row[];

/**
 * Returns what is wrong with the content of a project, given everything sent to it; empty if every guarantee holds. A
 * batch without a response is stored whole or not at all.
 */
export function truthProblems(project: Project, truth: Truth): string[] {
  const wrong: string[] = [];
  const hole = truth.findIndex(({ seq }, index) => seq !== index + 1);
  if (hole >= 0) wrong.push(`seq ${truth[hole]?.seq} is in the place of ${hole + 1}`);
  const byMessage = new Map(truth.map(({ seq, message }) => [message, seq]));
  if (byMessage.size !== truth.length) wrong.push(`${truth.length - byMessage.size} entries are there more than once`);
  let stored = 0;
  for (const { name, entries, receipt } of project.batches) {
    const firstSeq = receipt?.firstSeq ?? byMessage.get(entries[0]?.message ?? "");
    if (firstSeq === undefined) {
      const some = entries.filter(({ message }) => byMessage.has(message)).length;
      if (some > 0) wrong.push(`${name}: ${some} of ${entries.length} entries are there`);
      continue;
    }
    stored += entries.length;
    const lost = entries.filter((entry, index) => !isSame(entry, truth[firstSeq - 1 + index])).length;
    if (lost > 0) wrong.push(`${name} at ${firstSeq}: ${lost} of ${entries.length} entries are not in their place`);
  }
  if (stored !== truth.length) wrong.push(`${truth.length} entries are there, ${stored} were stored`);
  if (truth.length < project.ackedSeq) wrong.push(`${truth.length} are there, ${project.ackedSeq} were acknowledged`);
  return wrong.map((problem) => `${project.name}: ${problem}`);
}

const ON_ITS_WAY_MS = 30_000;

function isSame({ timestamp, data, ...sent }: SentEntry, row: Row | undefined): boolean {
  if (row === undefined) return false;
  const { level, category, type, message } = row;
  if (message !== sent.message || level !== sent.level || category !== sent.category || type !== sent.type)
    return false;
  if (timestamp !== null && row.timestamp !== new Date(timestamp).toISOString()) return false;
  // The router sets a missing timestamp, shortly before the object sets the time of receipt.
  const onItsWay = Date.parse(row.receivedAt) - Date.parse(row.timestamp);
  if (timestamp === null && (onItsWay < 0 || onItsWay > ON_ITS_WAY_MS)) return false;
  return JSON.stringify(row.data) === JSON.stringify(data);
}

/** Returns what is wrong with the pages of a query: for each project they must hold its entries at one moment. */
export function readProblems({ where, filter, order, since, rows }: Read, truths: Map<Project, Truth>): string[] {
  const wrong: string[] = [];
  const sign = order === "asc" ? 1 : -1;
  const misplaced = rows.findIndex((row, index) => {
    const before = rows[index - 1];
    return before !== undefined && sign * compare(before, row) >= 0;
  });
  if (misplaced >= 0) wrong.push(`row ${misplaced} (${rows[misplaced]?.id}) is not in order, or is there twice`);
  for (const [project, acked] of since) {
    const truth = truths.get(project);
    if (!truth) continue;
    const found = new Set(rows.filter(({ projectId }) => projectId === project.id).map(({ seq }) => seq));
    const until = Math.max(acked, ...found);
    const expected = truth.slice(0, until).filter(filter.keeps);
    const missing = expected.filter(({ seq }) => !found.has(seq)).map(({ seq }) => seq);
    if (missing.length > 0)
      wrong.push(`of ${project.name} ${missing.length} are missing up to ${until}: ${some(missing)}`);
    const foreign = found.size + missing.length - expected.length;
    if (foreign > 0) wrong.push(`of ${project.name} ${foreign} do not belong there`);
  }
  return wrong.map((problem) => `${where} (${order}, ${JSON.stringify(filter.filters)}): ${problem}`);
}

/** By timestamp, then `seq`, then project. */
function compare(a: Row, b: Row): number {
  const difference = Date.parse(a.timestamp) - Date.parse(b.timestamp) || a.seq - b.seq;
  return difference || (a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : 0);
}

/** Returns what is wrong with a second read of a snapshot, which must equal the first one. */
export function snapshotProblems(first: Read, again: Read): string[] {
  const ids = (read: Read) => read.rows.map(({ id }) => id).sort();
  const [before, after] = [ids(first), ids(again)];
  if (before.length === after.length && before.every((id, index) => id === after[index])) return [];
  return [`${first.where}: the snapshot had ${before.length} entries, and has ${after.length}`];
}

/** Returns what is wrong with a histogram, which must count the project's entries at one moment since the request. */
export function countProblems(counted: Count, truth: Truth, isLast: boolean): string[] {
  const { where, filter, intervalMs, groupBy, project, since, answer } = counted;
  const name = `${where} of ${project.name} (${JSON.stringify(filter.filters)})`;
  const { buckets, total, complete } = answer;
  const wrong = bucketProblems(buckets, total, groupBy !== null);
  if (!complete) wrong.push("it is not complete");
  /** The difference of the entries up to a `seq` and the response, by bucket and group; zeros are removed. */
  const beyond = new Map<string, number>();
  const add = (key: string, more: number) => {
    const sum = (beyond.get(key) ?? 0) + more;
    if (sum === 0) beyond.delete(key);
    else beyond.set(key, sum);
  };
  for (const { start, count, groups } of buckets) {
    for (const [group, n] of Object.entries(groups ?? { "": count })) add(`${Date.parse(start)} ${group}`, -n);
  }
  const from = isLast ? truth.length : since;
  let isMatch = from === 0 && beyond.size === 0;
  for (const row of truth) {
    const start = Math.floor(Date.parse(row.timestamp) / intervalMs) * intervalMs;
    if (filter.keeps(row)) add(`${start} ${groupBy === null ? "" : row[groupBy]}`, 1);
    if (row.seq >= from && beyond.size === 0) isMatch = true;
  }
  const there = truth.filter(filter.keeps).length;
  if (!isMatch)
    wrong.push(`it counts ${total}, which the project has had at no moment since ${from}; now it has ${there}`);
  return wrong.map((problem) => `${name}: ${problem}`);
}

function bucketProblems(buckets: readonly Bucket[], total: number, isGrouped: boolean): string[] {
  const wrong: string[] = [];
  const sum = buckets.reduce((all, { count }) => all + count, 0);
  if (sum !== total) wrong.push(`its buckets hold ${sum}, its total is ${total}`);
  if (buckets.some(({ start }, index) => index > 0 && start <= (buckets[index - 1]?.start ?? ""))) {
    wrong.push("its buckets are not in order");
  }
  const uneven = buckets.filter(({ count, groups = {} }) => {
    return count !== Object.values(groups).reduce((all, n) => all + n, 0);
  });
  if (isGrouped && uneven.length > 0)
    wrong.push(`the groups of ${uneven.length} buckets do not add up to their totals`);
  return wrong;
}

/** Returns what is wrong with everything a tail received in all its connections. */
export function tailProblems({ rows, filter, place, state }: TailReader, truth: Truth, name: string): string[] {
  const wrong: string[] = [];
  const expected = truth.filter(filter.keeps);
  if (place !== truth.length) wrong.push(`it ended at ${place} of ${truth.length}`);
  const at = expected.findIndex(({ seq }, index) => rows[index]?.seq !== seq);
  if (at >= 0) wrong.push(`it delivered ${rows[at]?.seq} instead of ${expected[at]?.seq}`);
  if (rows.length !== expected.length) wrong.push(`it delivered ${rows.length} entries of ${expected.length}`);
  return wrong.map((problem) => `tail ${name} (${JSON.stringify(filter.filters)}): ${problem}; ${state}`);
}

/** Returns what is wrong in storage after all work has completed. */
export function diskProblems(look: Look, truths: Map<Project, Truth>): string[] {
  const wrong: string[] = [];
  const { projects, segments, orphans, deletedProjects, intents, setAside, strayFiles, missingFiles } = look;
  const files = { strayFiles: strayFiles.length, missingFiles: missingFiles.length };
  const rests = { orphans, deletedProjects, intents: intents.length, setAside, ...files };
  for (const [name, rest] of Object.entries(rests)) if (rest > 0) wrong.push(`${name}: ${rest}`);
  if (projects.length !== truths.size) wrong.push(`there are ${projects.length} projects`);
  for (const [{ id, name }, truth] of truths) {
    const project = projects.find((each) => each.id === id);
    const own = segments.filter(({ projectId }) => projectId === id);
    const cold = own.reduce((sum, { count }) => sum + count, 0);
    if (project === undefined) wrong.push(`${name} is not there`);
    else {
      const { lastSeq, flushedSeq, waiting, recent } = project;
      if (lastSeq !== truth.length) wrong.push(`${name} ends at ${lastSeq}, not ${truth.length}`);
      if (cold !== flushedSeq) wrong.push(`${name} has ${cold} entries in the cold tier, up to ${flushedSeq}`);
      if (JSON.stringify(waiting) !== JSON.stringify(recent)) {
        wrong.push(`${name} counts ${JSON.stringify(waiting)} as waiting, and has ${JSON.stringify(recent)}`);
      }
      if (cold + recent.entries !== lastSeq) wrong.push(`${name} has ${cold} + ${recent.entries} of ${lastSeq}`);
    }
  }
  const ids = new Set([...truths.keys()].map(({ id }) => id));
  const foreign = segments.filter(({ projectId }) => !ids.has(projectId)).length;
  if (foreign > 0) wrong.push(`${foreign} segments of no project are in the cold tier`);
  return wrong.map((problem) => `on disk: ${problem}`);
}

/** A hash of all entries of a project. */
export function digestOf(truth: Truth): string {
  const hash = createHash("sha256");
  for (const row of truth) hash.update(JSON.stringify(row));
  return hash.digest("hex");
}

/** Batches whose outcome must be known by now. */
export function unsent({ batches }: Project): SentBatch[] {
  return batches.filter(({ key, receipt }) => key !== null && receipt === null);
}

function some(seqs: readonly number[]): string {
  return seqs.length > 5 ? `${seqs.slice(0, 5).join(", ")}, ...` : seqs.join(", ");
}
