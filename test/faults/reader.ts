import { setTimeout as wait } from "node:timers/promises";
import type { CallOptions } from "../support/api.ts";
import { anyFilter, anyStatsFilter, type Filter } from "./filters.ts";
import type { Project, Row } from "./project.ts";
import { Broken, type Service } from "./service.ts";
import type { World } from "./world.ts";

/** All pages of one query. */
export interface Read {
  where: string;
  filter: Filter;
  order: "asc" | "desc";
  /**
   * The acknowledged `seq` at its start, by project: everything up to it must be returned. Only these projects are
   * read.
   */
  since: Map<Project, number>;
  rows: Row[];
  asOf: string;
}

/** One histogram of one project. */
export interface Count {
  where: string;
  filter: Filter;
  intervalMs: number;
  groupBy: "level" | "category" | "type" | null;
  project: Project;
  since: number;
  answer: { buckets: Bucket[]; total: number; complete: boolean };
}

export interface Bucket {
  start: string;
  count: number;
  groups?: Record<string, number>;
}

const MINUTE_MS = 60_000;
const INTERVALS = [
  ["1m", MINUTE_MS],
  ["5m", 5 * MINUTE_MS],
  ["1h", 60 * MINUTE_MS],
  ["1d", 24 * 60 * MINUTE_MS],
] as const;

const REST_MS = 60;

/** Pages through snapshots while entries move. The pages are verified at the end of the round. */
export async function read(world: World, name: string, reads: Read[]): Promise<void> {
  const { course, kept } = world;
  const random = world.random.fork(name);
  while (!course.isOver) {
    const wholeWorkspace = random.oneIn(4);
    const projects = wholeWorkspace ? [...kept, world.deletedProject] : [random.pick(kept)];
    const wish = {
      projects,
      filter: anyFilter(random, Date.now()),
      order: random.pick(["asc", "desc"] as const),
      limit: random.oneIn(3) ? 1000 : random.int(20, 300),
    };
    const isDeleted = world.deletedProject.deletion === "done";
    const found = await readPages(world, wish, `${name}, read ${reads.length}`);
    if (isDeleted && found.rows.some(({ projectId }) => projectId === world.deletedProject.id)) {
      throw new Broken("A query found entries of a deleted project.");
    }
    reads.push(found);
    await course.pause(random.int(0, REST_MS));
  }
}

export interface Wish {
  projects: readonly Project[];
  filter: Filter;
  order: "asc" | "desc";
  limit: number;
  asOf?: string;
}

/** Reads all pages, with one project's key or in the whole workspace. Repeats a page that fails. */
export async function readPages({ service, account, course }: World, wish: Wish, where: string): Promise<Read> {
  const { projects, filter, order, limit } = wish;
  const since = new Map(projects.map((project) => [project, project.ackedSeq]));
  const byId = new Map(projects.map((project) => [project.id, project]));
  const [only] = projects;
  const caller: CallOptions = projects.length === 1 && only ? { token: only.key.secret } : account;
  const rows: Row[] = [];
  let asOf = wish.asOf ?? "";
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const pagination: object = { limit, ...(cursor === null ? {} : { cursor }) };
    const body = { filters: filter.filters, order, pagination, ...(wish.asOf === undefined ? {} : { asOf }) };
    const page: Page = await service.data<Page>("/logger/query", { ...caller, body });
    if (!first && page.asOf !== asOf) throw new Broken(`${where}: a page is of snapshot ${page.asOf}, not ${asOf}.`);
    asOf = page.asOf;
    for (const row of page.logs)
      course.report(byId.get(row.projectId)?.see(row, where) ?? [`${where}: ${row.id} is foreign`]);
    rows.push(...page.logs);
    cursor = page.pagination.nextCursor;
  }
  return { where, filter, order, since, rows, asOf };
}

interface Page {
  logs: Row[];
  pagination: { nextCursor: string | null };
  asOf: string;
}

/** Requests histograms while entries move. */
export async function count(world: World, name: string, counts: Count[]): Promise<void> {
  const { course, kept } = world;
  const random = world.random.fork(name);
  while (!course.isOver) {
    const filter = anyStatsFilter(random, Date.now());
    const groupBy = random.pick(["level", "category", "type", null] as const);
    const interval = random.pick(INTERVALS);
    counts.push(
      await countOnce(world.service, random.pick(kept), filter, interval, groupBy, `${name} ${counts.length}`),
    );
    await course.pause(random.int(0, 2 * REST_MS));
  }
}

/** Requests the same histogram with every interval, of all entries and of a time range. */
export async function countAll(world: World, project: Project, filters: readonly Filter[]): Promise<Count[]> {
  const counts: Count[] = [];
  for (const [index, filter] of filters.entries()) {
    for (const interval of INTERVALS) {
      const groupBy = (["level", "category", "type", null] as const)[(counts.length + index) % 4] ?? null;
      const where = `last count ${interval[0]} by ${groupBy}`;
      counts.push(await countOnce(world.service, project, filter, interval, groupBy, where));
    }
  }
  return counts;
}

async function countOnce(
  service: Service,
  project: Project,
  filter: Filter,
  [interval, intervalMs]: (typeof INTERVALS)[number],
  groupBy: Count["groupBy"],
  where: string,
): Promise<Count> {
  const since = project.ackedSeq;
  const body = { filters: filter.filters, interval, ...(groupBy === null ? {} : { groupBy }) };
  const answer = await service.data<Count["answer"]>("/logger/stats", { token: project.key.secret, body });
  return { where, filter, intervalMs, groupBy, project, since, answer };
}

/** Requests entries that were returned before, with their neighbours. */
export async function lookUp(world: World, name: string): Promise<void> {
  const { course, kept } = world;
  const random = world.random.fork(name);
  while (!course.isOver) {
    const project = random.pick(kept);
    const { ackedSeq } = project;
    const row = ackedSeq > 0 ? project.seen(random.int(1, ackedSeq)) : undefined;
    const [before, after] = [random.int(0, 30), random.int(0, 30)];
    if (row) course.report(await contextProblems(world.service, project, row, before, after, ackedSeq));
    else await wait(REST_MS);
    await course.pause(random.int(0, 2 * REST_MS));
  }
}

/** @param ackedSeq every entry up to here must be returned */
export async function contextProblems(
  service: Service,
  project: Project,
  { id, seq }: Row,
  before: number,
  after: number,
  ackedSeq: number,
): Promise<string[]> {
  const path = `/logger/${project.id}/log/${id}?before=${before}&after=${after}`;
  const context = await service.data<{ entry: Row; before: Row[]; after: Row[] }>(path, { token: project.key.secret });
  const rows = [...context.before, context.entry, ...context.after];
  const where = `context of ${project.name} ${seq}`;
  const wrong = rows.flatMap((row) => project.see(row, where));
  const first = Math.max(1, seq - before);
  if (context.entry.seq !== seq) wrong.push(`${where}: the entry is ${context.entry.seq}`);
  if (rows.some((row, index) => row.seq !== first + index)) wrong.push(`${where}: ${rows.map((row) => row.seq)}`);
  const last = rows.at(-1)?.seq ?? 0;
  if (last > seq + after || last < Math.min(seq + after, ackedSeq)) wrong.push(`${where}: ends at ${last}`);
  return wrong;
}
