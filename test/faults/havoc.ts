import { CALM, type Plan } from "./protocol.ts";
import type { Random } from "./random.ts";
import { ServerKilled } from "./server.ts";
import type { World } from "./world.ts";

/** Maximum milliseconds from one fault to the next. */
const REST_MS = 220;

/** The settings of a round's workspaces: when batches leave the object, and how many together. */
export function roundSettings(random: Random): Record<string, string> {
  return {
    RECENT_MAX_AGE_SECONDS: random.pick(["1", "1", "3600"]),
    RECENT_MAX_BYTES: random.pick(["10000", "10000", "40000", "150000"]),
  };
}

export function anyPlan(random: Random, settings: Plan["settings"]): Plan {
  const chance = (most: number) => (random.oneIn(3) ? 0 : random.int(0, most) / 100);
  return {
    seed: random.int(0, 2 ** 30),
    d1: { before: chance(25), after: chance(25), delayMs: random.pick([0, 0, 5, 40]) },
    bucket: { before: chance(25), after: chance(25), tooMany: chance(15), delayMs: random.pick([0, 0, 5, 60]) },
    writer: {
      before: chance(30),
      after: chance(30),
      late: chance(30),
      again: chance(20),
      abort: chance(20),
      delayMs: random.pick([0, 0, 20, 150]),
      lateMs: random.pick([50, 400, 1500]),
    },
    pages: {
      ...random.pick([CALM.pages, { bytes: 20_000, batches: 40 }, { bytes: 3000, batches: 6 }]),
      delayMs: random.pick([0, 5, 40]),
      moves: chance(40),
    },
    settings,
  };
}

/** Causes faults in the service, one after the other, until the round is over. */
export async function wreak(world: World, settings: Plan["settings"]): Promise<void> {
  const { course, service, account } = world;
  const { server } = service;
  const { workspaceId } = account;
  const random = world.random.fork("havoc");
  while (!course.isOver) {
    await course.pause(random.int(0, REST_MS));
    const blow = random.int(1, 15);
    const atOnce = random.oneIn(2);
    const isEager = !random.oneIn(3);
    const plan = anyPlan(random, settings);
    if (!server.isServing || course.isOver) continue;
    await unlessKilled(async () => {
      if (blow <= 6) {
        const times = blow <= 2 ? 1 : 2;
        const fault = await server.order({ do: "alarm", workspaceId, times, atOnce, isEager });
        if (fault !== null) course.report([`an alarm threw: ${fault}`]);
      } else if (blow <= 9) await server.order({ do: "abort", workspaceId });
      else if (blow <= 11) await server.plan(plan);
      else if (blow <= 14) await compact(world, false);
      else await server.plan({ ...plan, d1: { before: 1, after: 0, delayMs: 0 } });
    });
  }
  // Reads and deletions in progress must be able to end.
  await unlessKilled(() => server.plan({ ...CALM, settings }));
}

/** Has segments merged. @param waits until the merge has ended */
export async function compact({ course, service, account: { workspaceId } }: World, waits: boolean): Promise<void> {
  const fault = await service.server.order({ do: "compact", workspaceId, waits });
  if (fault !== null) course.report([`a merge threw: ${fault}`]);
}

/** Kills the whole server at some moments, often while segments are merged, and restarts it. */
export async function kill(world: World): Promise<number> {
  const { course, service } = world;
  const { server } = service;
  const random = world.random.fork("kill");
  const times = random.pick([0, 0, 1, 1, 1, 2]);
  for (let time = 0; time < times; time++) {
    await course.pause(random.int(200, 2200));
    if (random.oneIn(2)) {
      await unlessKilled(() => compact(world, false));
      await course.pause(random.int(0, 150));
    }
    await server.kill9();
    await course.pause(random.int(0, 300));
    await server.restart();
  }
  return times;
}

/** Deletes one project in the middle of the round. */
export async function deleteInBetween(world: World): Promise<void> {
  const { course, service, account, deletedProject, random: seeded } = world;
  const random = seeded.fork("delete");
  await course.pause(random.int(300, 2000));
  const seed = random.int(0, 2 ** 30);
  if (random.oneIn(2)) await unlessKilled(() => sendLate(world, seed));
  deletedProject.deletion = "asked";
  const path = `/projects/${deletedProject.id}`;
  const { status, body } = await service.insist(path, { ...account, method: "DELETE" });
  // 404 if the response to an earlier attempt was lost.
  if (status !== 200 && status !== 404)
    course.report([`the deletion was answered with ${status} ${JSON.stringify(body)}`]);
  deletedProject.deletion = "done";
}

/** Attempts to find a moment at which a flush of the project to delete is in flight. */
const LATE_TRIES = 6;

/** Delays a write of the cold tier until its project was deleted and cleaned up there. */
async function sendLate({ service, account, deletedProject }: World, seed: number): Promise<void> {
  const { server } = service;
  const { workspaceId } = account;
  const late = { ...CALM, seed, writer: { ...CALM.writer, late: 1, lateMs: 2000 } };
  for (let tries = 0; tries < LATE_TRIES; tries++) {
    await server.plan(late);
    await server.order({ do: "alarm", workspaceId, times: 1, atOnce: false, isEager: true });
    const { intents } = await server.look(workspaceId);
    await server.plan({ ...CALM, seed });
    if (intents.includes(deletedProject.id)) return;
    await server.order({ do: "alarm", workspaceId, times: 1, atOnce: false, isEager: true });
  }
}

/** Runs an order. If the server is killed during the order, drops it: the server gets the plan again when it starts. */
async function unlessKilled(order: () => Promise<void>): Promise<void> {
  try {
    await order();
  } catch (error) {
    if (!(error instanceof ServerKilled)) throw error;
  }
}
