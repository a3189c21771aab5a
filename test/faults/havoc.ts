import { CALM, type Plan } from "./protocol.ts";
import type { Random } from "./random.ts";
import { ServerKilled } from "./server.ts";
import type { World } from "./world.ts";

/** Milliseconds from one blow to the next at most. */
const REST_MS = 220;

/** What a round's workspaces are like: when batches leave the object, and how many together. */
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

/** Deals blows to the service, one after the other, until the round is over. */
export async function wreak(world: World, settings: Plan["settings"]): Promise<void> {
  const { course, service, account } = world;
  const { server } = service;
  const { workspaceId } = account;
  const random = world.random.fork("havoc");
  while (!course.isOver) {
    await course.pause(random.int(0, REST_MS));
    const blow = random.int(1, 12);
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
      else await server.plan({ ...plan, d1: { before: 1, after: 0, delayMs: 0 } });
    });
  }
  // What is still being read and deleted has to come to an end.
  await unlessKilled(() => server.plan({ ...CALM, settings }));
}

/** Kills the whole server at some moments, and starts it again. */
export async function kill({ course, service, random: seeded }: World): Promise<number> {
  const { server } = service;
  const random = seeded.fork("kill");
  const times = random.pick([0, 0, 1, 1, 1, 2]);
  for (let time = 0; time < times; time++) {
    await course.pause(random.int(200, 2200));
    await server.kill9();
    await course.pause(random.int(0, 300));
    await server.restart();
  }
  return times;
}

/** Deletes the doomed project in the middle of all. */
export async function doom(world: World): Promise<void> {
  const { course, service, account, doomed, random: seeded } = world;
  const random = seeded.fork("doom");
  await course.pause(random.int(300, 2000));
  const seed = random.int(0, 2 ** 30);
  if (random.oneIn(2)) await unlessKilled(() => sendLate(world, seed));
  doomed.deletion = "asked";
  const path = `/projects/${doomed.id}`;
  const { status, body } = await service.insist(path, { ...account, method: "DELETE" });
  // 404 where the answer to an earlier try was lost.
  if (status !== 200 && status !== 404)
    course.report([`the deletion was answered with ${status} ${JSON.stringify(body)}`]);
  doomed.deletion = "done";
}

/** Tries to catch a moment at which something of this very project is on its way. */
const LATE_TRIES = 6;

/** What leaves the object arrives in the cold tier only when its project has been deleted and looked for there. */
async function sendLate({ service, account, doomed }: World, seed: number): Promise<void> {
  const { server } = service;
  const { workspaceId } = account;
  const late = { ...CALM, seed, writer: { ...CALM.writer, late: 1, lateMs: 2000 } };
  for (let tries = 0; tries < LATE_TRIES; tries++) {
    await server.plan(late);
    await server.order({ do: "alarm", workspaceId, times: 1, atOnce: false, isEager: true });
    const { intents } = await server.look(workspaceId);
    await server.plan({ ...CALM, seed });
    if (intents.includes(doomed.id)) return;
    await server.order({ do: "alarm", workspaceId, times: 1, atOnce: false, isEager: true });
  }
}

/** An order that the whole server dies over is not repeated: what has to hold is told again to the next one. */
async function unlessKilled(order: () => Promise<void>): Promise<void> {
  try {
    await order();
  } catch (error) {
    if (!(error instanceof ServerKilled)) throw error;
  }
}
