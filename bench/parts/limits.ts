import { randomUUID } from "node:crypto";
import type { LoadGenerator } from "../load/generator.ts";
import type { BenchOptions } from "../options.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { type Contender, compare, type Figures } from "./contender.ts";

const CONNECTIONS = 16;

/** The work of a request: nothing, an empty call of the address object, or the exact limit check of that object. */
const ACTIONS = ["none", "empty", "check"] as const;
type Action = (typeof ACTIONS)[number];

const NAMES: Record<Action, string> = { none: "no object call", empty: "empty object call", check: "limit check" };

export interface LimitsRow extends Figures {
  action: Action;
  name: string;
}

/** The cost of an exact limit check, durable before the response, over an empty call of an object. */
export async function benchLimits(
  workshop: Workshop,
  generator: LoadGenerator,
  options: BenchOptions,
): Promise<LimitsRow[]> {
  const server = await workshop.startWorker(await workshop.bundle("limits", "own"));
  const contenders = ACTIONS.map((action) => contenderOf(server, action));
  const { figures } = await compare(generator, contenders, { ...options, connections: CONNECTIONS });
  await server.stop();
  return ACTIONS.flatMap((action, at) => {
    const own = figures[at];
    return own ? [{ action, name: NAMES[action], ...own }] : [];
  });
}

function contenderOf({ url, pid }: BenchServer, action: Action): Contender {
  const common = { origin: url, headers: {}, idempotent: false, batch: 0, serverPid: pid, expectedStatus: 200 };
  return {
    name: NAMES[action],
    prepare: async () => ({
      load: { ...common, path: `/${action}/${randomUUID()}` },
      stored: null,
      async end() {},
    }),
  };
}
