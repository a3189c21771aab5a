import { setTimeout as wait } from "node:timers/promises";
import { makeBatch, type SentBatch } from "./batch.ts";
import { EVERYTHING, type Filter, timeFilter } from "./filters.ts";
import { anyPlan, compact, deleteInBetween, kill, roundSettings, wreak } from "./havoc.ts";
import type { Project } from "./project.ts";
import { CALM, type Counts, type Look } from "./protocol.ts";
import { Random } from "./random.ts";
import { type Count, contextProblems, count, countAll, lookUp, type Read, read, readPages } from "./reader.ts";
import { type Account, Broken, type Service } from "./service.ts";
import { TailReader } from "./tail.ts";
import {
  countProblems,
  digestOf,
  diskProblems,
  readProblems,
  snapshotProblems,
  type Truth,
  tailProblems,
  truthProblems,
  unsent,
} from "./verify.ts";
import { Course, type World } from "./world.ts";
import { conflict, send, write } from "./writer.ts";

/**
 * Milliseconds of a round's load: at least a random value from `LOAD_MS`, then until enough is sent, at most
 * `LOAD_MOST_MS`.
 */
const LOAD_MS = [1500, 2800] as const;
const LOAD_MOST_MS = 8000;
/** The number of batches that is enough. */
const LOAD_BATCHES = [60, 160] as const;
/** Milliseconds in which all work must complete once no faults are caused. */
const REST_MS = 90_000;
/** Old batches to repeat at the end of a round, and to keep for the end of the run. */
const RETRIES = 25;
const KEPT = 8;
const SNAPSHOTS = 4;
const CONTEXTS = 6;

const ERRORS: Filter = { filters: { level: "error" }, keeps: ({ level }) => level === "error" };

/** A workspace after its round, to be verified again at the end of the run. */
export interface Past {
  name: string;
  account: Account;
  projects: { project: Project; digest: string; entries: number; batches: SentBatch[] }[];
}

/** Plays one round: a separate workspace, load and faults together, then verifies every guarantee. */
export async function playRound(service: Service, seed: number): Promise<{ past: Past; figures: Counts }> {
  const random = new Random(seed);
  const name = `r${seed}`;
  await service.server.plan(CALM);
  const { projects, ...account } = await service.tenant(["first", "second", "deleted"]);
  const { first, second, deleted: deletedProject } = projects;
  const course = new Course();
  const world: World = { name, service, account, kept: [first, second], deletedProject, random, course };
  const tails = [
    new TailReader(world, first, EVERYTHING, "whole"),
    new TailReader(world, first, ERRORS, "errors"),
    new TailReader(world, second, EVERYTHING, "whole"),
    new TailReader(world, deletedProject, EVERYTHING, "deleted"),
  ];
  const load = await runLoad(world, tails);
  const truths = await judge(world, tails, load);
  const figures = figuresOf(world, truths, tails, load);
  const past: Past = { name, account, projects: [] };
  for (const [project, truth] of truths) {
    const known = project.batches.filter(({ key, receipt }) => key !== null && receipt !== null);
    const batches = random.sample(known, KEPT);
    past.projects.push({ project, digest: digestOf(truth), entries: truth.length, batches });
    project.forget();
  }
  return { past, figures };
}

interface Load {
  reads: Read[];
  counts: Count[];
  kills: number;
  ackedAtOnce: number;
}

async function runLoad(world: World, tails: readonly TailReader[]): Promise<Load> {
  const { course, service, kept, deletedProject, random } = world;
  const settings = roundSettings(random);
  await service.server.plan(anyPlan(random, settings));
  // The object was created with other settings.
  await service.server.order({ do: "abort", workspaceId: world.account.workspaceId });
  const load: Load = { reads: [], counts: [], kills: 0, ackedAtOnce: 0 };
  const act = (name: string, actor: () => Promise<unknown>) => course.run(name, async () => void (await actor()));
  // They continue until the end of the round.
  for (const tail of tails) void act("tail", () => tail.follow());
  await Promise.all([
    act("clock", () => runClock(world)),
    ...[...kept, ...kept, deletedProject].map((project, index) =>
      act("writer", () => write(world, project, `w${index}`)),
    ),
    act("reader 1", () => read(world, "reader 1", load.reads)),
    act("reader 2", () => read(world, "reader 2", load.reads)),
    act("counter", () => count(world, "counter", load.counts)),
    act("context", () => lookUp(world, "context")),
    ...tails.map((tail) => act("dropper", () => tail.dropAround())),
    act("havoc", () => wreak(world, settings)),
    act("kill", async () => {
      load.kills = await kill(world);
    }),
    act("delete", () => deleteInBetween(world)),
  ]);
  refuse(course.problems);
  await service.server.plan({ ...CALM, settings });
  load.ackedAtOnce = kept.flatMap(({ batches }) => batches).filter(({ receipt }) => receipt !== null).length;
  return load;
}

async function runClock({ course, kept, random: seeded }: World): Promise<void> {
  const random = seeded.fork("clock");
  const endAt = performance.now() + LOAD_MOST_MS;
  const batches = random.int(...LOAD_BATCHES);
  await course.pause(random.int(...LOAD_MS));
  const sent = () => kept.reduce((sum, project) => sum + project.batches.length, 0);
  while (!course.isOver && performance.now() < endAt && sent() < batches) await course.pause(20);
  course.end();
}

/** Compares everything known with everything stored. @returns what is stored */
async function judge(world: World, tails: readonly TailReader[], load: Load): Promise<Map<Project, Truth>> {
  const { kept, random, service, course } = world;
  await takeTruths(world, "before the retries");
  await sendAgain(world);
  // At least two ranges of each project, which are merged, and sometimes entries in the recent tier.
  for (const name of ["a", "b"]) {
    await sendOne(world, name);
    await drain(service, world.account);
  }
  await compact(world, true);
  if (random.oneIn(2)) await service.server.order({ do: "age-merges", workspaceId: world.account.workspaceId });
  if (random.oneIn(2)) await sendOne(world, "c");
  const truths = await takeTruths(world, "after the retries");
  const problems: string[] = [...course.problems];
  for (const found of load.reads) problems.push(...readProblems(found, truths));
  for (const counted of load.counts) problems.push(...countProblems(counted, truths.get(counted.project) ?? [], false));
  problems.push(...(await finalReads(world, truths, load.reads)));
  for (const project of kept) {
    const truth = truths.get(project) ?? [];
    const filters = [EVERYTHING, timeFilter(random, Date.now()), ERRORS];
    const counts = await countAll(world, project, filters);
    for (const counted of counts) problems.push(...countProblems(counted, truth, true));
    for (const row of random.sample(truth, CONTEXTS)) {
      problems.push(...(await contextProblems(service, project, row, 20, 20, truth.length)));
    }
  }
  problems.push(...(await finalTails(tails, truths)));
  problems.push(...(await finalDisk(world, truths)), ...course.problems);
  refuse(problems);
  return truths;
}

/** Reads all of each project in small pages, and verifies every known outcome. */
async function takeTruths(world: World, when: string): Promise<Map<Project, Truth>> {
  const truths = new Map<Project, Truth>();
  const problems: string[] = [];
  for (const project of world.kept) {
    const wish = { projects: [project], filter: EVERYTHING, order: "asc", limit: world.random.int(100, 1000) } as const;
    const found = await readPages(world, wish, when);
    const truth = [...found.rows].sort((a, b) => a.seq - b.seq);
    problems.push(...truthProblems(project, truth));
    problems.push(...readProblems(found, new Map([[project, truth]])));
    truths.set(project, truth);
  }
  refuse([...problems, ...world.course.problems].map((problem) => `${when}: ${problem}`));
  return truths;
}

/** Repeats batches without a response until they have one, and some of the others, also with another body. */
async function sendAgain({ kept, random, service, course }: World): Promise<void> {
  for (const project of kept) {
    const known = project.batches.filter(({ key, receipt }) => key !== null && receipt !== null);
    await Promise.all([
      ...[...unsent(project), ...random.sample(known, RETRIES)].map((batch) => send(service, project, batch, course)),
      ...random.sample(known, 3).map((batch) => conflict(service, project, batch, course)),
    ]);
    const left = unsent(project).length;
    if (left > 0) course.report([`${left} batches of ${project.name} were not answered`]);
  }
  refuse(course.problems);
}

/** Sends a batch to each project, until it is acknowledged. */
async function sendOne({ name: round, kept, random, service, course }: World, name: string): Promise<void> {
  for (const project of kept) {
    const batch = makeBatch(random, `${round}.${project.name}.last.${name}`, Date.now(), false);
    batch.key ??= batch.name;
    project.batches.push(batch);
    for (let attempt = 0; attempt < 5 && batch.receipt === null; attempt++) await send(service, project, batch, course);
  }
}

/** Reads in descending order, too, and reads earlier snapshots again. */
async function finalReads(world: World, truths: Map<Project, Truth>, reads: readonly Read[]): Promise<string[]> {
  const { random, kept } = world;
  const problems: string[] = [];
  const wish = { filter: EVERYTHING, order: "desc" } as const;
  for (const project of kept) {
    const found = await readPages(world, { ...wish, projects: [project], limit: random.int(50, 400) }, "last read");
    problems.push(...readProblems(found, truths));
  }
  problems.push(...readProblems(await readPages(world, { ...wish, projects: kept, limit: 1000 }, "whole"), truths));
  const single = reads.filter(({ since }) => since.size === 1);
  for (const first of random.sample(single, SNAPSHOTS)) {
    const { filter, asOf, since } = first;
    const order = first.order === "asc" ? "desc" : "asc";
    const again = { projects: [...since.keys()], filter, order, limit: random.int(100, 1000), asOf } as const;
    problems.push(...snapshotProblems(first, await readPages(world, again, `${first.where} again`)));
  }
  return problems;
}

async function finalTails(tails: readonly TailReader[], truths: Map<Project, Truth>): Promise<string[]> {
  const problems: string[] = [];
  for (const tail of tails) {
    const truth = truths.get(tail.project);
    if (truth) {
      // The last entries may be excluded, so a filtered tail gets the final position only when it reconnects.
      if (tail.filter !== EVERYTHING) tail.drop();
      await until(() => tail.place >= truth.length);
      problems.push(...tailProblems(tail, truth, tail.project.name));
    } else if (tail.isConnected) problems.push("the deleted project's tail is still open");
    tail.stop();
  }
  return problems;
}

/** Verifies that nothing of the deleted project is left, and that the tiers hold what they report. */
async function finalDisk({ service, account }: World, truths: Map<Project, Truth>): Promise<string[]> {
  const { server } = service;
  const { workspaceId } = account;
  await drain(service, account);
  await server.order({ do: "quiet" });
  await server.order({ do: "age-deletions", workspaceId });
  await untilLook(service, account, ({ deletedProjects }) => deletedProjects === 0);
  const usage = await service.data<Usage>(`/workspaces/${workspaceId}/usage`, account);
  const entries = [...truths.values()].reduce((sum, truth) => sum + truth.length, 0);
  const { recent, stored, flush } = usage;
  const problems = diskProblems(await server.look(workspaceId), truths);
  if (recent.entries + (stored?.entries ?? 0) !== entries || flush.setAside > 0) {
    problems.push(`usage tells of ${JSON.stringify(usage)}, with ${entries} entries there`);
  }
  return problems;
}

interface Usage {
  recent: { entries: number };
  stored: { entries: number } | null;
  flush: { setAside: number; lastError: string | null };
}

/** Moves everything that is due to the cold tier. */
export async function drain(service: Service, account: Account): Promise<void> {
  await untilLook(service, account, ({ intents, projects }) => {
    return intents.length === 0 && projects.every(({ waiting }) => waiting.bytes === 0);
  });
}

/** Restarts an object and runs its alarms until a condition on its storage holds. */
async function untilLook({ server }: Service, { workspaceId }: Account, isSo: (look: Look) => boolean): Promise<void> {
  await server.plan(CALM);
  await server.order({ do: "abort", workspaceId });
  const giveUpAt = performance.now() + REST_MS;
  for (;;) {
    const fault = await server.order({ do: "alarm", workspaceId, times: 1, atOnce: false, isEager: true });
    if (fault !== null) throw new Broken(`an alarm threw: ${fault}`);
    const look = await server.look(workspaceId);
    if (isSo(look)) return;
    if (performance.now() > giveUpAt) throw new Broken(`It does not come to rest: ${JSON.stringify(look)}`);
    await wait(50);
  }
}

async function until(holds: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + REST_MS;
  while (!holds() && performance.now() < giveUpAt) await wait(20);
}

/** @throws Broken with the first problem */
export function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const more = problems.length > 10 ? `\n  and ${problems.length - 10} more` : "";
  throw new Broken(`${problems.slice(0, 10).join("\n  ")}${more}`);
}

function figuresOf({ kept }: World, truths: Map<Project, Truth>, tails: readonly TailReader[], load: Load): Counts {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const { reads, counts, kills, ackedAtOnce } = load;
  return {
    entries: sum([...truths.values()].map((truth) => truth.length)),
    batches: sum(kept.map(({ batches }) => batches.length)),
    "acknowledged under fire": ackedAtOnce,
    kills,
    queries: reads.length,
    "rows read": sum(reads.map(({ rows }) => rows.length)),
    histograms: counts.length,
    "tails opened": sum(tails.map(({ opened }) => opened)),
    "closes unanswered": sum(tails.map(({ unanswered }) => unanswered)),
  };
}
