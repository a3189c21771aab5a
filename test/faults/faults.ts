import { EVERYTHING } from "./filters.ts";
import type { Counts } from "./protocol.ts";
import { Random } from "./random.ts";
import { readPages } from "./reader.ts";
import { drain, type Past, playRound, refuse } from "./round.ts";
import { added, FaultServer } from "./server.ts";
import { Broken, Service } from "./service.ts";
import { digestOf } from "./verify.ts";
import { Course } from "./world.ts";
import { send } from "./writer.ts";

export interface FaultOptions {
  rounds: number;
  /** Seed of the first round; each further round adds 1. */
  seed: number;
  port?: number | undefined;
  report?: (line: string) => void;
  /** Names of figures: while one of them is 0, further rounds are played, at most as many as `rounds`. */
  needed?: readonly string[];
}

/**
 * Plays rounds on one server, one after the other, each in a separate workspace, and verifies all of them again at the
 * end. A round's seed fixes what is sent and requested, the order and pauses of each actor, and the faults with their
 * chances, but not how all of that interleaves.
 * @throws Broken with the seed and the problem
 */
export async function runFaults(options: FaultOptions): Promise<Counts> {
  const { rounds, seed, port, report = () => {}, needed = [] } = options;
  const server = await FaultServer.start(port);
  const service = new Service(server);
  let figures: Counts = {};
  const pasts: Past[] = [];
  try {
    const lacks = async (): Promise<boolean> => {
      const counts = added(figures, await server.counts());
      return needed.some((name) => !counts[name]);
    };
    for (let round = 0; round < rounds || (round < 2 * rounds && (await lacks())); round++) {
      const startedAt = performance.now();
      const played = await playRound(service, seed + round).catch((error: unknown) => {
        throw new Broken([`Round with seed ${seed + round}:`, messageOf(error), ...server.bugs].join("\n  "));
      });
      refuse(server.bugs);
      figures = added(figures, played.figures);
      pasts.push(played.past);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      report(`seed ${seed + round}, ${seconds} s: ${textOf(played.figures)}`);
    }
    for (const past of pasts) await lookAgain(service, past);
    const { unavailable, lost } = service.figures;
    const faults = await server.counts();
    return { rounds: pasts.length, ...figures, "answers 503": unavailable, "answers lost": lost, ...faults };
  } catch (error) {
    report(server.output.slice(-20).join("\n"));
    throw error;
  } finally {
    await server.stop();
  }
}

/** Verifies an earlier workspace: repeats of batches in the cold tier succeed, and every entry is unchanged. */
async function lookAgain(service: Service, { name, account, projects }: Past): Promise<void> {
  const [first, ...others] = projects;
  if (!first) return;
  const course = new Course();
  const kept = [first.project, ...others.map(({ project }) => project)] as const;
  const world = { name, service, account, kept, deletedProject: first.project, random: new Random(0), course };
  for (const { project, batches } of projects) {
    await Promise.all(batches.map((batch) => send(service, project, batch, course)));
  }
  await drain(service, account);
  for (const { project, digest, entries } of projects) {
    const wish = { projects: [project], filter: EVERYTHING, order: "desc", limit: 1000 } as const;
    const { rows } = await readPages(world, wish, `${name} at the end`);
    const now = digestOf(rows.sort((a, b) => a.seq - b.seq));
    if (now !== digest) course.report([`${name}, ${project.name}: ${rows.length} entries instead of the ${entries}`]);
    project.forget();
  }
  refuse(course.problems);
}

export function textOf(figures: Counts): string {
  return Object.entries(figures)
    .map(([name, count]) => `${count.toLocaleString("en")} ${name}`)
    .join(", ");
}

function messageOf(error: unknown): string {
  if (error instanceof Broken) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
